"""Real collections: odd white space, headed ratings, trec_eval output, query logs."""

from __future__ import annotations

import numpy as np
import pytest

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs import read_judgments, read_queries, read_run, read_scores
from tests.inputs.naive import naive_judgments, naive_run, rows_of_judgments, rows_of_run
from tests.shared import shared

pytestmark = pytest.mark.shared


@pytest.mark.parametrize(
    ("name", "queries", "rows"),
    [
        ("ir/trec-web-2012/qrels.txt.gz", 50, 16_055),
        ("ir/trec-covid-r5/qrels.txt.gz", 50, 23_151),
        ("ir/dl-hard-doc/qrels.txt.gz", 50, 8_544),
        ("ir/ranx-test/notebooks_qrels.trec.gz", 5_505, 5_541),
        ("ir/ranx-test/notebooks_small_qrels.trec", 2, 4),
        ("ir/ranx-test/tests_qrels.trec", 2, 5),
        ("ir/ranx-test/tests_qrels.trec.gz", 2, 5),
        ("annotators/rag25-human-vs-llm/qrels.rag25.umbrela2.txt.gz", 22, 10_284),
    ],
)
def test_qrels(name: str, queries: int, rows: int) -> None:
    path = shared(f"data/{name}")
    judgments = read_judgments(path, Policies())
    assert (judgments.table.n_queries, judgments.audit.rows, judgments.audit.blank_lines) == (queries, rows, 0)
    assert rows_of_judgments(judgments.table) == naive_judgments(path)


@pytest.mark.parametrize(
    "name",
    [
        "ir/trec_eval-test/results.test.gz",
        "ir/trec_eval-test/results-302.test",
        "ir/trec_eval-test/prefs.results.test",
        "ir/ranx-test/tests_run.trec",
        "ir/ranx-test/tests_run.trec.gz",
        "ir/trec-covid-r5/runs_small/uab.base.run",
        "ir/trec-web-2012/runs/ql-cata-filtered.run.gz",
    ],
)
def test_runs(name: str) -> None:
    path = shared(f"data/{name}")
    assert rows_of_run(read_run(path, "x", Policies()).table) == naive_run(path)


def test_tags_of_several_words_between_tabs() -> None:
    path = shared("data/ir/trec_eval-test/results.trunc")
    run = read_run(path, "x", Policies())
    assert rows_of_run(run.table) == naive_run(path)  # the tag stands last, so splitting it changes nothing before it


def test_comments_in_qrels_are_counted() -> None:
    plain = read_judgments(shared("data/ir/trec_eval-test/qrels.test.gz"), Policies())
    commented = read_judgments(shared("data/ir/trec_eval-test/qrels.test.with-comments.gz"), Policies())
    assert (commented.audit.comment_lines, commented.audit.blank_lines) == (3, 0)
    expected = [
        (query, document.replace("CR93E-1860", "CR#93E-1860"), grade) if query == "301" else (query, document, grade)
        for query, document, grade in rows_of_judgments(plain.table)
    ]
    assert rows_of_judgments(commented.table) == sorted(expected)


def test_headed_ratings_with_the_query_text_as_id() -> None:
    judgments = read_judgments(shared("data/ecommerce/chorus/Broad_Query_Set_rated.csv.gz"), Policies())
    assert (judgments.table.n_queries, judgments.audit.rows) == (135, 3_668)
    assert "bluetooth speaker" in judgments.table.query_ids
    assert set(judgments.table.grade.tolist()) == {0, 1, 2, 3}


def test_headed_ratings_with_an_empty_cell() -> None:
    path = shared("data/ecommerce/chorus/Broad_Query_Set_unrated.csv.gz")
    with pytest.raises(InputError) as error:
        read_judgments(path, Policies())
    assert str(error.value) == f"{path}:8: rating is empty"


