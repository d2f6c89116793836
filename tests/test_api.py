"""From Python: the same numbers as files, the same errors with rows instead of lines, and nothing handed in changes."""

from __future__ import annotations

import copy
import dataclasses
import importlib.resources
import json
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ir_measures
import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import pytrec_eval

import rankstats
from rankstats import InputError, Plan, PlanError, Policies, compare, compare_scores, compare_systems, evaluate
from rankstats.inputs import read_judgments, read_queries, read_run, read_scores
from rankstats.report import report_files
from tests.inputs.naive import naive_lines
from tests.inputs.written import Row, nested, records
from tests.shared import shared

MEASURES = ["nDCG@10", "AP", "RR", "P@5", "Judged@5"]
NAMES = {"qrels": ("query_id", "doc_id", "relevance"), "run": ("query_id", "doc_id", "score")}


def collection(seed: int = 5) -> tuple[list[Row], dict[str, list[Row]]]:
    """Judgments and two runs whose ids are whole numbers; scores are tied now and then, one query is missing."""
    rng = random.Random(seed)
    queries, documents = [str(n) for n in range(100, 140)], [str(n) for n in range(1_000, 1_040)]
    judged = [(query, doc, rng.choice([0, 0, 1, 2])) for query in queries for doc in rng.sample(documents, 20)]
    runs = {
        name: [
            (query, doc, rng.choice([0.5, rng.uniform(-1, 1), 3]))
            for query in queries[first:]
            for doc in rng.sample(documents, 15)
        ]
        for name, first in (("a", 0), ("b", 1))
    }
    return judged, runs


JUDGED, RUNS = collection()


@dataclasses.dataclass
class Scored:
    query_id: str
    doc_id: str
    score: float


@dataclasses.dataclass
class Judged:
    query_id: str
    doc_id: str
    relevance: float


def objects(kind: str, rows: list[Row]) -> Any:
    """The rows as named tuples of the field's own libraries."""
    if kind == "qrels":
        return [ir_measures.Qrel(query, doc, int(grade)) for query, doc, grade in rows]
    return [ir_measures.ScoredDoc(query, doc, score) for query, doc, score in rows]


def with_whole_ids(rows: list[Row], names: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(records(rows, names)).astype({"query_id": "int64", "doc_id": "int32"})


FORMS: dict[str, Callable[[str, list[Row]], Any]] = {
    "dictionary": lambda kind, rows: nested(rows),
    "dictionary with whole ids": lambda kind, rows: {
        int(query): {np.int64(doc): number for doc, number in of_query.items()}
        for query, of_query in nested(rows).items()
    },
    "dictionary of numpy and decimal numbers": lambda kind, rows: {
        query: {doc: np.float64(n) if n != 3 else Decimal(n) for doc, n in of_query.items()}
        for query, of_query in nested(rows).items()
    },
    "named tuples of ir_measures": objects,
    "generator": lambda kind, rows: iter(objects(kind, rows)),
    "tuples": lambda kind, rows: rows,
    "records": lambda kind, rows: records(rows, NAMES[kind]),
    "records with whole ids": lambda kind, rows: with_whole_ids(rows, NAMES[kind]).to_dict("records"),
    "dataclasses": lambda kind, rows: [(Judged if kind == "qrels" else Scored)(*row) for row in rows],
    "objects": lambda kind, rows: [SimpleNamespace(**record) for record in records(rows, NAMES[kind])],
    "pandas": lambda kind, rows: pd.DataFrame(records(rows, NAMES[kind])),
    "pandas, objects": lambda kind, rows: pd.DataFrame(records(rows, NAMES[kind]), dtype=object),
    "pandas, whole ids": lambda kind, rows: with_whole_ids(rows, NAMES[kind]),
    "pandas, ids as floats": lambda kind, rows: with_whole_ids(rows, NAMES[kind]).astype({"query_id": "float64"}),
    "pandas, categories": lambda kind, rows: pd.DataFrame(records(rows, NAMES[kind])).astype({"doc_id": "category"}),
    "pandas, another index": lambda kind, rows: pd.DataFrame(records(rows, NAMES[kind]), index=range(len(rows), 0, -1)),
    "polars": lambda kind, rows: pl.DataFrame(records(rows, NAMES[kind])),
    "polars, lazy": lambda kind, rows: pl.DataFrame(records(rows, NAMES[kind])).lazy(),
    "polars, categories": lambda kind, rows: pl.DataFrame(records(rows, NAMES[kind])).with_columns(
        pl.col("query_id").cast(pl.Categorical)
    ),
    "arrow": lambda kind, rows: pa.Table.from_pylist(records(rows, NAMES[kind])),
    "arrow, in pieces": lambda kind, rows: pa.concat_tables(
        [pa.Table.from_pylist(records(part, NAMES[kind])) for part in (rows[:7], rows[7:])]
    ),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "qrels").write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in JUDGED))
    for name, rows in RUNS.items():
        content = "".join(f"{query} Q0 {doc} 1 {score!r} t\n" for query, doc, score in rows)
        (folder / f"{name}.run").write_text(content)
    lines = [f"{n}\tquery {'long ' * (n % 3)}{n}\t{n % 7}\n" for n in range(100, 140)]
    (folder / "queries.tsv").write_text("query_id\ttext\tclicks\n" + "".join(lines))
    return folder


