#!/usr/bin/env python3
"""Holds what a daemon probed in an hour against the schedule, the budget, what the
servers counted, and medians of its own: python3 check.py DIR. Shares no code with
tokenmeter. Exits 1 when something differs."""
import collections
import glob
import json
import re
import statistics
import sys

sys.dont_write_bytecode = True

from schedule import moments, stamp  # noqa: E402

WORST = 0.97  # reserves of one kind differ by a few bytes of their prompts


def lines(name):
    with open(name) as f:
        return [json.loads(line) for line in f if line.strip()]


class Hour:
    def __init__(self, folder):
        self.dir = folder
        self.about = json.load(open(folder + "/hour.json"))
        self.begin, self.end = stamp(self.about["begin"]), stamp(self.about["end"])
        self.kinds = {k["name"]: k for k in self.about["suite"]}
        self.names = [t["name"] for t in self.about["targets"]]
        self.truth = {n: lines(f"{folder}/truth-{n}.jsonl") for n in self.names}
        self.rows = collections.defaultdict(list)
        self.starts = []
        for i, name in enumerate(sorted(glob.glob(folder + "/probes/*/*/run.json"))):
            run = json.load(open(name))
            for r in lines(f"{folder}/rows-{i}.jsonl"):
                r["at"] = stamp(run["started"]) + r["due_s"]
                r["kind"] = r["workload_class"]
                self.rows[run["name"]].append(r)
            self.starts.append(stamp(run["started"]))
        for rows in self.rows.values():
            rows.sort(key=lambda r: r["at"])
        self.first = max(self.starts)
        self.log = open(folder + "/daemon.log").read()
        self.wrong = []

    def say(self, ok, text):
        print(("ok    " if ok else "WRONG ") + text)
        if not ok:
            self.wrong.append(text)

    def posts(self, name):
        return [s for s in self.truth[name] if s["path"] == "/v1/chat/completions"]

    def price(self, tokens_in, tokens_out):
        return (tokens_in * self.about["price_input"] + tokens_out * self.about["price_output"]) / 1e6


def reserves(hour):
    """The most that a probe of a kind and target may cost, where the daemon said it."""
    said = {}
    for target, kind, n in re.findall(r'says="(\S+): (\S+) is not asked: up to (\d+) tokens(?: \(\$[\d.]+\))? more', hour.log):
        said[target, kind] = int(n)
    return said


def schedule(hour):
    """Every moment of the schedule has its probe, or a reason for none."""
    said = reserves(hour)
    spent = sorted((ended(r), (r["input_tokens"] or 0) + (r["output_tokens"] or 0), worst(hour, said, n, r) if r["cost_usd"] is None else r["cost_usd"])
                   for n in hour.names for r in hour.rows[n] if r["phase"] == "measure")
    unaffordable, table, unexplained, early, late = 0, [], [], 0, 0.0
    demand = [sum(s[1] for s in spent), sum(s[2] for s in spent)]
    for name in hour.names:
        rows = hour.rows[name]
        colds = [m for m, _ in moments(name, "cold", hour.kinds["cold"]["per_day"], hour.first, hour.end + 86400)]
        for kind, k in hour.kinds.items():
            mine = [r for r in rows if r["kind"] == kind]
            many, count = max(k["parallel"], 1), collections.Counter()
            sent, part = len(mine), 86400 / k["per_day"]
            groups = [mine[i:i + many] for i in range(0, len(mine), many)]
            for at, _ in moments(name, kind, k["per_day"], hour.first, hour.end):
                count["due"] += 1
                if groups and at - 0.005 <= groups[0][0]["at"] <= at + part / 2 + 0.5:
                    late = max(late, groups[0][0]["at"] - at)
                    groups.pop(0)
                    count["asked"] += 1
                    continue
                before = [r for r in rows if r["at"] < at]
                if not k["idle_s"] and any(at < c < at + k.get("idle_s", 0) + hour.kinds["cold"]["idle_s"] for c in colds):
                    count["kept silent for a cold start"] += 1
                elif any(r["kind"] == kind and r["phase"] == "warmup" for r in before):
                    count["refused before"] += 1
                elif k["idle_s"] and (at - hour.first < k["idle_s"] or any(ended(r) > at - k["idle_s"] for r in before)):
                    count["not idle"] += 1
                elif (name, kind) in said and any(over(hour, spent, t, said, name, k) for t in (at, at + part / 2)):
                    count["no budget"] += 1
                    unaffordable += 1
                    n = len(mine) and sum((r["input_tokens"] or 0) + (r["output_tokens"] or 0) for r in mine) / len(mine) or k["input"]
                    demand[0] += n * many
                    demand[1] += hour.price(k["input"], k["output"] if not k["ask"] else 12) * many
                elif any(r["at"] < at + part / 2 < ended(r) for r in rows):
                    count["busy"] += 1
                elif hour.end - at < 2 or any(r["outcome"].startswith("cancelled") for r in before):
                    count["the end"] += 1
                else:
                    unexplained.append((name, kind, at - hour.begin))
            early += len(groups)
            table.append((name, kind, count, sent))
    print("\n| target | probe | due | asked | kept silent | refused before | not idle | no budget | busy | requests |\n" + "|---" * 10 + "|")
    for name, kind, c, sent in table:
        cells = [c["due"], c["asked"], c["kept silent for a cold start"], c["refused before"], c["not idle"], c["no budget"], c["busy"], sent]
        print(f"| {name} | {kind} | " + " | ".join(map(str, cells)) + " |")
    print()
    hour.say(not unexplained, f"every moment of the schedule has its probe or a reason for none; without: {unexplained[:9]}")
    hour.say(not early, f"{early} probes that no moment of the schedule explains")
    print(f"      the latest probe began {late:.3f} s after its moment (another one was waited for)")
    told = re.findall(r"(\d+) probes were not asked: they might have passed", hour.log)
    hour.say([str(unaffordable)] == told or not told and not unaffordable,
             f"not asked for want of budget: {unaffordable}; the daemon's last words on it: {told}; said first of {len(said)} kinds and targets")
    return demand


