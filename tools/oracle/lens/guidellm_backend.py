"""GuideLLM, with httpx above a network that is played (pip install guidellm)."""

import types

import httpx
import net


class Transport(httpx.AsyncBaseTransport):
    def __init__(self, play):
        self.play = play

    async def handle_async_request(self, request):
        self.play.begin()
        return httpx.Response(self.play.status, headers={"content-type": "text/event-stream"}, stream=Body(self.play))


class Body(httpx.AsyncByteStream):
    def __init__(self, play):
        self.play = play

    async def __aiter__(self):
        for data in self.play.reads(httpx.ReadError("connection reset")):
            yield data


def figures(requests, _):
    from guidellm.backends.openai.http import OpenAIHTTPBackend
    from guidellm.backends.openai.request_handlers import OpenAIRequestHandlerFactory
    from guidellm.benchmark.schemas.accumulator import GenerativeRequestsAccumulator
    from guidellm.benchmark.schemas.metrics import GenerativeMetrics
    from guidellm.schemas import GenerationRequest, GenerationRequestArguments, RequestInfo, UsageMetrics

    kinds = {name: GenerativeRequestsAccumulator(sample_size=None) for name in ("completed", "errored", "incomplete")}
    ends = []

    async def ask(request):
        play = net.Play(request)
        path = "/v1/completions" if request["api"] == "openai-completions" else "/v1/chat/completions"
        arguments = GenerationRequestArguments(stream=True)
        backend = OpenAIHTTPBackend.__new__(OpenAIHTTPBackend)
        backend._async_client = httpx.AsyncClient(transport=Transport(play))

        async def prepared(*_):
            return OpenAIRequestHandlerFactory.create(path), arguments, {"url": "http://x" + path, "method": "POST", "json": {}}

        backend._prepare_resolve_request = prepared
        backend._check_tool_call_expectations = lambda *_: None
        asked = GenerationRequest(columns={}, output_metrics=UsageMetrics(text_tokens=request["asked"]))
        info, response = RequestInfo(request_id=asked.request_id, status="in_progress"), None
        # As scheduler/worker.py goes about it.
        info.timings.resolve_start = net.Clock.now
        try:
            async for response, info in backend.resolve(asked, info, None):
                pass
            info.status = "completed"
        except Exception as e:
            info.status, info.error = "errored", repr(e)
        info.timings.resolve_end = net.Clock.now
        ends.append(net.Clock.now)
        kinds[info.status].update_estimate(response, asked, info, True)

    for request in requests:
        net.run(ask(request))
    begin = net.ORIGIN + min(r["sent_ms"] for r in requests) / 1000
    config = types.SimpleNamespace(confidence=None, slo=None, strategy=types.SimpleNamespace(defines_arrival_schedule=False))
    m = GenerativeMetrics.compile(types.SimpleNamespace(timings=types.SimpleNamespace(finalized_measure_start=begin, finalized_measure_end=max(ends)), config=config, **kinds))
    found = {"requests.successful": m.request_totals.successful, "requests.errored": m.request_totals.errored,
             "requests_per_second.mean": m.requests_per_second.successful.mean, "output_tokens_per_second.mean": m.output_tokens_per_second.successful.mean}
    for name in "time_to_first_token_ms", "time_to_first_output_token_ms", "time_per_output_token_ms", "inter_token_latency_ms", "request_latency":
        s = getattr(m, name).successful
        for stat, value in ("mean", s.mean), ("median", s.median), ("p95", s.percentiles.p95), ("p99", s.percentiles.p99):
            found[f"{name}.{stat}"] = value
    return found