@pytest.fixture(scope="module")
def values(files: Path) -> np.ndarray:
    """The values of the files, held against pytrec_eval."""
    scores = evaluate(files / "qrels", [files / "a.run", files / "b.run"], MEASURES)
    judged: dict[str, dict[str, int]] = {}
    for query, _, doc, grade in naive_lines(files / "qrels"):
        judged.setdefault(query, {})[doc] = int(grade)
    assert (scores.systems, scores.query_ids) == (("a", "b"), tuple(sorted(judged)))
    for s, name in enumerate(scores.systems):
        ranked = nested((query, doc, float(np.float32(score))) for query, doc, score in RUNS[name])
        theirs = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut_10", "map", "recip_rank"}).evaluate(ranked)
        for m, measure in enumerate(("ndcg_cut_10", "map", "recip_rank")):
            expected = [theirs.get(query, {}).get(measure, 0.0) for query in scores.query_ids]
            assert scores.values[:, s, m].tolist() == pytest.approx(expected, abs=1e-12)
    return scores.values


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_values_of_the_files(files: Path, values: np.ndarray, form: str) -> None:
    make = FORMS[form]
    runs = {name: make("run", rows) for name, rows in RUNS.items()}
    scores = evaluate(make("qrels", JUDGED), runs, MEASURES)
    assert np.array_equal(scores.values, values, equal_nan=True)
    mixed = evaluate(files / "qrels", {"a": make("run", RUNS["a"]), "b": str(files / "b.run")}, MEASURES)
    assert np.array_equal(mixed.values, values, equal_nan=True)


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("generator", "polars, lazy")])
def test_nothing_handed_in_is_changed(form: str) -> None:
    qrels, runs = FORMS[form]("qrels", JUDGED), {name: FORMS[form]("run", rows) for name, rows in RUNS.items()}
    before = copy.deepcopy((qrels, runs))
    compare_systems(qrels, runs, ["AP"], queries={query: f"text {query}" for query, *_ in JUDGED}, resamples=99)
    for now, then in zip((qrels, *runs.values()), (before[0], *before[1].values()), strict=True):
        if isinstance(now, pd.DataFrame):
            pd.testing.assert_frame_equal(now, then)
        elif hasattr(now, "equals"):
            assert now.equals(then)
        else:
            assert now == then
            assert repr(now) == repr(then)


def test_inputs_that_cannot_be_written_to() -> None:
    values = np.array([0.5, 0.25])
    values.flags.writeable = False
    frame = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["d", "e"], "score": values}, copy=False)
    assert evaluate({"q": {"d": 1}}, {"a": frame}, "RR").values.item() == 1


def comparable(comparison: rankstats.Comparison) -> dict[str, Any]:
    """A report without what tells where the data came from."""
    report = json.loads(json.dumps(comparison.to_dict()))
    del report["reproduction"], report["audit"]["formats"]
    for system in report["systems"]:
        del system["source"]
    return dict(report)


