"""Time and memory of ``rankstats ab`` on event rows that do not fit in memory, in parts made on the spot.

Twenty visits of each user, one a part, so that the rows of a user lie in all parts; two arms, one segment of 8 values,
a ratio, two means (one of amounts with decimals) and a share. Run it from the root of a checkout::

    python tests/benchmarks/events.py --rows 20            # million rows
    python tests/benchmarks/events.py --rows 200 --memory-limit 4GiB

It prints a Markdown table: seconds and processor seconds of every step, the largest memory of its process, and what it
put on disk at most; and checks the readout against sums that DuckDB makes without rankstats. Files are removed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path

import duckdb

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.engines import Cost, measured  # beside this file, once the path is known

VISITS = 20
METRICS = ("ctr = sum(clicks)/sum(impressions)", "revenue", "clicks", "share(bought)")

# the file holds what this is about, so it runs in a process of its own
WRITE = """
import sys, duckdb
folder, users, visits = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
engine = duckdb.connect(config={"temp_directory": folder + "/making"})
for setting in ("memory_limit = '2GiB'", "preserve_insertion_order = false", "enable_progress_bar = false"):
    engine.execute("SET " + setting)
for visit in range(visits):
    engine.execute(f'''
        COPY (
            SELECT
                user_id,
                CASE WHEN hash(user_id, -1) % 2 = 0 THEN 'A' ELSE 'B' END AS arm,
                'c' || CAST(hash(user_id, -2) % 8 AS VARCHAR) AS country,
                CAST(1 + h % 10 AS INTEGER) AS impressions,
                CAST((h // 10) % 1000 < 200 + 2 * (hash(user_id, -1) % 2) AS INTEGER) AS clicks,
                CAST((h // 10000) % 100 < 5 AS INTEGER) AS bought,
                CASE WHEN (h // 10000) % 100 < 5 THEN ((h // 1000000) % 10000) / 100 ELSE 0.0 END AS revenue
            FROM (
                SELECT user_id, hash(user_id, {visit}) AS h
                FROM (SELECT (range * 7919) % {users} AS user_id FROM range({users}))
            )
        ) TO '{folder}/part-{visit:02d}.parquet' (FORMAT parquet)''')
"""
CHECK = """
SELECT arm, count(*), sum(c), sum(i), sum(r) FROM (
    SELECT min(arm) AS arm, sum(clicks) AS c, sum(impressions) AS i, sum(revenue) AS r
    FROM '{folder}/part-*.parquet' GROUP BY user_id
) GROUP BY arm
"""


def checked(folder: Path, limit: str) -> str:
    """Compare the readout with plain sums; return what was compared."""
    with duckdb.connect(config={"temp_directory": str(folder / "making"), "memory_limit": limit}) as engine:
        engine.execute("SET enable_progress_bar = false")
        rows = engine.execute(CHECK.replace("{folder}", str(folder))).fetchall()
    report = json.loads((folder / "report" / "report.json").read_text(encoding="utf-8"))
    units = {row["arm"]: row["n"] for row in report["experiment"]["units"]}
    assert units == {row[0]: row[1] for row in rows}, "units"
    means = {
        score["system"]: score["mean"]
        for score in report["scores"]
        if score["segment"] is None and score["measure"] == "ctr"
    }
    worst = max(abs(means[arm] - float(clicks / shown)) for arm, _, clicks, shown, _ in rows)
    assert worst < 1e-12, worst
    return f"Units and the ratio of each arm are those of plain sums (difference {worst:g})."


def command(folder: Path, limit: str, *options: str) -> list[str]:
    files = [str(path) for path in sorted(folder.glob("part-*.parquet"))]
    asked = [part for metric in METRICS for part in ("--metric", metric)]
    start = [sys.executable, "-m", "rankstats", "ab", *files, "--unit", "user_id", "--arm", "arm", "--control", "A"]
    return [*start, *asked, "--segment", "country", "--memory-limit", limit, *options]


def row(what: str, cost: Cost) -> str:
    return f"| {what} | {cost.seconds:.0f} | {cost.cpu:.0f} | {cost.megabytes:,.0f} | {cost.temporary:,.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--rows", type=float, default=20, help="million rows")
    parser.add_argument("--memory-limit", default="4GiB")
    parser.add_argument("--summary", action="store_true", help="also a summary without and with 50 resamples")
    options = parser.parse_args()
    users = round(options.rows * 1e6 / VISITS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        temporary = folder / "temporary"
        made = measured([sys.executable, "-c", WRITE, name, str(users), str(VISITS)], temporary)
        size = sum(path.stat().st_size for path in folder.glob("*.parquet")) / 1e9
        rows = [row(f"making the parts ({size:.1f} GB of Parquet)", made)]
        read = measured(command(folder, options.memory_limit, "--out", str(folder / "report")), temporary)
        rows.append(row("`rankstats ab`, rows to report", read))
        for what, extra in (("", ()), (", 50 resamples", ("--resamples", "50"))) if options.summary else ():
            out = ("--summary-out", str(folder / "summary.json.gz"), "--summary-only", *extra)
            rows.append(
                row(f"`--summary-only`{what}", measured(command(folder, options.memory_limit, *out), temporary))
            )
        said = checked(folder, options.memory_limit)
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {options.rows:g} million rows of {users:,} users."
    )
    print("\n| step | seconds | processor, s | peak memory, MB | temporary files, MB |\n|---|---:|---:|---:|---:|")
    print("\n".join(rows), "", said, sep="\n")


if __name__ == "__main__":
    main()
