"""Every format gives the same numbers as the TREC form, plain and compressed."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import pytrec_eval

from rankstats.api import evaluate
from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs import read_judgments, read_run
from tests.inputs.naive import naive_lines, rows_of_judgments, rows_of_run
from tests.inputs.written import COMPRESSIONS, Row, judgments_in_every_format, lines, run_in_every_format
from tests.shared import shared

QUERIES = ["007", "7", "1e5", "NA", "q-ü", "12345678901234567890", "nan", "a-b"]
DOCUMENTS = [*(f"d{n}" for n in range(25)), "007", "7", "null", "1.0", "日本", 'q"uote']
MEASURES = ["nDCG@10", "AP", "RR", "P@5", "R@10", "Judged@5"]


def collection() -> tuple[list[Row], list[Row]]:
    rng = random.Random(11)
    judged = [(query, doc, rng.choice([0, 0, 1, 2])) for query in QUERIES for doc in rng.sample(DOCUMENTS, 15)]
    run: list[Row] = []
    for query in QUERIES[:-1]:  # one query is missing
        documents = rng.sample(DOCUMENTS, 20)
        scores = sorted((rng.uniform(-3, 3) for _ in documents), reverse=True)
        run += [(query, doc, score) for doc, score in zip(documents, scores, strict=True)]
    return judged, run


JUDGED, RUN = collection()
JUDGMENT_FILES, RUN_FILES = judgments_in_every_format(JUDGED), run_in_every_format(RUN)


def trec_eval() -> Policies:
    return Policies.from_preset("trec_eval")


def write(folder: Path, content: bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """The values of the TREC form, held against pytrec_eval."""
    folder = tmp_path_factory.mktemp("trec")
    qrels, run = write(folder, JUDGMENT_FILES["trec"], "qrels"), write(folder, RUN_FILES["trec"], "a.run")
    scores = evaluate(qrels, run, MEASURES, policies=trec_eval())
    judged: dict[str, dict[str, int]] = {}
    for query, _, doc, grade in naive_lines(qrels):
        judged.setdefault(query, {})[doc] = int(grade)
    ranked: dict[str, dict[str, float]] = {}
    for query, _, doc, _, score, _ in naive_lines(run):
        ranked.setdefault(query, {})[doc] = float(score)
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"map", "recip_rank", "ndcg_cut_10"}).evaluate(ranked)
    for name, ours in (("ndcg_cut_10", 0), ("map", 1), ("recip_rank", 2)):
        expected = [theirs.get(query, {}).get(name, 0) for query in scores.query_ids]
        assert scores.values[:, 0, ours].tolist() == pytest.approx(expected, abs=1e-12)
    return scores.values


@pytest.mark.parametrize("form", JUDGMENT_FILES)
def test_judgments_in_every_format(tmp_path: Path, values: np.ndarray, form: str) -> None:
    for compress in COMPRESSIONS.values():
        path = write(tmp_path, compress(JUDGMENT_FILES[form]))
        assert rows_of_judgments(read_judgments(path, Policies()).table) == sorted(JUDGED)
    scores = evaluate(path, {"a": write(tmp_path, RUN_FILES["trec"], "run")}, MEASURES, policies=trec_eval())
    assert np.array_equal(scores.values, values, equal_nan=True)


@pytest.mark.parametrize("form", RUN_FILES)
def test_runs_in_every_format(tmp_path: Path, values: np.ndarray, form: str) -> None:
    rows = sorted(RUN)
    for compress in COMPRESSIONS.values():
        path = write(tmp_path, compress(RUN_FILES[form]))
        read = sorted(rows_of_run(read_run(path, "a", Policies()).table))
        if "rank" in form:
            assert [row[:2] for row in read] == [row[:2] for row in rows]
        else:
            assert read == rows
    scores = evaluate(write(tmp_path, JUDGMENT_FILES["trec"], "qrels"), {"a": path}, MEASURES, policies=trec_eval())
    assert np.array_equal(scores.values, values, equal_nan=True)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("named", [True, False])
def test_predictions_for_the_lines_of_a_letor_file(tmp_path: Path, compression: str, named: bool) -> None:
    rng = random.Random(3)
    judged = [(query, doc, float(grade)) for query, doc, grade in JUDGED]
    rng.shuffle(judged)
    scores = [rng.choice([0.25, -1.5, 3e-3, 2.0]) for _ in judged]
    seen: dict[str, int] = {}
    numbered = []
    for query, _, grade in judged:
        numbered.append((query, str(seen.setdefault(query, 0)), grade))
        seen[query] += 1
    rows = judged if named else numbered
    trec = write(tmp_path, lines(((query, 0, doc, grade) for query, doc, grade in rows), " "), "qrels")
    run = write(tmp_path, lines(((q, "Q0", d, 1, s, "t") for (q, d, _), s in zip(rows, scores, strict=True)), " "), "a")
    expected = evaluate(trec, run, MEASURES).values
    letor = lines(((grade, f"qid:{q}", "1:1e-3 7:-2", f"# {d}" if named else "") for q, d, grade in rows), " ")
    qrels = write(tmp_path, COMPRESSIONS[compression](b"# remark\n" + letor), "letor.txt")
    predictions = write(tmp_path, COMPRESSIONS[compression](lines(([s] for s in scores), "")), "predictions.txt")
    assert np.array_equal(evaluate(qrels, {"a": predictions}, MEASURES).values, expected, equal_nan=True)
    for given in (scores, np.array(scores), np.array(scores, np.float64)[:, np.newaxis][:, 0]):
        assert np.array_equal(evaluate(qrels, {"a": given}, MEASURES).values, expected, equal_nan=True)
    # RankLib writes query, number within the query from 0, score
    ranklib = lines(((q, n, s) for (q, n, _), s in zip(numbered, scores, strict=True)), "\t")
    if not named:
        scored = write(tmp_path, ranklib, "ranklib")
        assert np.array_equal(evaluate(qrels, {"a": scored}, MEASURES).values, expected, equal_nan=True)


def test_policies_reach_every_format(tmp_path: Path) -> None:
    qrels = write(tmp_path, b"q1 0 d1 1\nq1 0 d2 0\n", "qrels")
    twice = write(tmp_path, b"q1\td2\t2.5\nq1\td1\t2\nq1\td1\t3\n")
    with pytest.raises(InputError, match=r":3: document 'd1' is listed twice for query 'q1', first in line 2; remove"):
        evaluate(qrels, {"a": twice}, "RR")
    assert evaluate(qrels, {"a": twice}, "RR", policies=Policies(duplicate_documents="first")).values.item() == 0.5
    assert evaluate(qrels, {"a": twice}, "RR", policies=Policies(duplicate_documents="best")).values.item() == 1
    ranks = write(tmp_path, b"query_id,doc_id,rank,score\nq1,d1,2,9\nq1,d2,1,5\n")
    assert evaluate(qrels, {"a": ranks}, "RR").values.item() == 1
    assert evaluate(qrels, {"a": ranks}, "RR", policies=Policies(ties="rank")).values.item() == 0.5
    scores = write(tmp_path, b"query_id,doc_id,score\nq1,d1,9\nq1,d2,5\n")
    with pytest.raises(InputError, match="ties = 'rank' needs the rank column, which the run does not have"):
        evaluate(qrels, {"a": scores}, "RR", policies=Policies(ties="rank"))


@pytest.mark.shared
@pytest.mark.parametrize("name", ["notebooks_small_qrels", "tests_qrels"])
def test_json_judgments_of_ranx(name: str) -> None:
    trec, other = shared(f"data/ir/ranx-test/{name}.trec"), shared(f"data/ir/ranx-test/{name}.json")
    expected = sorted(
        (q, d, float(grade)) for q, of_query in json.loads(other.read_text()).items() for d, grade in of_query.items()
    )
    assert rows_of_judgments(read_judgments(other, Policies()).table) == expected
    if name == "tests_qrels":
        assert rows_of_judgments(read_judgments(trec, Policies()).table) == expected


@pytest.mark.shared
def test_json_run_of_ranx() -> None:
    trec, other = shared("data/ir/ranx-test/tests_run.trec"), shared("data/ir/ranx-test/tests_run.json")
    assert rows_of_run(read_run(other, "a", Policies()).table) == rows_of_run(read_run(trec, "a", Policies()).table)


@pytest.mark.shared
def test_ratings_of_the_search_relevance_workbench() -> None:
    path = shared("data/ecommerce/esci-sample/esci_us_judgments.json.gz")
    judgments = read_judgments(path, Policies())
    assert (judgments.table.n_queries, judgments.audit.rows) == (150, 6_678)
    assert set(judgments.table.grade.tolist()) == {0, 1, 10, 100}
    assert judgments.audit.format == "JSON: judgmentRatings"


@pytest.mark.shared
def test_ratings_of_movielens_by_named_columns() -> None:
    path = shared("data/recsys/ml-latest-small-2016/ratings.csv.gz")
    with pytest.raises(InputError, match=r"no query id column; name it with --id \(there are userId, movieId, rating"):
        read_judgments(path, Policies())
    with pytest.raises(InputError, match=r"no document column; name it with --document \(there are userId, movieId"):
        read_judgments(path, Policies(), id_column="userId")
    judgments = read_judgments(path, Policies(), id_column="userId", document_column="movieId")
    assert (judgments.table.n_queries, judgments.audit.rows) == (671, 100_004)
    assert judgments.audit.format == "table: userId, movieId, rating"


@pytest.mark.slow  # ranx compiles for tens of seconds
def test_ranx_writes_what_is_read(tmp_path: Path) -> None:
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    run = ranx.Run.from_dict({query: {d: s for q, d, s in RUN if q == query} for query in QUERIES[:-1]})
    for kind, ending in (("json", "json"), ("trec", "trec")):
        run.save(str(tmp_path / f"a.{ending}"), kind=kind)
        assert sorted(rows_of_run(read_run(tmp_path / f"a.{ending}", "a", Policies()).table)) == sorted(RUN)
    frame = run.to_dataframe()
    assert sorted(rows_of_run(read_run(frame, "a", Policies()).table)) == sorted(RUN)


def test_types_of_parquet_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = {
        "query_id": pa.array([12345678901234567890, 1], pa.decimal128(20, 0)),
        "doc_id": pa.array(["a", "b"]).dictionary_encode(),
        "score": pa.array([0.1, 2], pa.float32()),
        "text": pa.array([["x"], None]),
    }
    pa.parquet.write_table(pa.table(columns), path)
    read = read_run(path, "a", Policies())
    expected = [("12345678901234567890", "a", float(np.float32(0.1))), ("1", "b", 2.0)]
    assert rows_of_run(read.table) == expected
    assert read.audit.format == "table: query_id, doc_id, score"