@pytest.fixture(scope="module")
def plan(files: Path) -> Plan:
    return Plan(
        qrels=str(files / "qrels"),
        runs=(("a", str(files / "a.run")), ("b", str(files / "b.run"))),
        queries=str(files / "queries.tsv"),
        measures=tuple(MEASURES),
        segments=("length:2", "clicks:q2"),
        resamples=99,
    )


@pytest.fixture(scope="module")
def of_files(plan: Plan) -> dict[str, Any]:
    return comparable(compare(plan))


@pytest.mark.parametrize("form", ["dictionary", "tuples", "pandas", "polars", "arrow"])
def test_a_comparison_is_that_of_the_files(files: Path, of_files: dict[str, Any], form: str) -> None:
    table = pd.read_csv(files / "queries.tsv", sep="\t")
    queries = {"dictionary": table.set_index("query_id").to_dict("index"), "tuples": table, "pandas": table}
    queries |= {"polars": pl.from_pandas(table), "arrow": pa.Table.from_pandas(table)}
    make = FORMS[form]
    ours = compare_systems(
        make("qrels", JUDGED),
        {name: make("run", rows) for name, rows in RUNS.items()},
        MEASURES,
        queries=queries[form],
        segments=["length:2", "clicks:q2"],
        resamples=99,
    )
    assert comparable(ours) == of_files


def test_a_comparison_of_paths_and_a_plan(files: Path, plan: Plan, of_files: dict[str, Any]) -> None:
    paths = [files / "a.run", files / "b.run"]
    ours = compare_systems(files / "qrels", paths, MEASURES, plan=dataclasses.replace(plan, measures=()))
    assert comparable(ours) == of_files
    inputs = ours.to_dict()["reproduction"]["plan"]["inputs"]
    assert (inputs["qrels"], inputs["runs"]) == (str(files / "qrels"), {path.stem: str(path) for path in paths})


def test_the_report_of_data_handed_in_is_valid() -> None:
    comparison = compare_systems(
        nested(JUDGED), {name: nested(rows) for name, rows in RUNS.items()}, ["AP"], resamples=99
    )
    schema = importlib.resources.files("rankstats.report").joinpath("report.schema.json").read_text(encoding="utf-8")
    report = json.loads(json.dumps(comparison.to_dict()))
    jsonschema.Draft202012Validator(json.loads(schema)).validate(report)
    assert [system["source"] for system in report["systems"]] == ["run a", "run b"]
    names = [source["name"] for source in report["reproduction"]["inputs"]]
    assert names == ["judgments", "run a", "run b"]
    assert "run a" in str(report_files(comparison)["report.html"])


def test_the_digest_of_data_is_that_of_their_content() -> None:
    rows = RUNS["a"]
    digests = {
        form: read_run(FORMS[form]("run", rows), "a", Policies()).audit.sources[0].sha256
        for form in ("tuples", "records", "pandas", "polars", "arrow", "arrow, in pieces", "pandas, whole ids")
    }
    assert len(set(digests.values())) == 1
    changed = [*rows[:-1], (*rows[-1][:2], rows[-1][2] + 1e-9)]
    assert read_run(changed, "a", Policies()).audit.sources[0].sha256 not in digests.values()
    first, second = nested(rows), nested(changed)
    sources = [read_run(run, "a", Policies()).audit.sources[0] for run in (first, copy.deepcopy(first), second)]
    assert sources[0] == sources[1] != sources[2]


def test_scores_handed_on_to_a_comparison(tmp_path: Path, files: Path) -> None:
    scores = evaluate(files / "qrels", [files / "a.run", files / "b.run"], MEASURES)
    frame = scores.to_frame()
    assert list(frame.columns) == ["query_id", "system", "measure", "value"]
    assert frame.to_dict("records") == scores.to_dicts()
    assert len(frame) == scores.values.size
    one = frame[(frame.query_id == "107") & (frame.system == "b") & (frame.measure == "AP")]
    assert one.value.item() == scores.values[7, 1, 1]
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    from_file = comparable(compare(Plan(scores=(str(path),), measures=tuple(MEASURES), resamples=199)))
    wide = frame[frame.measure == "AP"].pivot(index="query_id", columns="system", values="value").reset_index()
    for data in (
        scores,
        frame,
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        path,
        [str(path)],
        scores.to_dicts(),
    ):
        assert comparable(compare_scores(data, MEASURES, resamples=199)) == from_file
    single, pivoted = (comparable(compare_scores(data, "AP", resamples=199)) for data in (scores, wide))
    assert (single["audit"].pop("rows")["scores"], pivoted["audit"].pop("rows")["scores"]) == (len(frame), 80)
    assert pivoted == single


