"""Has other tools' own clients and reckoning read the scripted replies of shapes.py.

    python tools/oracle/lens/play.py TOOL [FOLDER]

with a Python that has the tool; FOLDER is what benchmarks/translate/setup made, for those
that are read out of their wheels. It writes record/metric/lens/testdata/peers/TOOL.jsonl: a
line a shape, with the figures that the tool makes of it, by our lens's names of them.
"""

import json
import math
import os
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parents[2] / "benchmarks/translate")]

import net  # noqa: E402  before the tools: it replaces the clock
import shapes  # noqa: E402

TOOLS = {"vllm": "vllm_serve", "sglang": "sglang_serving", "genai-bench": "genai_bench_user", "llmeter": "llmeter_endpoint",
         "inference-perf": "inference_perf_client", "guidellm": "guidellm_backend", "aiperf": "aiperf_records"}


def plain(v):
    """A figure as JSON has it; None for what is none."""
    v = float(v) if v is not None else None
    return None if v is None or math.isnan(v) or math.isinf(v) else float(f"{v:.10g}")


def main():
    tool, folder = sys.argv[1], os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else ""
    module = __import__(TOOLS[tool])
    lines = []
    for line in (shapes.OUT / "shapes.jsonl").read_text().splitlines():
        shape = json.loads(line)
        try:
            found = module.figures(shape["requests"], folder)
        except Exception as e:  # a shape that the tool itself can't print
            print(f"{shape['shape']}: {type(e).__name__}: {e}", file=sys.stderr)
            continue
        lines.append(json.dumps({"shape": shape["shape"], "figures": {name: plain(v) for name, v in found.items()}}))
    (shapes.OUT / (tool + ".jsonl")).write_text("\n".join(lines) + "\n")


main()