def worst(hour, said, name, r):
    """Dollars of a request at most: what stays where no price is known."""
    k = hour.kinds[r["kind"].removesuffix("-again")]
    most = said[name, k["name"]] / max(k["parallel"], 1) if (name, k["name"]) in said else 6.2 * k["input"] + 1000 + k["output"]
    return hour.price(most - k["output"], k["output"])


def ended(r):
    return r["at"] + (r["close_ms"] or 0) / 1e3


def over(hour, spent, at, said, name, k):
    """Whether a probe's most would have passed what was left: of what was not
    answered yet the most counts too."""
    tokens = sum(n for t, n, _ in spent if t <= at)
    usd = sum(x for t, _, x in spent if t <= at)
    for other in hour.names:
        for r in hour.rows[other]:
            if r["at"] <= at < ended(r):
                flying = hour.kinds[r["kind"].removesuffix("-again")]
                most = 6.3 * flying["input"] + 1000 + flying["output"]
                tokens, usd = tokens + most, usd + hour.price(most - flying["output"], flying["output"])
    many, most = max(k["parallel"], 1), said[name, k["name"]]
    worst_usd = hour.price(most - many * k["output"], many * k["output"])
    return tokens + WORST * most > hour.about["budget_tokens"] or usd + WORST * worst_usd > hour.about["budget_usd"]


def budget(hour, demand):
    limit, limit_usd = hour.about["budget_tokens"], hour.about["budget_usd"]
    served = sorted((stamp(s["at"]), s["input"], s["output"], n) for n in hour.names for s in hour.posts(n) if s["probe"])
    tokens, usd, passed = 0, 0.0, 0
    by_target = collections.Counter()
    for _, i, o, name in served:
        tokens, usd = tokens + i + o, usd + hour.price(i, o)
        by_target[name] += i + o
        passed += tokens > limit or usd > limit_usd
    rows = [r for n in hour.names for r in hour.rows[n]]
    of_rows = sum((r["input_tokens"] or 0) + (r["output_tokens"] or 0) for r in rows if not r["outcome"].startswith("cancelled"))
    usd_rows = sum(r["cost_usd"] or 0 for r in rows)
    unpriced = [r for r in rows if r["cost_usd"] is None and r["outcome"] == "ok"]
    usd_rows += sum(hour.price(r["input_tokens"], r["output_tokens"]) for r in unpriced)
    spent = json.load(open(hour.dir + "/probes/spent.json"))
    hour.say(tokens <= limit and usd <= limit_usd and not passed,
             f"the servers counted {tokens:,} of {limit:,} tokens and ${usd:.4f} of ${limit_usd:g}; requests sent beyond: {passed}; by target {dict(by_target)}")
    hour.say(of_rows <= limit and abs(of_rows - tokens) < 50 and abs(usd_rows - usd) < 0.001, f"the rows say {of_rows:,} tokens and ${usd_rows:.4f}; {len(unpriced)} of them have no price of their own")
    hour.say(tokens <= spent["tokens"] <= limit and usd <= spent["usd"] + 1e-9 and spent["usd"] <= limit_usd,
             f"spent.json says {spent['tokens']:,} and ${spent['usd']:.4f}: what was broken off is in it with its most")
    hour.say(demand[0] > limit or demand[1] > limit_usd, f"all that was due would have taken about {demand[0]:,.0f} tokens and ${demand[1]:.2f}")


def answers(hour):
    for name in hour.names:
        truth = collections.Counter(s["sum"] for s in hour.posts(name) if s["probe"] and s["sum"] and s["output"])
        rows = collections.Counter(r["check"] for r in hour.rows[name] if r["check"])
        if truth:
            hour.say(rows["pass"] == truth["right"] and rows["fail"] == truth["wrong"], f"{name}: answers {dict(rows)}, by the server {dict(truth)}")
        else:
            print(f"      {name}: answers {dict(rows)} (nobody knows what they should be)")


