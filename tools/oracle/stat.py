#!/usr/bin/env python3
"""Expected values for package stat, computed with numpy and scipy.

Run: python3 -m venv v && v/bin/pip install numpy scipy && v/bin/python tools/oracle/stat.py > stat/testdata/oracle.json
The result is committed; tests never run this.
"""
import json, math
from fractions import Fraction

import numpy as np
from scipy import special, stats

rng = np.random.default_rng(20260101)
out = {"numpy": np.__version__}

def num(x):
    return float(x)

quantiles = []
for n in (1, 2, 3, 5, 10, 99, 100, 101, 1000):
    data = np.round(rng.lognormal(3, 1, n), 3)
    for p in (0, 0.01, 0.07, 0.1, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1):
        quantiles.append({"data": data.tolist() if p == 0 else None, "n": n, "p": p,
                          "type7": num(np.quantile(data, p, method="linear")),
                          "nearest": num(np.sort(data)[max(math.ceil(Fraction(str(p)) * n), 1) - 1])})
out["quantiles"] = quantiles

out["betainc"] = [{"a": a, "b": b, "x": x, "want": num(special.betainc(a, b, x))}
    for a, b in ((0.5, 0.5), (1, 1), (2, 3), (0.5, 100), (30, 4), (661, 2), (1e4, 10), (5000, 5000), (1e6, 1e6), (99000000, 1000001), (9.9e7, 1.1e6))
    for x in (1e-6, 0.01, 0.1, 0.4999, 0.5, 0.9, 0.98901, 0.99, 0.999)
    if 1e-280 < special.betainc(a, b, x)]

ranks = []
for p in (0.01, 0.1, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999):
    for n in (1, 5, 6, 20, 35, 36, 71, 72, 100, 367, 368, 1000, 3687, 3688, 10000, 1000000, 100000000):
        lo = int(stats.binom.ppf(0.025, n, p))          # smallest k with P(X<=k) >= tail
        while stats.binom.cdf(lo - 1, n, p) > 0.025: lo -= 1
        while stats.binom.cdf(lo, n, p) <= 0.025: lo += 1
        hi = int(stats.binom.isf(0.025, n, p)) + 1       # smallest u with P(X>=u) <= tail
        while stats.binom.sf(hi - 1, n, p) > 0.025: hi += 1
        while hi > 0 and stats.binom.sf(hi - 2, n, p) <= 0.025: hi -= 1
        ranks.append({"p": p, "n": n, "lo": lo, "hi": hi, "ok": bool(lo >= 1 and hi <= n)})
out["ranks"] = ranks

def wilson(k, n, c):
    ci = stats.binomtest(k, n).proportion_ci(c, method="wilson")
    return [num(ci.low), num(ci.high)]
out["wilson"] = [{"k": k, "n": n, "conf": c, "want": wilson(k, n, c)}
    for k, n in ((0, 1), (1, 1), (0, 10), (8, 10), (10, 10), (90, 100), (968, 1000), (999999, 1000000)) for c in (0.9, 0.95, 0.99)]

out["student"] = [{"p": p, "df": df, "want": num(stats.t.ppf(p, df))}
    for df in (1, 2, 4, 9.5, 30, 1000, 1e6) for p in (0.05, 0.5, 0.6, 0.9, 0.975, 0.995, 0.9999)]
out["normal"] = [{"p": p, "want": num(stats.norm.ppf(p))} for p in (0.01, 0.5, 0.9, 0.975, 0.995, 0.99999)]

means = []
for n in (2, 5, 30):
    d = np.round(rng.normal(20, 3, n), 3)
    ci = stats.ttest_1samp(d, 0).confidence_interval(0.95)
    means.append({"data": d.tolist(), "mean": num(d.mean()), "sd": num(d.std(ddof=1)), "ci": [num(ci.low), num(ci.high)]})
out["means"] = means

tests = []
for a, b in (([20.0, 20.4, 19.8, 20.6, 20.2], [20.3, 19.9, 20.5, 20.1, 20.7]),
             (np.round(rng.normal(10, 1, 12), 2).tolist(), np.round(rng.normal(11, 3, 9), 2).tolist()),
             (np.round(rng.lognormal(2, 1, 60), 1).tolist(), np.round(rng.lognormal(2.3, 1, 80), 1).tolist()),
             ([1, 1, 2, 2, 3, 3, 3, 4] * 5, [2, 2, 3, 3, 3, 4, 4, 5] * 5)):
    t = stats.ttest_ind(a, b, equal_var=False)
    ci = t.confidence_interval(0.95)
    exact = len(set(list(a) + list(b))) == len(a) + len(b) and min(len(a), len(b)) <= 20
    u = stats.mannwhitneyu(a, b, method="exact" if exact else "asymptotic")
    tests.append({"a": a, "b": b, "t": num(t.statistic), "df": num(t.df), "p": num(t.pvalue),
                  "ci": [num(ci.low), num(ci.high)], "u": num(u.statistic), "u_p": num(u.pvalue), "exact": exact})
out["tests"] = tests
out["holm"] = [{"p": [0.01, 0.04, 0.03, 0.005], "want": [0.03, 0.06, 0.06, 0.02]},
               {"p": [0.5, 0.9, 0.02], "want": [1.0, 1.0, 0.06]}]
print(json.dumps(out, separators=(",", ":")))
