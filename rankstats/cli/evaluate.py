"""``rankstats evaluate``: per-query and mean values of runs."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import TYPE_CHECKING

from rankstats.cli.engine_options import add_engine_arguments, engine_choice, print_engine_plans
from rankstats.cli.options import (
    ITEM_COLUMNS,
    add_input_arguments,
    add_item_arguments,
    add_measure_arguments,
    policy_changes,
    progress_bar,
    require,
    run_formats,
    split_list,
)

if TYPE_CHECKING:
    from rankstats.comparison import Evidence
    from rankstats.tables import Scores

EPILOG = """\
examples:
  rankstats evaluate --qrels qrels.txt keyword.run hybrid.run
  rankstats evaluate --qrels qrels.txt a.run --measures map,ndcg_cut_10 --conventions trec_eval
  rankstats evaluate --qrels qrels.txt a.run b.run --per-query --format tsv --output values.tsv
  rankstats evaluate --qrels qrels.txt a.run --items movies.csv --category genres --measures ILD@10,Coverage@10"""

FORMATS = ("table", "tsv", "csv", "json", "parquet")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_input_arguments(parser)
    add_item_arguments(parser)
    add_measure_arguments(parser)
    add_engine_arguments(parser)
    out = parser.add_argument_group("output")
    out.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    out.add_argument("--per-query", action="store_true", help="values of every query before the means")
    out.add_argument("--output", metavar="FILE", help="write to a file instead of stdout")
    out.add_argument("--quiet", action="store_true", help="no progress, no notes on stderr")


def run(options: argparse.Namespace, argv: list[str]) -> int:
    """Evaluate and print or write the values."""
    from rankstats.comparison import collect  # noqa: PLC0415  heavy
    from rankstats.comparison.collecting import Given  # noqa: PLC0415  heavy
    from rankstats.inputs import run_names  # noqa: PLC0415  heavy
    from rankstats.plan import Plan, override  # noqa: PLC0415  with the rest

    require(bool(options.runs and options.qrels), "give judgments and runs: rankstats evaluate --qrels FILE RUN ...")
    require(options.output != "", "--output names nothing")
    require(bool(split_list(options.measures)) or not options.measures, "--measures names nothing")
    require(options.format != "parquet" or bool(options.output), "--format parquet needs --output FILE")
    runs = tuple((name, str(path)) for name, path in run_names(options.runs))
    changes = {
        "qrels": options.qrels,
        "runs": runs,
        "qrels_format": options.qrels_format,
        "run_format": run_formats(options.run_format),
        "items": options.items,
        "history": options.history,
        "measures": split_list(options.measures),
    }
    columns = {name: getattr(options, name) for name in ("query_id", "document", "grade", "score", *ITEM_COLUMNS)}
    plan = policy_changes(override(Plan(), changes, columns=columns), options)
    if options.explain_plan:
        return print_engine_plans(plan, engine_choice(options))
    given = Given.of_plan(plan, engine_choice(options))
    with progress_bar(options.quiet) as progress:
        evidence = collect(plan, given=given, progress=progress, digests=False)  # nothing shows them
    content = _content(evidence.scores, options.format, per_query=options.per_query)
    if options.output:
        from rankstats.output import write_file  # noqa: PLC0415  with the rest

        others = [path for path in (options.qrels, options.items, options.history) if path]
        print(write_file(options.output, content, inputs=[*others, *(path for _, path in runs)]))
    elif isinstance(content, str):
        sys.stdout.write(content)
    if not options.quiet:
        for note in _notes(evidence):
            print(f"note: {note}", file=sys.stderr)
    return 0


def _content(scores: Scores, form: str, *, per_query: bool) -> str | bytes:
    if form == "table":
        return _table(scores, per_query=per_query)
    rows = _rows(scores, per_query=per_query)
    if form in ("tsv", "csv"):
        return _delimited(rows, "\t" if form == "tsv" else ",")
    if form == "json":
        keys = ("query_id", "system", "measure", "value")
        return json.dumps([dict(zip(keys, row, strict=True)) for row in rows], ensure_ascii=False, indent=1) + "\n"
    return _parquet(rows)


_Row = tuple[str, str, str, float | None]


def _rows(scores: Scores, *, per_query: bool) -> list[_Row]:
    rows: list[_Row] = []
    names = [info.name for info in scores.measures]
    if per_query:
        require("all" not in scores.query_ids, "a query has the id 'all', which names the mean rows; rename the query")
        table = scores.values.tolist()
        for q, query_id in enumerate(scores.query_ids):
            for s, system in enumerate(scores.systems):
                for m, name in enumerate(names):
                    value = table[q][s][m]
                    rows.append((query_id, system, name, None if math.isnan(value) else value))
    for (s, m), value in scores.aggregates().items():
        rows.append(("all", scores.systems[s], names[m], value))
    return rows


def _delimited(rows: list[_Row], separator: str) -> str:
    from rankstats.report.delimited import delimited_text  # noqa: PLC0415  with the rest

    return delimited_text(("query_id", "system", "measure", "value"), rows, separator)


def _parquet(rows: list[_Row]) -> bytes:
    import pyarrow as pa  # noqa: PLC0415  heavy
    import pyarrow.parquet as pq  # noqa: PLC0415  heavy

    columns = list(zip(*rows, strict=True))
    names = ("query_id", "system", "measure", "value")
    types = (pa.string(), pa.string(), pa.string(), pa.float64())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays, names=list(names)), sink)
    return bytes(sink.getvalue())


def _table(scores: Scores, *, per_query: bool) -> str:
    """Lay out systems (and queries) against measures; the same text on a terminal and in a pipe."""
    names = [info.name for info in scores.measures]
    lines: list[list[str]] = [["query", "system", *names] if per_query else ["system", *names]]
    if per_query:
        for q, query_id in enumerate(scores.query_ids):
            for s, system in enumerate(scores.systems):
                lines.append([query_id, system, *(_cell(value) for value in scores.values[q, s].tolist())])
    means = scores.aggregates()
    for s, system in enumerate(scores.systems):
        cells = [_cell(means[(s, m)]) for m in range(len(names))]
        lines.append(["mean", system, *cells] if per_query else [system, *cells])
    text_columns = 2 if per_query else 1
    widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
    out = []
    for line in lines:
        cells = [
            cell.ljust(width) if c < text_columns else cell.rjust(width)
            for c, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        out.append("  ".join(cells).rstrip())
    return "\n".join(out) + "\n"


def _cell(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.4f}"


def _notes(evidence: Evidence) -> list[str]:
    """What was left out, in words."""
    from rankstats.wording import count  # noqa: PLC0415  with the rest

    audit = evidence.audit["queries"]
    notes = list(evidence.audit["notes"])
    judged = count(len(evidence.scores.query_ids), "judged query", "judged queries")
    for system, ids in audit["missing"].items():
        if ids:
            shown = ", ".join(ids[:5]) + " ..." * (len(ids) > 5)
            notes.append(f"{system} lacks {len(ids):,} of {judged}; they count as 0 ({shown})")
    for system, n in audit["unknown"].items():
        if n:
            notes.append(f"{system} has {count(n, 'query', 'queries')} without judgments; left out")
    if audit["without_relevant"]:
        notes.append(f"{audit['without_relevant']:,} of {judged} without a relevant document")
    together = [info.name for info in evidence.scores.measures if info.aggregate == "together"]
    if together:
        one = "is one value of all lists" if len(together) == 1 else "are one value of all lists each"
        notes.append(f"{', '.join(together)} {one}; queries have none, and what stands for the mean is that value")
    for measure, n in evidence.audit["undefined"].items():
        if n and measure not in together:
            notes.append(f"{measure} is undefined on {count(n, 'query', 'queries')}; left out of every system's mean")
    return notes
