"""n, p50 and p99 of the columns that a summary covers, by DuckDB."""
import json
import sys
import time

import duckdb

SINGLE = ["ttft_ms", "ttfo_ms", "tpot_ms", "e2e_ms", "delay_ms", "decode_tps", "e2e_tps",
          "input_tokens", "output_tokens", "max_gap_ms"]
LISTS = ["icl_ms", "ev_lag_us"]

began = time.monotonic()
db = duckdb.connect()
table = f"read_parquet('{sys.argv[1]}')"
columns = ", ".join(f"count({c}), quantile_cont({c}, [0.5, 0.99])" for c in SINGLE)
rows = db.execute(f"select count(*), {columns} from {table}").fetchone()[0]
for c in LISTS:
    gaps = db.execute(f"select count(x), quantile_cont(x, [0.5, 0.99]) from (select unnest({c}) as x from {table})").fetchone()[0]
    if c == "icl_ms":
        counted = gaps
print(json.dumps({"Seconds": time.monotonic() - began, "Rows": rows, "Gaps": counted}))
