"""AIPerf: its HTTP client above a session that is played, its endpoints, its parser of records
and its metrics of each (pip install aiperf)."""

import logging
import types

import net
import numpy

TIMES = "time_to_first_token", "time_to_second_token", "time_to_first_output_token", "request_latency", "inter_token_latency", "inter_chunk_latency"
RATES = "prefill_throughput_per_user", "output_token_throughput_per_user", "e2e_output_token_throughput"


class Session(net.Session):
    def request(self, *_, **__):
        response = net.Response(self.play)
        response.content_type = "text/event-stream" if self.play.status == 200 else "application/json"
        return response


def figures(requests, _):
    from aiperf.common.enums import MetricFlags, MetricType
    from aiperf.common.models import RequestInfo
    from aiperf.common.tokenizer import Tokenizer
    from aiperf.endpoints.openai_chat import ChatEndpoint
    from aiperf.endpoints.openai_completions import CompletionsEndpoint
    from aiperf.metrics.metric_dicts import MetricRecordDict
    from aiperf.metrics.metric_registry import MetricRegistry
    from aiperf.records.inference_result_parser import InferenceResultParser
    from aiperf.transports import aiohttp_client

    logging.disable()
    tags = MetricRegistry.create_dependency_order_for(MetricRegistry.tags_applicable_to(MetricFlags.NONE, MetricFlags.ERROR_ONLY | MetricFlags.GOODPUT, MetricType.RECORD))
    values, ok, failed = {}, 0, 0

    async def ask(request):
        nonlocal ok, failed
        client = aiohttp_client.AioHttpClient.__new__(aiohttp_client.AioHttpClient)
        client.tcp_connector, client.timeout, client.collect_trace_chunks = None, None, False
        client.debug = client.error = lambda *_: None
        aiohttp_client.aiohttp.ClientSession = lambda **_: Session(net.Play(request))
        record = await client._request("POST", "http://x", {}, data=b"{}")
        record.model_name = "m"
        endpoint = (CompletionsEndpoint if request["api"] == "openai-completions" else ChatEndpoint).__new__(ChatEndpoint if request["api"] != "openai-completions" else CompletionsEndpoint)
        parser = InferenceResultParser.__new__(InferenceResultParser)
        parser.endpoint, parser.disable_tokenization = endpoint, False
        parser.run = types.SimpleNamespace(cfg=types.SimpleNamespace(artifacts=types.SimpleNamespace(export_level=None), endpoint=types.SimpleNamespace(use_server_token_count=False)))
        for name in "debug", "info", "warning", "exception", "trace", "trace_or_debug", "error":
            for of in endpoint, parser:
                setattr(of, name, lambda *_, **__: None)

        async def tokenizer(_):
            return net.Letters()

        async def prompt(*_, **__):
            return net.PROMPT

        parser.get_tokenizer, parser.compute_input_token_count = tokenizer, prompt
        parsed = await parser.parse_request_record(record)
        if not parsed.valid:
            failed += 1
            return
        ok += 1
        found = MetricRecordDict()
        for tag in tags:
            try:
                found[tag] = MetricRegistry.get_instance(tag).parse_record(parsed, found)
            except Exception:
                continue
        for tag in TIMES + RATES:
            if tag in found:
                v = found[tag]
                values.setdefault(tag, []).extend(v if isinstance(v, list) else [v])

    for request in requests:
        net.run(ask(request))
    all_ = {"request_count": ok}
    if ok:
        all_["request_error_rate"] = 100 * failed / (ok + failed)
    for tag in TIMES:
        v = numpy.array(values.get(tag, []), dtype=float) / 1e6  # ns
        all_.update({f"{tag} avg": v.mean(), f"{tag} p50": numpy.percentile(v, 50), f"{tag} p99": numpy.percentile(v, 99), f"{tag} std": v.std()} if len(v) else {f"{tag} {stat}": None for stat in ("avg", "p50", "p99", "std")})
    for tag in RATES:
        all_[f"{tag} avg"] = numpy.mean(values[tag]) if tag in values else None
    return all_
