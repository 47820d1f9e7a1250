"""genai-bench, with requests' post played (pip install genai-bench)."""

import os
import tempfile
import types

import net

os.chdir(tempfile.mkdtemp())  # it writes a log where it is


class Response:
    """requests' Response: iter_lines is its own code."""

    def __init__(self, play):
        import requests

        self.play, self.status_code = play, play.status
        self.inner = requests.models.Response()
        self.inner.iter_content = lambda **_: play.reads(requests.exceptions.ChunkedEncodingError("broken"))
        self.iter_lines = self.inner.iter_lines

    @property
    def text(self):
        return b"".join(self.inner.iter_content()).decode()

    def close(self):
        pass


def figures(requests, _):
    import genai_bench.user.openai_user as module
    from genai_bench.metrics.aggregated_metrics_collector import AggregatedMetricsCollector
    from genai_bench.metrics.request_metrics_collector import RequestMetricsCollector

    module.logger.disabled = True
    net.Clock.tick = 1e-9
    if any(r["api"] != "openai-chat" for r in requests):
        raise ValueError("it asks for chats alone")
    collector = AggregatedMetricsCollector()
    collected = []
    user = types.SimpleNamespace(host="http://x", headers={}, collect_metrics=lambda response, _: collected.append(response))
    user.environment = types.SimpleNamespace(sampler=types.SimpleNamespace(get_token_length=lambda text, **_: len(text)))
    for name in "_get_usage_info", "_get_reasoning_content_chunk":
        if hasattr(module.OpenAIUser, name):
            setattr(user, name, getattr(module.OpenAIUser, name))
    parse = types.MethodType(module.OpenAIUser.parse_chat_response, user)
    for request in requests:
        play = net.Play(request)
        module.requests.post = lambda **_: Response(play.begin())
        try:
            module.OpenAIUser.send_request(user, True, "/v1/chat/completions", {}, parse, net.PROMPT)
        except Exception:
            continue  # as locust takes it: the request is counted nowhere
        one, response = RequestMetricsCollector(), collected[-1]
        if response.status_code == 200:  # distributed/runner and base_user: what is collected
            one.calculate_metrics(response)
        else:
            one.metrics.error_code, one.metrics.error_message = response.status_code, response.error_message
        collector.add_single_request_metrics(one.metrics)
    collector.aggregate_metrics_data(0, net.window(requests), None, None)
    m = collector.aggregated_metrics
    found = {name: getattr(m, name) for name in ("num_completed_requests", "num_error_requests", "error_rate", "requests_per_second", "mean_output_throughput_tokens_per_s", "mean_total_tokens_throughput_tokens_per_s")}
    for name in "ttft", "e2e_latency", "output_latency", "tpot", "output_inference_speed", "input_throughput":
        for stat in "mean", "p50", "p99":
            found[f"{name}.{stat}"] = getattr(getattr(m.stats, name), stat)
    return found