def test_scores_of_other_programs() -> None:
    qrels, runs = objects("qrels", JUDGED), {name: objects("run", rows) for name, rows in RUNS.items()}
    measures = [ir_measures.RR, ir_measures.P @ 5]
    theirs = {name: list(ir_measures.iter_calc(measures, qrels, run)) for name, run in runs.items()}
    ours = compare_systems(qrels, runs, ["RR", "P@5"], resamples=99)
    compared = compare_scores(theirs, ["RR", "P@5"], resamples=99)
    assert [row.difference for row in compared.differences] == pytest.approx(
        [row.difference for row in ours.differences]
    )
    judged = {query: {doc: int(grade) for doc, grade in of_query.items()} for query, of_query in nested(JUDGED).items()}
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"})
    values = {name: evaluator.evaluate(nested(rows)) for name, rows in RUNS.items()}
    kept = copy.deepcopy(values)
    assert compare_scores(values, resamples=99).measures[0].name == "recip_rank"
    assert values == kept


def test_policies_of_a_call(files: Path) -> None:
    qrels = nested([*JUDGED, ("999", "d", 0)])
    runs = {name: nested(rows) for name, rows in RUNS.items()}
    assert np.isnan(evaluate(qrels, runs, "AP").values[-1, 0, 0])
    assert evaluate(qrels, runs, "AP", policies=Policies.from_preset("trec_eval")).values[-1, 0, 0] == 0
    with pytest.raises(InputError, match="run b: 2 judged queries are missing"):
        evaluate(qrels, {"b": runs["b"]}, "AP", policies=Policies(missing_query="error"))


def test_the_default_measures() -> None:
    assert len(evaluate(nested(JUDGED), {"a": nested(RUNS["a"])}).measures) == 6


def test_duplicates_are_settled_as_in_files() -> None:
    rows = [("q", "d", 1), ("q", "e", 2), ("q", "d", 3)]
    with pytest.raises(InputError, match="run a: row 3: document 'd' is listed twice"):
        evaluate({"q": {"d": 1}}, {"a": rows}, "RR")
    values = {
        policy: evaluate(
            {"q": {"d": 1}}, {"a": rows}, "RR", policies=Policies(duplicate_documents=policy)
        ).values.item()
        for policy in ("first", "best")
    }
    assert values == {"first": 0.5, "best": 1}
    grades = read_judgments([("q", "d", 1), ("q", "d", 2)], Policies(duplicate_judgments="mean")).table.grade
    assert grades.tolist() == [1.5]


def test_truth_values_are_grades() -> None:
    frame = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["d", "e"], "relevance": [True, False]})
    for data in (frame, {"q": {"d": True, "e": np.False_}}, frame.to_dict("records"), pl.from_pandas(frame)):
        assert read_judgments(data, Policies()).table.grade.tolist() == [1, 0]


def test_frames_of_pyterrier() -> None:
    frame = pd.DataFrame(
        {
            "qid": ["1", "1"],
            "docid": [5, 6],
            "docno": ["d", "e"],
            "rank": [0, 1],
            "score": [2.0, 1.0],
            "query": ["x", "x"],
        }
    )
    read = read_run(frame, "a", Policies(ties="rank"))
    assert read.table.doc_ids.to_pylist() == ["d", "e"]
    assert read.table.rank is not None
    assert read.table.rank.tolist() == [0, 1]
    assert read.audit.notes == ("run a has columns docno and docid; the first is read as the document",)


