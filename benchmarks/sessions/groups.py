"""Compares `tokenmeter report RUN --by …` with the same figures by DuckDB over the run's Parquet.

    pip install duckdb
    python benchmarks/sessions/groups.py RUN [tokenmeter]

SQL knows the definitions only (docs/metrics.md), none of the program's code. Figures agree
to rounding: 1e-9 of their size. It says how many were compared, and ends with 1 where one
differs.
"""
import json
import math
import subprocess
import sys

import duckdb

GROUPS = {
    "session": "coalesce(session, task)",
    "turn": "coalesce(turn, step, 0)::varchar",
    "agent": "coalesce(agent, 'main')",
    "depth": "case when input_tokens is null then null else "
             "printf('%d-%d', (1 << floor(log2(input_tokens))::bigint), (2 << floor(log2(input_tokens))::bigint) - 1) end",
}

FIGURES = """
select {by} as grp,
  count(*) as requests,
  count(*) filter (outcome = 'ok') as ok,
  count(*) filter (outcome <> 'ok' and outcome not like 'cancelled%') as failed,
  sum(input_tokens)::bigint as input_tokens,
  sum(cached_tokens)::bigint as cached_tokens,
  sum(output_tokens)::bigint as output_tokens,
  sum(cached_tokens) filter (input_tokens is not null) / sum(input_tokens) filter (cached_tokens is not null) as cache_hit_rate,
  sum(least(reusable_tokens, input_tokens)) filter (input_tokens is not null)
    / sum(input_tokens) filter (reusable_tokens is not null) as ideal_hit_rate,
  quantile_cont(ttft_ms, 0.5) filter (outcome = 'ok') as ttft_p50_ms,
  quantile_cont(ttft_ms, 0.9) filter (outcome = 'ok') as ttft_p90_ms,
  quantile_cont(e2e_ms, 0.5) filter (outcome = 'ok') as e2e_p50_ms,
  quantile_cont(e2e_ms, 0.9) filter (outcome = 'ok') as e2e_p90_ms
from r where {by} is not null group by grp
"""

# From the request that ended last back to the one that it waited for, and so on.
PATHS = """
with recursive ended as (
  select coalesce(session, task) as grp, id, parent, round(due_s * 1e6) as due,
    round(due_s * 1e6) + round(coalesce(e2e_ms, close_ms, 0) * 1e3) as over, outcome from r
), last as (
  select grp, arg_max(id, over) as id, max(over) as over, min(due) as first from ended group by grp having bool_and(outcome = 'ok')
), path as (
  select l.grp, e.parent, e.over - e.due as waited from last l join ended e using (grp, id)
  union all
  select p.grp, e.parent, e.over - e.due from path p join ended e on e.grp = p.grp and e.id = p.parent
)
select grp, (over - first) / 1e3 as duration_ms, waited / 1e3 as model_ms, (over - first - waited) / 1e3 as tools_ms
from last join (select grp, sum(waited) as waited from path group by grp) using (grp)
"""


def rows(db, query):
    found = db.execute(query)
    names = [d[0] for d in found.description]
    return {str(r[0]): dict(zip(names[1:], r[1:])) for r in found.fetchall()}


def same(a, b):
    if a is None or b is None:
        return a is None and b is None
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def main():
    run, program = sys.argv[1], (sys.argv[2:] or ["tokenmeter"])[0]
    db = duckdb.connect()
    db.execute(f"create view r as select * from read_parquet('{run}/requests.parquet') "
               "where phase = 'measure' and coalesce(session, task, '') <> ''")
    compared, wrong = 0, 0
    for by, expression in GROUPS.items():
        told = {r["group"]: r for r in json.loads(subprocess.check_output([program, "report", run, "--by", by, "--format", "json"]))["rows"]}
        want = rows(db, FIGURES.format(by=expression))
        if by == "session":
            paths = rows(db, PATHS)
            for name, row in want.items():
                row.update(paths.get(name, {"duration_ms": None, "model_ms": None, "tools_ms": None}))
        if told.keys() != want.keys():
            sys.exit(f"--by {by}: the groups differ: {sorted(told.keys() ^ want.keys())}")
        for name, row in want.items():
            for figure, value in row.items():
                compared += 1
                if not same(value, told[name][figure]):
                    wrong += 1
                    print(f"--by {by} {name}: {figure} is {told[name][figure]}, by DuckDB {value}")
        print(f"--by {by}: {len(want)} groups")
    print(f"{compared} figures compared, {wrong} differ")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
