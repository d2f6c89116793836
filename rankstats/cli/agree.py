"""``rankstats agree``: agreement of rankings, measures, segments, judgments and assessors."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankstats.cli.agree_online import add_online_arguments, agree_on_reports, side_by_side
from rankstats.cli.options import add_measure_arguments, count_of, policy_changes, progress_bar, require, split_list

if TYPE_CHECKING:
    from rankstats.comparison import Progress
    from rankstats.comparison.agreement_rows import AgreementAnswer, AgreementRow
    from rankstats.comparison.order_agreement import OrderSettings
    from rankstats.plan import Plan

EPILOG = """\
examples:
  rankstats agree --runs old.run new.run                     rankings against each other, query by query
  rankstats agree --runs new.run --expert editors.run        a ranking against an expert's order, ties allowed
  rankstats agree --runs old.run new.run --qrels qrels.txt   and against the judges' grades
  rankstats agree --scores per_query.csv --segment length    orders of systems under measures and in segments
  rankstats agree --qrels human.txt model.txt                two sets of judgments of the same documents
  rankstats agree --qrels human.txt model.txt a.run b.run    and whether the order of systems survives
  rankstats agree --ratings assessors.csv                    assessors: item, rater, grade, or one column a rater
  rankstats agree --offline cmp/report.json --online ab/report.json   differences side by side, and their agreement
  rankstats agree --launches launches.csv                    does the offline measure predict the online metric?