def test_query_tables_handed_in() -> None:
    columns = {"query_id": [7, 8], "query": ["a", None], "new": [True, False], "clicks": [3, 4]}
    for data in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        queries = read_queries(data).table
        assert (queries.query_ids, queries.text, queries.frequency) == (("7", "8"), "query", "clicks")
        assert queries.columns["query"].tolist() == ["a", None]
        assert queries.columns["new"].tolist() == ["true", "false"]
        assert queries.columns["clicks"].tolist() == [3, 4]
    texts = read_queries({"q1": "red shoes", "q2": "blue"}).table
    assert (texts.query_ids, texts.text, texts.columns["text"].tolist()) == (
        ("q1", "q2"),
        "text",
        ["red shoes", "blue"],
    )
    assert read_queries([("q1", "red shoes")]).table.columns["text"].tolist() == ["red shoes"]
    with pytest.raises(InputError, match="queries: row 2: query 'q' is listed twice, first in row 1; remove one"):
        read_queries([("q", "a"), ("q", "b")])


def test_columns_by_name() -> None:
    ratings = pd.DataFrame({"userId": [1, 1], "movieId": [5, 6], "rating": [4.5, 2.0]})
    predicted = ratings.rename(columns={"rating": "estimate"})
    scores = evaluate(
        ratings,
        {"a": predicted},
        "RR(rel=4)",
        columns={"query_id": "userId", "document": "movieId", "score": "estimate"},
    )
    assert (scores.query_ids, scores.values.item()) == (("1",), 1)
    with pytest.raises(PlanError, match="columns 'documents' is unknown; did you mean 'document'"):
        evaluate(ratings, {"a": predicted}, "RR", columns={"documents": "movieId"})


def test_formats_by_name(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("q d 1\nq e 2\n")
    qrels = {"q": {"d": 1}}
    with pytest.raises(InputError, match="--run-format rank"):
        evaluate(qrels, {"a": tmp_path / "a"}, "RR")
    assert evaluate(qrels, {"a": tmp_path / "a"}, "RR", run_format="rank").values.item() == 1
    assert evaluate(qrels, {"a": tmp_path / "a"}, "RR", run_format={"a": "score"}).values.item() == 0.5
    with pytest.raises(PlanError, match="run_format names 'b', which is no run"):
        evaluate(qrels, {"a": tmp_path / "a"}, "RR", run_format={"b": "score"})
    with pytest.raises(PlanError, match=r"run_format 'ranks' is unknown; choose one of .*did you mean 'rank'"):
        evaluate(qrels, {"a": tmp_path / "a"}, "RR", run_format="ranks")


def test_settings_of_a_comparison() -> None:
    runs = {name: nested(rows) for name, rows in RUNS.items()}
    ours = compare_systems(
        nested(JUDGED), runs, MEASURES, primary="RR", baselines=["b"], alpha=0.1, title="x", resamples=99, seed=3
    )
    assert (ours.title, ours.baseline, ours.primary, ours.alpha) == ("x", "b", ("RR",), 0.1)
    assert ours.reproduction["seed"] == 3


def test_undefined_values_become_nothing() -> None:
    scores = evaluate({"q": {"d": 0}}, {"a": {"q": {"d": 1}}}, ["AP", "P@5"])
    assert [row["value"] for row in scores.to_dicts()] == [None, 0]
    assert np.isnan(scores.to_frame().value[0])


def test_judgments_and_rankings_that_were_read(files: Path, values: np.ndarray) -> None:
    qrels = read_judgments(files / "qrels", Policies()).table
    runs = {name: read_run(files / f"{name}.run", name, Policies()).table for name in RUNS}
    assert np.array_equal(evaluate(qrels, runs, MEASURES).values, values, equal_nan=True)
    assert evaluate(qrels, {"x": runs["a"]}, MEASURES).systems == ("x",)


@pytest.mark.shared
def test_a_real_collection_through_pandas() -> None:
    folder = shared("data/odd/leaky-scifact")
    paths = sorted((folder / "runs").iterdir())
    names = ["query_id", "iteration", "doc_id", "relevance"]
    qrels = pd.read_csv(folder / "qrels.txt", sep=r"\s+", names=names)
    columns = ["qid", "q0", "docno", "rank", "score", "tag"]
    runs = {path.name: pd.read_csv(path, sep=r"\s+", names=columns).drop(columns=["tag"]) for path in paths}
    ours = evaluate(qrels, runs, MEASURES)
    assert np.array_equal(ours.values, evaluate(folder / "qrels.txt", paths, MEASURES).values, equal_nan=True)
    assert read_scores(ours).table.scores is ours
