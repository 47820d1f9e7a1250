"""sglang.bench_serving: its wheel, unpacked as benchmarks/translate/setup does it."""

import argparse
import json

import net


def unasked(request):
    """The reply to one who asks for no usage, as SGLang's client does."""
    reads = []
    for ms, data in request["reads"]:
        if data.startswith("data: {") and data.count("data: ") == 1 and data.endswith("}\n\n"):
            what = json.loads(data[6:])
            if what.pop("usage", None) and not what.get("choices"):
                continue
            data = "data: " + json.dumps(what) + "\n\n"
        reads.append([ms, data])
    return {**request, "reads": reads}


def figures(requests, folder):
    import wheel

    client = wheel.load(folder, "sglang")
    client.set_global_args(argparse.Namespace(disable_stream=False, disable_ignore_eos=False, print_requests=False, temperature=0.0, top_p=1.0, return_logprob=False, top_logprobs_num=0, token_ids_logprob=None))
    asked, outputs = [], []
    for request in requests:
        completions = request["api"] == "openai-completions"
        ask = client.async_request_openai_completions if completions else client.async_request_openai_chat_completions
        url = "http://x/v1/completions" if completions else "http://x/v1/chat/completions"
        one = client.RequestFuncInput(prompt="a" * net.PROMPT, api_url=url, prompt_len=net.PROMPT, output_len=request["asked"], model="m", lora_name="", image_data=None, extra_request_body={})
        asked.append(client.DatasetRow(prompt="a" * net.PROMPT, prompt_len=net.PROMPT, output_len=request["asked"]))
        client._create_bench_client_session = lambda: net.Session(net.Play(unasked(request)))
        outputs.append(net.run(ask(one)))
    m, _ = client.calculate_metrics(asked, outputs, net.window(requests), net.Letters(), "sglang-oai-chat")
    names = ["request_throughput", "output_throughput", "total_throughput", "concurrency"]
    names += [f"{stat}_{name}" for name in ("ttft_ms", "tpot_ms", "itl_ms", "e2e_latency_ms") for stat in ("mean", "median", "p99")]
    return {"completed": m.completed, "duration": net.window(requests), **{name: getattr(m, name) for name in names}}