def quantile(values, p):
    values = sorted(values)
    if len(values) == 1:
        return values[0]
    at = p * (len(values) - 1)
    low = min(int(at), len(values) - 2)
    return values[low] + (at - low) * (values[low + 1] - values[low])


def medians(hour):
    try:
        import numpy
    except ImportError:
        numpy = None
    groups, compared, worst = json.load(open(hour.dir + "/medians.json"))["groups"], 0, 0.0
    for g in groups:
        rows = [r for r in hour.rows[g["target"]] if r["kind"] == g["probe"] and r["phase"] == "measure" and not r["outcome"].startswith("cancelled")]
        good = [r for r in rows if r["outcome"] == "ok"]
        if g["n"] != len(rows) or g["failed"] != len(rows) - len(good):
            hour.say(False, f"{g['target']} {g['probe']}: n {g['n']} and {g['failed']} failed, by the rows {len(rows)} and {len(rows) - len(good)}")
        for metric in ("ttft_ms", "tpot_ms", "norm_decode_tps", "decode_tps", "e2e_ms", "cost_usd"):
            values = [r[metric] for r in good if r[metric] is not None]
            for name, p in (("p5", .05), ("p25", .25), ("p50", .5), ("p75", .75), ("p95", .95)):
                got = g["metrics"][metric][name]
                if not values:
                    worst = worst if got is None else float("inf")
                    continue
                want = [quantile(values, p)] + ([float(numpy.quantile(values, p))] if numpy else []) + ([statistics.median(values)] if p == .5 else [])
                worst = max([worst] + [abs(got - w) / max(abs(w), 1e-12) for w in want])
                compared += 1
    hour.say(bool(compared) and worst < 1e-9, f"{compared} quantiles of {len(groups)} groups as {'numpy ' + numpy.__version__ if numpy else 'Python'} has them; furthest {worst:.1e} of the value")
    return {(g["target"], g["probe"]): g for g in groups}


def speeds(hour, groups):
    """What the simulated servers were set to."""
    turn = stamp(hour.about["turn"])
    for name, side, ttft, tpot in (("slow", 0, 200, 40), ("cold", 0, 50, 10), ("step", -1, 25, 5), ("step", 1, 50, 10)):
        rows = [r for r in hour.rows[name] if r["kind"] == "light" and r["outcome"] == "ok" and (side == 0 or (r["at"] > turn) == (side > 0))]
        if not rows:
            continue
        got = [statistics.median(r[m] for r in rows if r[m] is not None) for m in ("ttft_ms", "tpot_ms")]
        hour.say(0 <= got[0] - ttft < 10 and abs(got[1] - tpot) < 0.05 * tpot,
                 f"{name}{('', ', second half', ', first half')[side]}: TTFT {got[0]:.1f} of {ttft} ms, TPOT {got[1]:.2f} of {tpot} ms ({len(rows)} light probes)")
    start = groups.get(("cold", "cold"), {}).get("metrics", {}).get("cold_start_ms", {}).get("p50")
    want = 1e3 * hour.about["cold_s"]
    if start is not None:
        hour.say(abs(start - want) < 0.02 * want, f"a cold start takes {start:.0f} of {want:.0f} ms")


def users(hour):
    counted = collections.Counter()
    for source, n in re.findall(r'^tokenmeter_requests_total\{.*source="(\w+)".*\} (\d+)', open(hour.dir + "/metrics.txt").read(), re.M):
        counted[source] += int(n)
    others = sum(not s["probe"] for n in hour.names for s in hour.posts(n))
    hour.say(counted["live"] == hour.about["users"] == others, f"users' requests: sent {hour.about['users']}, at the servers without the header {others}, counted as live {counted['live']}")
    probes = sum(r["phase"] == "measure" and not r["outcome"].startswith("cancelled") for n in hour.names for r in hour.rows[n])
    hour.say(0 <= counted["probe"] - probes <= len(hour.names), f"probes: {probes} in the rows, counted as probes {counted['probe']} (with those that the end broke off)")


def main():
    hour = Hour(sys.argv[1])
    print(f"{(hour.end - hour.begin) / 60:.1f} minutes, {', '.join(hour.names)}")
    demand = schedule(hour)
    budget(hour, demand)
    answers(hour)
    speeds(hour, medians(hour))
    users(hour)
    memory = lines(hour.dir + "/memory.jsonl")
    after = next((m for m in memory if m["s"] >= 60), memory[-1])
    print(f"      memory of the daemon: {after['rss_kb'] / 1024:.1f} MB after a minute, {memory[-1]['rss_kb'] / 1024:.1f} MB at the end, at most {max(m['rss_kb'] for m in memory) / 1024:.1f} MB")
    print(f"{len(hour.wrong)} differ")
    sys.exit(bool(hour.wrong))


if __name__ == "__main__":
    main()
