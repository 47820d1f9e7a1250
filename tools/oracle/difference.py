#!/usr/bin/env python3
"""Expected values for the tests of difference in package stat.

Run: python3 -m venv v && v/bin/pip install numpy scipy statsmodels arch
     v/bin/python tools/oracle/difference.py > stat/testdata/difference.json
The result is committed; tests never run this.
"""
import itertools, json
import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep
from statsmodels.stats.weightstats import ttost_ind
from arch.bootstrap import optimal_block_length

rng = np.random.default_rng(20260202)
num = float
out = {}

# Two samples: Welch, Student, equivalence by two one-sided tests, permutation of the difference of means.
pairs = [([20.0, 20.4, 19.8, 20.6, 20.2], [20.3, 19.9, 20.5, 20.1, 20.7]),
         ([20.0, 20.4, 19.8], [21.0, 21.3, 20.9]),
         ([20.0, 20.4], [21.0, 21.3]),
         (np.round(rng.normal(24, .4, 6), 3).tolist(), np.round(rng.normal(25.1, .4, 6), 3).tolist()),
         (np.round(rng.lognormal(3, .1, 4), 3).tolist(), np.round(rng.lognormal(3, .1, 7), 3).tolist())]
tests = []
for a, b in pairs:
    row = {"a": a, "b": b}
    for name, equal in (("welch", False), ("student", True)):
        t = stats.ttest_ind(b, a, equal_var=equal)
        ci = t.confidence_interval(0.95)
        row[name] = {"t": num(t.statistic), "df": num(t.df), "p": num(t.pvalue), "ci": [num(ci.low), num(ci.high)]}
    whole = [np.round(np.array(s) * 1000).astype(int) for s in (b, a)]  # sums of integers have no false ties
    perm = lambda alt: num(stats.permutation_test(whole, lambda x, y: np.sum(x) / len(x) - np.sum(y) / len(y), permutation_type="independent",
                                                  n_resamples=np.inf, alternative=alt).pvalue)
    row["permutation"] = {k: perm(k) for k in ("two-sided", "less", "greater")}
    if len(a) > 2:
        row["tost"] = num(ttost_ind(b, a, -0.8, 0.8, usevar="unequal")[0])
    tests.append(row)
out["tests"] = tests

# Ratios of sums over parts of different size: variance by linearisation.
ratios = []
for n in (1, 2, 5, 12):
    d = rng.integers(50, 300, n).astype(float)
    x = np.round(d * rng.normal(20, .5, n), 3)
    r = x.sum() / d.sum()
    var = num(((x - r * d) ** 2).sum() / (n - 1) * n / d.sum() ** 2) if n > 1 else 0.0
    ratios.append({"num": x.tolist(), "den": d.tolist(), "value": num(r), "var": var})
out["ratios"] = ratios

# Shares.
shares = []
for ka, na, kb, nb in ((6, 600, 7, 600), (0, 600, 6, 600), (0, 50, 0, 40), (3, 10, 9, 10), (50, 1000, 80, 1200), (10, 10, 10, 10), (1, 200, 30, 200)):
    lo, hi = confint_proportions_2indep(kb, nb, ka, na, compare="diff", method="newcomb")
    shares.append({"k": [ka, kb], "n": [na, nb], "newcombe": [num(lo), num(hi)],
                   "fisher": num(stats.fisher_exact([[ka, na - ka], [kb, nb - kb]]).pvalue)})
out["shares"] = shares

# Holm.
holm = []
for m in (1, 3, 8, 13):
    p = np.round(rng.uniform(0, .2, m) ** 2, 5)
    holm.append({"p": p.tolist(), "want": multipletests(p, method="holm")[1].tolist()})
out["holm"] = holm

# Block length.
lengths = []
for n, phi in ((40, 0), (200, .3), (200, .8), (1000, .5), (1000, -.4), (3000, .9)):
    e = rng.normal(0, 1, n)
    x = np.zeros(n)
    for i in range(n):
        x[i] = (phi * x[i - 1] if i else 0) + e[i]
    x = np.round(x, 6)
    lengths.append({"x": x.tolist() if n <= 1000 else None, "n": n, "phi": phi, "want": num(optimal_block_length(x)["circular"].iloc[0])})
lengths = [l for l in lengths if l["x"] is not None]
out["lengths"] = lengths

# The bootstrap of a mean with blocks of one value: scipy's percentile interval.
x = np.round(rng.lognormal(3, .1, 80), 3)
b = stats.bootstrap((x,), np.mean, n_resamples=200000, method="percentile", random_state=1, batch=5000).confidence_interval
out["bootstrap"] = {"x": x.tolist(), "ci": [num(b.low), num(b.high)]}

# Robbins' mixture bound is where the mixed likelihood ratio of a normal mean reaches 1/alpha.
from scipy.integrate import quad
from scipy.optimize import brentq
def log_mixture(s, v, kappa):
    f = lambda th: th * s - th * th * v / 2 + stats.norm.logpdf(th, 0, kappa ** -.5)
    peak, width = s / (v + kappa), 12 / np.sqrt(v + kappa)
    return f(peak) + np.log(quad(lambda th: np.exp(f(th) - f(peak)), peak - width, peak + width, limit=500)[0])
bounds = []
for v, kappa, alpha in ((10, 400, .05), (400, 400, .05), (5000, 400, .01), (100, 25, .2)):
    bounds.append({"v": v, "kappa": kappa, "alpha": alpha,
                   "want": num(brentq(lambda s: log_mixture(s, v, kappa) + np.log(alpha), np.sqrt(v) / 10, 100 * np.sqrt(v)))})
out["bounds"] = bounds
print(json.dumps(out, separators=(",", ":")))