The first line printed is the answer."""

FORMATS = ("table", "tsv", "csv", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    _add_inputs(parser)
    add_online_arguments(parser)
    add_measure_arguments(parser)
    lists = parser.add_argument_group("comparing lists (tied scores are ties, unless --ties is rank or input)")
    lists.add_argument("--cutoff", type=count_of, metavar="K", help="depth of the overlap, default 10")
    lists.add_argument("--rbo-p", type=float, metavar="P", help="persistence of RBO, default 0.9")
    lists.add_argument("--rbo-ties", choices=("a", "b", "w"), help="version of RBO for ties, default a")
    group = parser.add_argument_group("statistics")
    group.add_argument("--alpha", type=float, metavar="LEVEL", help="default 0.05")
    group.add_argument("--resamples", type=int, metavar="N", help="bootstrap samples and permutations, default 10000")
    group.add_argument("--seed", type=int, metavar="N", help="default 0")
    out = parser.add_argument_group("output")
    out.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    out.add_argument("--per-query", action="store_true", help="rankings: the values of every query, too")
    out.add_argument("--pairs", action="store_true", help="orders: the swap probability of every pair of systems, too")
    out.add_argument("--output", metavar="FILE", help="write to a file; the answer is printed all the same")
    out.add_argument("--quiet", action="store_true", help="no progress, no notes on stderr")


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is compared (one of --runs, --scores, --qrels, --ratings, --offline)")
    group.add_argument(
        "files", metavar="FILE", nargs="*", help="runs; after a single --qrels the second set of judgments"
    )
    group.add_argument("--runs", action="store_true", help="the files are runs, which are compared with each other")
    group.add_argument("--expert", metavar="FILE", help="with --runs: an expert's order, in the format of a run")
    group.add_argument(
        "--scores", metavar="FILE", action="append", default=[], help="per-query values: orders of the systems"
    )
    group.add_argument(
        "--qrels",
        metavar="FILE",
        action="append",
        default=[],
        help="judgments: two sets (--qrels A B or --qrels A --qrels B), runs may follow; one beside --runs",
    )
    group.add_argument("--ratings", metavar="FILE", help="table of ratings: item, rater, grade, or one column a rater")
    columns = parser.add_argument_group("columns and queries")
    columns.add_argument("--id", metavar="COLUMN", dest="query_id", help="query id in tables")
    columns.add_argument("--grade", metavar="COLUMN", help="grade in headed judgments and ratings")
    columns.add_argument(
        "--item", metavar="LIST", action="append", default=[], help="columns that name an item of the ratings together"
    )
    columns.add_argument("--rater", metavar="COLUMN", help="rater in a table with one row a rating")
    columns.add_argument(
        "--raters", metavar="LIST", action="append", default=[], help="columns of a table with one column a rater"
    )
    columns.add_argument("--queries", metavar="FILE", help="query table, for segments and clusters of --scores")
    columns.add_argument("--text", metavar="COLUMN", help="query text in the query table")
    columns.add_argument("--frequency", metavar="COLUMN", help="how often a query is asked, in the query table")
    columns.add_argument(
        "--segment", metavar="LIST", action="append", default=[], help="with --scores: length, popularity, COLUMN ..."
    )
    columns.add_argument(
        "--cluster", metavar="COLUMN", help="queries (of --scores) or items (of --ratings) that are resampled together"
    )


_MEANING_FOR = {
    "queries": ("scores",),
    "text": ("scores",),
    "frequency": ("scores",),
    "segment": ("scores",),
    "cluster": ("scores", "ratings"),
    "measures": ("scores", "qrels", "offline"),
    "metric": ("offline",),
    "alias": ("offline",),
    "pairs": ("scores", "qrels"),
    "item": ("ratings",),
    "rater": ("ratings",),
    "raters": ("ratings",),
    "grade": ("ratings", "runs", "qrels"),
    "query_id": ("scores", "runs", "qrels"),
    "expert": ("runs",),
    "cutoff": ("runs",),
    "rbo_p": ("runs",),
    "rbo_ties": ("runs",),
    "per_query": ("runs",),
    "conventions": ("qrels",),
    "ties": ("runs", "qrels"),
    "duplicates": ("runs", "qrels"),
    "resamples": ("scores", "qrels", "ratings"),
    "seed": ("scores", "qrels", "ratings"),
}
"""The kinds of input for which an option has a meaning; it is refused for the others."""

_USAGE = (
    "say what is compared: rankstats agree --runs RUN RUN ..., --scores FILE, --qrels FILE FILE [RUN ...], "
    "--ratings FILE or --offline REPORT --online REPORT (rankstats agree --help)"
)


def run(options: argparse.Namespace, argv: list[str]) -> int:
    """Compare, print the answer and print or write the rows."""
    from rankstats.output import write_file  # noqa: PLC0415  with the rest

    require(options.output != "", "--output names nothing")
    kind = _kind(options)
    analyses = {"scores": _on_scores, "ratings": _on_ratings, "runs": _on_runs, "qrels": _on_judgments}
    analyses["offline"] = _on_reports
    with progress_bar(options.quiet) as progress:
        answer, inputs = analyses[kind](options, progress)
    content = _content(answer, options.format)
    if options.output:
        path = write_file(options.output, content, inputs=inputs)
        print(_line(answer.answer))
        print(path)
    else:
        sys.stdout.write(content)
    if not options.quiet:
        # a table for machines holds nothing else, so that it can be piped
        machine = options.format != "table" and not options.output
        for line in ([answer.answer] if machine else []) + [f"note: {note}" for note in answer.notes]:
            print(_line(line), file=sys.stderr)
    return 0


def _kind(options: argparse.Namespace) -> str:
    """Return what is compared, or raise where the options contradict each other."""
    judged = bool(options.qrels) and not (options.runs and len(options.qrels) == 1)
    chosen = {
        "scores": bool(options.scores),
        "ratings": options.ratings is not None,
        "qrels": judged,
        "runs": options.runs and not judged,
        "offline": bool(options.offline or options.online or options.launches),
    }
    kinds = [kind for kind, asked in chosen.items() if asked]
    require(bool(kinds), _USAGE)
    require(len(kinds) == 1, f"--{kinds[0]} and --{kinds[-1]} are two questions; ask one at a time")
    (kind,) = kinds
    require(kind in ("runs", "qrels") or not options.runs, f"--runs and --{kind} are two questions; ask one at a time")
    require(kind in ("runs", "qrels") or not options.files, f"{' '.join(options.files)} is not expected with --{kind}")
    require(kind in ("runs", "qrels") or not options.qrels, f"--qrels has no meaning with --{kind}")
    for name, meaning in _MEANING_FOR.items():
        flag = {"query_id": "--id"}.get(name, "--" + name.replace("_", "-"))
        given = getattr(options, name) not in (None, [], False)
        require(not given or kind in meaning, f"{flag} has no meaning with --{kind}")
    return kind


def _plan(options: argparse.Namespace, **changes: Any) -> Plan:
    """Return the plan that reads and evaluates the input, with level, resamples and seed checked."""
    from rankstats.plan import Plan, override  # noqa: PLC0415  with the rest

    settings = {name: getattr(options, name) for name in ("alpha", "resamples", "seed")}
    columns = {name: getattr(options, name) for name in ("query_id", "grade", "text", "frequency", "cluster")}
    return policy_changes(override(Plan(), {**settings, **changes}, columns=columns), options)


def _orders(options: argparse.Namespace, plan: Plan) -> OrderSettings:
    from rankstats.comparison.order_agreement import OrderSettings  # noqa: PLC0415  heavy

    return OrderSettings(plan.alpha, plan.resamples, plan.seed, options.pairs)


def _on_scores(options: argparse.Namespace, progress: Progress | None) -> tuple[AgreementAnswer, list[str]]:
    from rankstats.comparison import collect, split_specifications  # noqa: PLC0415  heavy
    from rankstats.comparison.order_agreement import agree_on_scores  # noqa: PLC0415  heavy
    from rankstats.comparison.segments import SegmentData, make_attributes  # noqa: PLC0415  heavy

    segments = split_specifications(options.segment)
    plan = _plan(
        options,
        scores=tuple(options.scores),
        queries=options.queries,
        segments=segments,
        measures=split_list(options.measures),
    )
    evidence = collect(plan, progress=progress)
    data = SegmentData(evidence.scores.query_ids, evidence.queries, evidence.row, None)
    attributes = make_attributes(segments, data)
    answer = agree_on_scores(
        evidence.scores, clusters=evidence.clusters, attributes=attributes, settings=_orders(options, plan)
    )
    return answer, [*options.scores, *([options.queries] if options.queries else [])]


def _on_ratings(options: argparse.Namespace, progress: Progress | None) -> tuple[AgreementAnswer, list[str]]:
    from rankstats.comparison.judge_agreement import agree_on_ratings  # noqa: PLC0415  heavy
    from rankstats.inputs.ratings import read_ratings  # noqa: PLC0415  heavy

    plan = _plan(options)
    read = read_ratings(
        options.ratings,
        items=split_list(options.item),
        rater=options.rater,
        grade=options.grade,
        raters=split_list(options.raters),
        cluster=options.cluster,
    )
    answer = agree_on_ratings(read.table, settings=_orders(options, plan))
    return replace(answer, notes=(*read.audit.notes, *answer.notes)), [options.ratings]


def _on_reports(options: argparse.Namespace, progress: Progress | None) -> tuple[AgreementAnswer, list[str]]:
    return agree_on_reports(options, _plan(options).alpha)


def _on_runs(options: argparse.Namespace, progress: Progress | None) -> tuple[AgreementAnswer, list[str]]:
    from rankstats.comparison.agreeing import ListSettings, agree_on_rankings  # noqa: PLC0415  heavy
    from rankstats.inputs import read_judgments, read_run, run_names  # noqa: PLC0415  heavy

    plan = _plan(options)
    given = {"p": options.rbo_p, "ties": options.rbo_ties, "cutoff": options.cutoff}
    settings = ListSettings(
        alpha=plan.alpha,
        per_query=options.per_query,
        **{name: value for name, value in given.items() if value is not None},
    )
    named = run_names([*options.files, *([options.expert] if options.expert else [])])
    orders = []
    for i, (name, path) in enumerate(named):
        if progress:
            progress(f"reading {name}", 0.7 * i / len(named))
        orders.append(read_run(path, name, plan.policies, id_column=options.query_id).table)
    grades = None
    if options.qrels:
        columns = {"id_column": options.query_id, "grade_column": options.grade}
        grades = read_judgments(options.qrels[0], plan.policies, **columns).table
    if progress:
        progress("comparing lists", 0.7)
    expert = orders.pop() if options.expert else None
    answer = agree_on_rankings(orders, grades=grades, expert=expert, policies=plan.policies, settings=settings)
    return answer, [*options.qrels, *(str(path) for _, path in named)]


def _on_judgments(options: argparse.Namespace, progress: Progress | None) -> tuple[AgreementAnswer, list[str]]:
    from rankstats.comparison import collect  # noqa: PLC0415  heavy
    from rankstats.comparison.judge_agreement import agree_on_judgments  # noqa: PLC0415  heavy
    from rankstats.inputs import read_judgments, run_names  # noqa: PLC0415  heavy

    files = list(options.files)
    sets = list(options.qrels)
    if len(sets) == 1 and files and not options.runs:
        sets.append(files.pop(0))
    require(len(sets) == 2, f"two sets of judgments are compared, not {len(sets)}: --qrels FILE --qrels FILE [RUN ...]")
    (first, first_path), (second, second_path) = run_names(sets, "sets of judgments")
    runs = tuple((name, str(path)) for name, path in run_names(files))
    plan = _plan(options, runs=runs, measures=split_list(options.measures))
    columns = {"id_column": options.query_id, "grade_column": options.grade}
    judged = [read_judgments(path, plan.policies, **columns).table for path in (first_path, second_path)]
    scores = []
    for path in (first_path, second_path) if runs else ():
        scores.append(collect(replace(plan, qrels=str(path)), progress=progress).scores)
    answer = agree_on_judgments(
        judged[0],
        judged[1],
        (first, second),
        scores=(scores[0], scores[1]) if runs else None,
        settings=_orders(options, plan),
    )
    return answer, [str(first_path), str(second_path), *(path for _, path in runs)]


_HEADINGS = {
    "rankings": "Rankings against each other, mean over queries",
    "expert": "Rankings against an expert's order, mean over queries",
    "measures": "Orders of systems under two measures",
    "segments": "Orders of systems in two segments",
    "judgments": "Orders of systems under two sets of judgments",
    "stability": "Would other queries turn the order of two systems? Mean over pairs",
    "swaps": "Would other queries turn the order of two systems?",
    "judges": "Two judges",
    "raters": "All raters together",
    "grades": "Agreement on each grade",
    "side_by_side": "Differences offline and online, each with its interval",
    "online_segments": "Over the segments of an attribute: do offline and online agree?",
    "launches": "Over launches: do offline and online agree?",
    "confusion": "How often a grade of the first judge (row) meets one of the second (column)",
}
_WIDE = ("rankings", "expert", "grades")
"""Kinds of which the table has one column a statistic, without intervals."""
_COUNTS = (
    *("count", "opposite_pairs", "same_verdict", "verdict_by_first_only", "verdict_by_second_only"),
    "opposite_verdict",
)
"""Statistics that are whole numbers."""
COLUMNS = ("kind", "first", "second", "about", "query_id", "statistic", "value", "low", "high", "n")


def _content(answer: AgreementAnswer, form: str) -> str:
    rows = answer.to_dicts()
    if form == "table":
        return f"{_line(answer.answer)}\n{_tables(answer.rows)}"
    if form == "json":
        whole = {"answer": answer.answer, "notes": list(answer.notes), "rows": rows}
        return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
    from rankstats.report.delimited import delimited_text  # noqa: PLC0415  with the rest

    return delimited_text(COLUMNS, ([row[name] for name in COLUMNS] for row in rows), "\t" if form == "tsv" else ",")


def _tables(rows: Sequence[AgreementRow]) -> str:
    """Lay out the rows kind by kind; the same text on a terminal and in a pipe."""
    out = []
    for kind in dict.fromkeys((row.kind, row.query_id != "all") for row in rows):
        members = [row for row in rows if (row.kind, row.query_id != "all") == kind]
        heading = _HEADINGS[kind[0]].replace("mean over queries", "query by query" if kind[1] else "mean over queries")
        if kind[0] == "confusion":
            for about in dict.fromkeys(row.about for row in members):
                crossed = _crossed([row for row in members if row.about == about])
                out.append(f"\n{heading}: {_line(about)}\n{_aligned(crossed, 1)}")
            continue
        if kind[0] == "side_by_side":
            lines, texts = side_by_side(members, _line)
        else:
            lines, texts = _wide(members) if kind[0] in _WIDE else _long(members)
        out.append(f"\n{heading}\n{_aligned(lines, texts)}")
    return "".join(out)


def _names(row: AgreementRow) -> dict[str, str]:
    names = {"query": "" if row.query_id == "all" else row.query_id, "about": row.about}
    return {name: _line(text) for name, text in {**names, "first": row.first, "second": row.second}.items()}


def _kept(members: Sequence[AgreementRow]) -> list[str]:
    """Return the columns of names that say something."""
    return [name for name in ("query", "about", "first", "second") if any(_names(row)[name] for row in members)]


def _wide(members: Sequence[AgreementRow]) -> tuple[list[list[str]], int]:
    kept = _kept(members)
    statistics = list(dict.fromkeys(row.statistic for row in members))
    lines: dict[tuple[str, ...], dict[str, AgreementRow]] = {}
    for row in members:
        lines.setdefault(tuple(_names(row)[name] for name in kept), {})[row.statistic] = row
    words = {"about": "grade"} if members[0].kind == "grades" else {}
    header = [*(words.get(name, name) for name in kept), *statistics, "n"]
    body = [
        [*key, *(_cell(found[name].value, name) for name in statistics), f"{max(row.n for row in found.values())}"]
        for key, found in lines.items()
    ]
    return [header, *body], len(kept)


def _long(members: Sequence[AgreementRow]) -> tuple[list[list[str]], int]:
    kept = _kept(members)
    body = []
    for row in members:
        ends = (None, None) if row.interval is None else (row.interval.low, row.interval.high)
        names = [_names(row)[name] for name in kept]
        value = _cell(row.value, row.statistic)
        body.append([*names, row.statistic, value, *(_cell(end, row.statistic) for end in ends), str(row.n)])
    return [[*kept, "statistic", "value", "low", "high", "n"], *body], len(kept) + 1


def _crossed(members: Sequence[AgreementRow]) -> list[list[str]]:
    columns = list(dict.fromkeys(row.second for row in members))
    lines: dict[str, list[str]] = {}
    for row in members:
        lines.setdefault(row.first, []).append(_cell(row.value, row.statistic))
    return [["", *columns], *([grade, *counts] for grade, counts in lines.items())]


def _aligned(lines: Sequence[Sequence[str]], texts: int) -> str:
    widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
    out = []
    for line in lines:
        cells = [
            cell.ljust(width) if c < texts else cell.rjust(width)
            for c, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        out.append("  ".join(cells).rstrip() + "\n")
    return "".join(out)


def _cell(value: float | None, statistic: str) -> str:
    if value is None:
        return "-"
    if statistic == "same_best":
        return "yes" if value else "no"
    return f"{value:.0f}" if statistic in _COUNTS else f"{value:.4f}"


def _line(text: str) -> str:
    """Return a text on one line; outside a terminal with the minus of numbers and plain spaces."""
    from rankstats.report.texts import whole  # noqa: PLC0415  with the rest
    from rankstats.wording import MINUS  # noqa: PLC0415  with the rest

    line = whole(text)
    return line if sys.stdout.isatty() else line.replace(MINUS, "-").replace("\N{NO-BREAK SPACE}", " ")
