"""inference-perf, with its HTTP session played (pip install inference-perf)."""

import contextlib
import logging
import types

import net


class Tokenizer:
    def count_tokens(self, text, **_):
        return len(text)

    def apply_chat_template(self, text):
        return text

    def has_chat_template(self):
        return False


def figures(requests, _):
    from inference_perf.apis.chat import ChatCompletionAPIData, ChatMessage
    from inference_perf.apis.completion import CompletionAPIData
    from inference_perf.client.modelserver import openai_client
    from inference_perf.config import APIConfig, APIType
    from inference_perf.reportgen.base import summarize_requests

    logging.disable()
    collected = []
    otel = types.SimpleNamespace(enabled=False, trace_llm_request=lambda **_: contextlib.nullcontext())
    collector = types.SimpleNamespace(record_metric=collected.append)

    async def ask(request):
        completions = request["api"] == "openai-completions"
        data = CompletionAPIData(prompt="a" * net.PROMPT, max_tokens=request["asked"]) if completions else ChatCompletionAPIData(messages=[ChatMessage(role="user", content="a" * net.PROMPT)], max_tokens=request["asked"])
        client = types.SimpleNamespace(model_name="m", max_completion_tokens=16, ignore_eos=True, api_key=None, uri="http://x", tokenizer=Tokenizer(), otel=otel,
                                       request_retries=0, request_retry_backoff_sec=0, metrics_collector=collector,
                                       api_config=APIConfig(type=APIType.Completion if completions else APIType.Chat, streaming=True))
        session = openai_client.openAIModelServerClientSession.__new__(openai_client.openAIModelServerClientSession)
        session.client, session.session, session._session_tokens = client, net.Session(net.Play(request)), {}
        await session.process_request(data, 0, net.Clock.now, None)

    for request in requests:
        net.run(ask(request))
    all_ = summarize_requests(collected, [50, 99], tokenizer=Tokenizer())
    ok = all_.successes
    found = {"successes.count": ok["count"], "failures.count": all_.failures["count"], "throughput.requests_per_sec": ok["throughput"]["requests_per_sec"],
             "throughput.output_tokens_per_sec": ok["throughput"]["output_tokens_per_sec"]}
    for name in "request_latency", "normalized_time_per_output_token", "time_to_first_token", "time_per_output_token", "inter_token_latency":
        inner = ok["latency"][name] or {}
        for stat in "mean", "median", "p99":
            found[f"latency.{name}.{stat}"] = inner.get(stat)
    return found
