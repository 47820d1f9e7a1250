"""vllm bench serve: its wheel, unpacked as benchmarks/translate/setup does it."""

import net


def figures(requests, folder):
    import wheel

    serve = wheel.load(folder, "vllm")
    from vllm.benchmarks.lib import endpoint_request_func as client

    serve.TERM_PLOTLIB_AVAILABLE = False
    asked, outputs = [], []
    for request in requests:
        completions = request["api"] == "openai-completions"
        ask = client.async_request_openai_completions if completions else client.async_request_openai_chat_completions
        url = "http://x/v1/completions" if completions else "http://x/v1/chat/completions"
        one = client.RequestFuncInput(prompt="a" * net.PROMPT, api_url=url, prompt_len=net.PROMPT, output_len=request["asked"], model="m")
        asked.append(serve.SampleRequest(prompt="a" * net.PROMPT, prompt_len=net.PROMPT, expected_output_len=request["asked"]))
        outputs.append(net.run(ask(one, net.Session(net.Play(request)))))
    m, _ = serve.calculate_metrics(asked, outputs, net.window(requests), net.Letters(), [99], {})
    found = {"completed": m.completed, "failed": m.failed, "duration": net.window(requests), "request_throughput": m.request_throughput,
             "output_throughput": m.output_throughput, "total_token_throughput": m.total_token_throughput, "max_output_tokens_per_s": m.max_output_tokens_per_s}
    for name in "ttft", "tpot", "itl", "e2el":
        found[f"mean_{name}_ms"], found[f"median_{name}_ms"] = getattr(m, f"mean_{name}_ms"), getattr(m, f"median_{name}_ms")
        found[f"p99_{name}_ms"] = getattr(m, f"percentiles_{name}_ms")[0][1]
    return found
