"""Medians over 72 hours by numpy, for reader/trend.

Writes reader/trend/testdata/medians.json: rows of two targets over five days, some
failed, and the percentiles of the last 72 hours. Run from the repository's root:
python3 tools/oracle/medians.py (needs numpy).
"""

import json
import numpy as np

rng = np.random.default_rng(72)
HOURS, rows = 120, []
for target in ("a", "b"):
    for kind, step in (("light", 0.25), ("10k-long", 3.0), ("cold", 24.0)):
        for h in np.arange(0, HOURS, step) + rng.uniform(0, step, int(HOURS / step)):
            failed = bool(rng.uniform() < 0.07)
            rows.append({
                "at_h": float(h), "target": target, "probe": kind, "failed": failed,
                "ttft_ms": None if failed else round(float(rng.lognormal(6, 0.4)), 3),
                "tpot_ms": None if failed or rng.uniform() < 0.1 else round(float(rng.gamma(9, 2)), 3),
            })
rows.sort(key=lambda r: r["at_h"])

expected = []
for target in ("a", "b"):
    for kind in ("light", "10k-long", "cold"):
        mine = [r for r in rows if r["target"] == target and r["probe"] == kind and r["at_h"] >= HOURS - 72]
        e = {"target": target, "probe": kind, "n": len(mine), "failed": sum(r["failed"] for r in mine)}
        for metric in ("ttft_ms", "tpot_ms"):
            x = np.array([r[metric] for r in mine if r[metric] is not None])
            e[metric] = {"n": len(x), **{f"p{p}": float(np.percentile(x, p)) for p in (5, 25, 50, 75, 95)}}
        expected.append(e)

with open("reader/trend/testdata/medians.json", "w") as f:
    json.dump({"numpy": np.__version__, "hours": HOURS, "rows": rows, "expected": expected}, f, indent=None, separators=(",", ":"))
    f.write("\n")
