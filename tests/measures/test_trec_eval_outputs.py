"""trec_eval's own test data: every line of what it prints, and of what others printed with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rankstats.conventions import Policies
from rankstats.inputs import read_scores
from rankstats.measures import Measure, evaluate, parse_measure
from rankstats.tables import Judgments, Ranking, Scores, make_hits
from tests.shared import shared
from tests.tables.made import lines_of, qrels_of, ranking_of, run_of

pytestmark = pytest.mark.shared

NOT_MEASURED = {
    "runid": "the name of the run, not a value",
    "relstring": "the grades of the first documents as text, not a value",
    "utility": "a sum of costs that depends on the length of the list only, left out on purpose",
    "rbp": "trec_eval 10.0-rc3 reads unset values; RBP is compared with the hand cases",
    "rbp_resid": "trec_eval omits the end of the list unless a document is unjudged; RBP_residual is compared by hand",
}
"""Lines that are not compared, by the beginning of their names, and why."""
ROUNDED_HALF = 5.0001e-5

Printed = dict[str, dict[str, float]]
"""Values by measure and query; 'all' for all queries."""


def cut(rows: Sequence[tuple[str, str, float]], depth: int) -> list[tuple[str, str, float]]:
    """Keep the first documents of each query, as trec_eval's -M does."""
    ordered = sorted(sorted(rows, key=lambda row: row[1], reverse=True), key=lambda row: -row[2])
    kept: dict[str, int] = {}
    result = []
    for row in ordered:
        kept[row[0]] = kept.get(row[0], 0) + 1
        if kept[row[0]] <= depth:
            result.append(row)
    return result


def rows_of(path: Path) -> list[tuple[str, str, float]]:
    return [(line[0], line[2], float(line[4])) for line in lines_of(path)]


def printed_of(path: Path, skipped: Callable[[str], bool]) -> tuple[Printed, set[str]]:
    values: Printed = {}
    left_out = set()
    for name, query_id, value in (line[:3] for line in lines_of(path)):
        if skipped(name):
            left_out.add(name)
        else:
            values.setdefault(name, {})[query_id] = float(value)
    return values, left_out


def is_not_measured(name: str) -> bool:
    return any(name == start or name.startswith(f"{start}_") for start in NOT_MEASURED)


def scores_of(measures: Sequence[Measure], judgments: Judgments, run: Ranking, policies: Policies) -> Scores:
    values = evaluate(measures, judgments, make_hits(judgments, run, policies), policies)
    return Scores(values[:, None, :], judgments.query_ids, ("run",), tuple(measure.info() for measure in measures))


def over(scores: Scores, query_ids: Sequence[str]) -> Scores:
    kept = [scores.query_ids.index(query_id) for query_id in query_ids]
    return Scores(scores.values[kept], tuple(query_ids), scores.systems, scores.measures)


def with_rel(name: str, rel: int) -> Measure:
    """Return trec_eval's measure at its -l level, written into the name."""
    measure = parse_measure(name)
    if rel == 1 or "rel" not in dict(measure.parameters) or dict(measure.parameters)["rel"] is None:
        return measure
    parameters = tuple((key, float(rel) if key == "rel" else value) for key, value in measure.parameters)
    return Measure(measure.declaration, measure.cutoff, parameters, measure.declaration.name)


def compare(printed: Printed, judgments: Judgments, run: Ranking, *, rel: int = 1, complete: bool = False) -> int:
    names = list(printed)
    measures = [with_rel(name, rel) for name in names]
    scores = scores_of(measures, judgments, run, Policies.from_preset("trec_eval"))
    answered = [query_id for query_id in judgments.query_ids if complete or query_id in run.query_ids]
    aggregates = over(scores, answered).aggregates()
    compared = 0
    for column, name in enumerate(names):
        for query_id, expected in printed[name].items():
            if query_id == "all":
                value = aggregates[(0, column)]
            else:
                value = scores.values[scores.query_ids.index(query_id), 0, column]
            assert value == pytest.approx(expected, abs=ROUNDED_HALF), (name, measures[column].name, query_id)
            compared += 1
    return compared


