"""llmeter, with OpenAI's client above a network that is played (pip install "llmeter[openai]" httpx)."""

import datetime
import logging

import httpx
import net


class Transport(httpx.BaseTransport):
    play = None

    def handle_request(self, request):
        play = self.play.begin()
        return httpx.Response(play.status, headers={"content-type": "text/event-stream"}, stream=Body(play))


class Body(httpx.SyncByteStream):
    def __init__(self, play):
        self.play = play

    def __iter__(self):
        yield from self.play.reads(httpx.ReadError("connection reset"))


def at(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


def figures(requests, _):
    from llmeter.endpoints.openai import OpenAICompletionStreamEndpoint
    from llmeter.runner import _Run
    from llmeter.tokenizers import DummyTokenizer
    from llmeter.utils import RunningStats

    logging.disable()
    if any(r["api"] != "openai-chat" for r in requests):
        raise ValueError("it asks for chats alone")
    transport = Transport()
    endpoint = OpenAICompletionStreamEndpoint("m", api_key="none", base_url="http://x/v1", max_retries=0, http_client=httpx.Client(transport=transport))
    stats = RunningStats(metrics=["time_to_last_token", "time_to_first_token", "time_per_output_token", "num_tokens_output", "num_tokens_input"])
    for request in requests:
        transport.play = net.Play(request)
        response = endpoint.invoke(endpoint.create_payload("a" * net.PROMPT, max_tokens=request["asked"]))
        response.request_time = at(transport.play.sent)  # which it takes from another clock
        net.run(_Run._update_token_counts(DummyTokenizer(), response))
        net.run(_Run._compute_time_per_output_token(response))
        stats.update(response.to_dict())
    found = stats.to_stats(end_time=at(net.ORIGIN + max(r["sent_ms"] + r["end_ms"] for r in requests) / 1000))
    names = ["failed_requests", "failed_requests_rate", "requests_per_minute", "average_output_tokens_per_minute"]
    names += [f"{name}-{stat}" for name in ("time_to_first_token", "time_to_last_token", "time_per_output_token") for stat in ("average", "p50", "p90", "p99")]
    return {name: found.get(name) for name in names}