def test_ratings_of_three_raters_need_the_grade_column() -> None:
    path = shared("data/annotators/chorus/Broad_Query_Set_individual_ratings.csv.gz")
    with pytest.raises(
        InputError, match=r"no grade column; name it with --grade \(there are query, docid, .*final_rat"
    ):
        read_judgments(path, Policies())
    judgments = read_judgments(path, Policies(), grade_column="final_rating")
    assert (judgments.table.n_queries, judgments.audit.rows) == (135, 3_188)
    start, end = judgments.table.offsets[judgments.table.query_ids.index("bluetooth speaker") :][:2]
    documents = judgments.table.doc_ids[start:end].to_pylist()
    assert judgments.table.grade[start + documents.index("1993197")] == 3


@pytest.mark.parametrize("collection", ["dl-hard-passage", "dl-hard-doc"])
def test_trec_eval_output(collection: str) -> None:
    folder = shared(f"data/ir/{collection}/author_eval")
    paths = sorted(folder.iterdir())
    read = read_scores(paths)
    scores = read.table.scores
    assert scores.systems == tuple(path.name.removesuffix(".eval.gz") for path in paths)
    assert len(scores.query_ids) == 50
    assert list(scores.query_ids) == sorted(scores.query_ids)
    assert read.audit.mean_rows == 93 * len(paths)
    assert read.audit.comment_lines == 51 * len(paths)  # relstring of 50 queries, and runid
    names = [measure.name for measure in scores.measures]
    assert names[:4] == ["num_ret", "num_rel", "num_rel_ret", "map"]
    means = scores.values[:, 0, names.index("num_ret")].mean()
    assert means == 1000
    assert not any(read.table.missing.values())


def test_trec_eval_output_without_q() -> None:
    path = shared("data/ir/trec_eval-test/out.test")
    with pytest.raises(InputError, match=r"no per-query value; the rows of 'all' are means \(trec_eval needs -q\)"):
        read_scores(path)


def test_all_submissions_of_trec_covid() -> None:
    read = read_scores(shared("data/ir/trec-covid-r5/perquery_all_submissions.tsv.gz"))
    scores = read.table.scores
    assert scores.values.shape == (50, 126, 5)
    assert [measure.name for measure in scores.measures] == ["in_run", "AP", "nDCG@10", "RR", "P@10"]
    at = (scores.query_ids.index("2"), scores.systems.index("BRPHJ_BM25"), 1)
    assert scores.values[at] == 0.163954


def test_query_log() -> None:
    queries = read_queries(shared("data/querylog/zzquerylog/query_popularity.tsv")).table
    assert len(queries.query_ids) == 500
    assert (queries.text, queries.frequency) == ("query", "total_clicks")
    assert queries.columns["query"][:2].tolist() == ["1 dezembro", "academica"]
    assert queries.columns["total_clicks"][:2].tolist() == [3349, 7288]
    assert queries.columns["locale"].dtype == object


def test_a_column_called_frequency_that_holds_words_is_an_attribute() -> None:
    queries = read_queries(shared("data/querylog/etsy-head-torso-tail/final_queries.csv")).table
    assert (queries.text, queries.frequency, len(queries.query_ids)) == ("Query", None, 1000)
    values, counts = np.unique(queries.columns["Frequency"].astype(str), return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {"Head": 500, "Tail": 250, "Torso": 250}


def test_topics_without_a_header_row() -> None:
    queries = read_queries(shared("data/ir/dl-hard-passage/topics.tsv")).table
    assert (queries.text, queries.frequency, len(queries.query_ids)) == ("text", None, 50)
    assert queries.query_ids[0] == "915593"
    assert queries.columns["text"][0] == "what types of food can you cook sous vide"


def test_six_columns_without_a_header_row() -> None:
    path = shared("data/ir/dl-hard-passage/query_annotations.tsv")
    with pytest.raises(InputError, match=r"no header row \(6 tab-separated cells, none a known column name\)"):
        read_queries(path)


def test_xml_topics() -> None:
    with pytest.raises(InputError, match="is JSON or XML, not a table"):
        read_queries(shared("data/ir/trec-covid-r5/topics.xml"))