OUTPUTS = {
    # output: judgments, run, level of -l, -c, depth of -M, lines compared, where
    "out.test": ("qrels.test", "results.test", 1, False, None, 29, "data/ir/trec_eval-test"),
    "out.test.a": ("qrels.test", "results.test", 1, False, None, 95, "data/ir/trec_eval-test"),
    "out.test.aq": ("qrels.test", "results.test", 1, False, None, 371, "golden/trec_eval_data"),
    "out.test.aqc": ("qrels.test", "results.trunc", 1, True, None, 371, "golden/trec_eval_data"),
    "out.test.aqcM": ("qrels.test", "results.trunc", 1, True, 100, 371, "data/ir/trec_eval-test"),
    "out.test.aql": ("qrels.rel_level", "results.test", 2, False, None, 371, "golden/trec_eval_data"),
    "out.test.meas_params": ("qrels.test", "results.test", 1, False, None, 84, "golden/trec_eval_data"),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_line_that_trec_eval_prints_for_its_own_data(output: str) -> None:
    qrels, results, rel, complete, depth, lines, folder = OUTPUTS[output]
    data = "golden/trec_eval_data"
    rows = rows_of(shared(f"{data}/{results}"))
    run = ranking_of(rows if depth is None else cut(rows, depth))
    printed, left_out = printed_of(shared(f"{folder}/{output}"), is_not_measured)
    assert compare(printed, qrels_of(shared(f"{data}/{qrels}")), run, rel=rel, complete=complete) == lines
    assert left_out <= {"runid", "relstring", "utility", "utility_2,-1,0,0", "rbp", "rbp_resid", "relstring_20"}


def test_both_copies_of_the_test_data_are_the_same() -> None:
    for name in ("out.test.aq", "out.test.aqc", "out.test.aql", "out.test.meas_params"):
        golden, data = (shared(f"{folder}/{name}") for folder in ("golden/trec_eval_data", "data/ir/trec_eval-test"))
        assert golden.read_bytes() == data.read_bytes()


def as_version_9(name: str) -> str:
    """Return our name of what trec_eval 9 prints: it cuts levels of recall as the bare names do, unlike version 10."""
    if name == "11pt_avg":
        return "IAP"
    if name.startswith("iprec_at_recall_"):
        return f"IPrec@{float(name.removeprefix('iprec_at_recall_')):g}"
    return name


@pytest.mark.parametrize("folder", ["dl-hard-passage", "dl-hard-doc"])
def test_every_value_that_the_authors_of_dl_hard_printed(folder: str) -> None:
    base = shared(f"data/ir/{folder}")
    judgments = qrels_of(base / "qrels.txt.gz")
    compared = 0
    for path in sorted((base / "author_eval").glob("*.eval.gz")):
        printed, _ = printed_of(path, is_not_measured)
        run = run_of(base / "runs" / path.name.replace(".eval.gz", ".run.gz"))
        names = list(printed)
        measures = [with_rel(as_version_9(name), 2) for name in names]
        scores = scores_of(measures, judgments, run, Policies.from_preset("trec_eval", ties="float32"))
        # trec_eval's Rndcg is 0 without a document of the level of -l, though it knows no level otherwise
        scores.values[judgments.relevant(2) == 0, 0, names.index("Rndcg")] = 0.0
        aggregates = scores.aggregates()
        for column, name in enumerate(names):
            for query_id, expected in printed[name].items():
                row = None if query_id == "all" else scores.query_ids.index(query_id)
                value = aggregates[(0, column)] if row is None else scores.values[row, 0, column]
                if (name, query_id) == ("num_rel", "all"):
                    # trec_eval 9 forgets the level of -l here, when it counts over all judged queries
                    value = float(judgments.relevant(1).sum())
                assert value == pytest.approx(expected, abs=ROUNDED_HALF), (path.name, name, query_id)
                compared += 1
    assert compared >= 15_000


LEADERBOARD = {"ndcg@20": "nDCG@20", "P@20": "P@20", "bpref": "Bpref", "map": "AP", "rbp_p5": "RBP(p=0.5,max=2)"}


def leaderboard() -> dict[str, dict[str, str]]:
    header, *rows = (
        line.split(",") for line in shared("data/ir/trec-covid-r5/leaderboard.csv").read_text().splitlines()
    )
    return {row[0]: dict(zip(header, row, strict=True)) for row in rows}


def test_the_leaderboard_of_trec_covid() -> None:
    base = shared("data/ir/trec-covid-r5")
    published, judgments = leaderboard(), qrels_of(base / "qrels.txt.gz")
    measures = [parse_measure(name) for name in LEADERBOARD.values()]
    compared = 0
    for path in [*sorted((base / "runs").glob("*.run*")), *sorted((base / "runs_small").glob("*.run*"))]:
        scores = scores_of(measures, judgments, run_of(path), Policies.from_preset("trec_eval", ties="float32"))
        for column, key in enumerate(LEADERBOARD):
            mean = scores.means()[(0, column)]
            assert mean == pytest.approx(float(published[path.name.split(".run")[0]][key]), abs=ROUNDED_HALF), (
                path,
                key,
            )
            compared += 1
    assert compared == 50


def test_the_leaderboard_from_ready_made_scores() -> None:
    path = shared("data/ir/trec-covid-r5/perquery_all_submissions.tsv.gz")
    scores = read_scores([str(path)], id_column="query").table.scores
    column = [info.name for info in scores.measures].index("AP")
    means = scores.means()
    ours = {system: means[(s, column)] for s, system in enumerate(scores.systems)}
    assert ours == pytest.approx({tag: float(row["map"]) for tag, row in leaderboard().items()}, abs=ROUNDED_HALF)
    assert len(ours) == 126
