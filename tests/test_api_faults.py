"""What is wrong with data handed in from Python ends in one error that names the data and the row."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rankstats import InputError, PlanError, compare_systems, evaluate

QRELS = {f"q{n}": {"d1": 1, "d2": 0} for n in range(12)}
ROW = namedtuple("ROW", "query_id doc_id score")
GOOD = {"query_id": ["q", "q"], "doc_id": ["d", "e"], "score": [1.0, 2.0]}
LOST = "has lost digits as a floating-point number; give ids as text"
FAULTS: dict[str, tuple[Any, str]] = {
    "NaN in a frame": (pd.DataFrame(GOOD | {"score": [1, np.nan]}), "row 2: score is empty"),
    "NaN in Polars": (pl.DataFrame(GOOD | {"score": [1.0, np.nan]}), "row 2: score nan is not a finite number"),
    "null in Polars": (pl.DataFrame(GOOD | {"score": [1.0, None]}), "row 2: score is empty"),
    "infinity": (pd.DataFrame(GOOD | {"score": [1, -np.inf]}), "row 2: score -inf is not a finite number"),
    "words": (pd.DataFrame(GOOD | {"score": ["1", "x"]}), "row 2: score 'x' is not a finite number"),
    "missing document": (pd.DataFrame(GOOD | {"doc_id": ["d", None]}), "row 2: doc_id is empty"),
    "missing query": (pd.DataFrame(GOOD | {"query_id": [7, np.nan]}), "row 2: query_id is empty"),
    "NA": (pd.DataFrame(GOOD | {"query_id": pd.array([7, None], "Int64")}), "row 2: query_id is empty"),
    "blank query": (pl.DataFrame(GOOD | {"query_id": ["q", " "]}), "row 2: query_id is empty"),
    "twice": (
        pa.table(GOOD | {"doc_id": ["d", "d"]}),
        "row 2: document 'd' is listed twice for query 'q', first in row 1; remove one, or set duplicate_documents",
    ),
    "whole number and text": (
        pd.DataFrame(GOOD | {"query_id": pd.Series([1, "1"], dtype=object)}),
        "row 2: query_id '1' and 1 (row 1) are one as text; give ids of one kind",
    ),
    "white space": (
        pd.DataFrame(GOOD | {"query_id": ["q", "q "]}),
        "row 2: query_id 'q ' and 'q' (row 1) are one without white space at their ends; give ids without it",
    ),
    "lost digits": (pd.DataFrame(GOOD | {"doc_id": [2.0**53, 1]}), f"row 1: doc_id 9007199254740992 {LOST}"),
    "no columns": (pd.DataFrame({"a": [1]}), "no query id column; name it with columns={'query_id': …} (there are a)"),
    "no document": (
        pd.DataFrame({"query_id": [1], "score": [1]}),
        "no document column; name it with columns={'document': …} (there are query_id, score)",
    ),
    "no score": (
        pd.DataFrame({"query_id": [1], "doc_id": [1]}),
        "no score or rank column; name it with columns={'score': …} (there are query_id, doc_id)",
    ),
    "one name twice": (
        pd.DataFrame([[1, 2, 3, 4]], columns=["query_id", "doc_id", "score", "score"]),
        "cannot be read as a frame (Expected unique column names",
    ),
    "no rows": (pd.DataFrame(GOOD).head(0), "there are no rows"),
    "empty list": ([], "there are no rows"),
    "empty dictionary": ({}, "lists no document"),
    "queries without documents": ({"q": {}}, "lists no document"),
    "NaN in a dictionary": ({"q": {"d": float("nan")}}, "score nan of query 'q', document 'd' is not a finite number"),
    "word in a dictionary": ({"q": {"d": "x"}}, "score 'x' of query 'q', document 'd' is not a finite number"),
    "number beyond all": ({"q": {"d": 10**400}}, "score 1000000000000000000000000000000000000000… of query 'q', docum"),
    "a number of many digits": ({"q": {"d": 10**5000}}, "score a number of thousands of digits of query 'q', document"),
    "None in a dictionary": ({"q": {"d": None}}, "score None of query 'q', document 'd' is not a finite number"),
    "no query id": ({None: {"d": 1}}, "a query id is missing"),
    "no document id": ({"q": {"": 1}}, "a document id of query 'q' is missing"),
    "an id that is none": ({"q": {("d", 1): 1}}, "a document id of query 'q' ('d', 1) is no id; ids are text or whole"),
    "a broken number as id": ({0.5: {"d": 1}}, "a query id 0.5 is no id; ids are text or whole numbers"),
    "a truth value as id": ({True: {"d": 1}}, "a query id True is no id; ids are text or whole numbers"),
    "a large float as id": ({1e17: {"d": 1}}, f"a query id 1e+17 {LOST}"),
    "ids that merge": ({"q": {1: 1, "1": 2}}, "two documents of query 'q' are '1' as text; ids are text"),
    "queries that merge": (
        {1: {"d": 1}, "1 ": {"d": 1}},
        "two queries are '1' as text (1 and '1 '); put them together",
    ),
    "half a pair": ({"q": {"\ud800": 1}}, r"document id '\ud800' holds half a surrogate pair, which is no character"),
    "half a pair in rows": ([ROW("q", "\ud800", 1)], r"row 1: doc_id '\ud800' cannot be written as UTF-8 text"),
    "lists in a dictionary": ({"q": ["d"]}, "query 'q' has a list where a dictionary {document: score} is expected"),
    "NaN in rows": ([ROW("q", "d", 1.0), ROW("q", "e", float("nan"))], "row 2: score nan is not a finite number"),
    "None in rows": ([ROW("q", "d", 1.0), ROW(None, "e", 2)], "row 2: query_id is empty"),
    "rows of two kinds": ([ROW("q", "d", 1), ("q", "e", 1)], "row 2: a value of type tuple where row 1 is a value of"),
    "short tuples": ([("q", "d", 1), ("q", "e")], "row 2: 2 items where 3 are expected (query_id, doc_id, score)"),
    "words as rows": (
        ["q d 1"],
        "rows are a value of type str, without query_id and doc_id; give a path, a dictionary",
    ),
    "lists in rows": (
        [ROW("q", ["d"], 1.0)],
        "row 1: doc_id holds a value of type list; a text or a number is expected",
    ),
    "a number": (5, "a value of type int cannot be read; give a path, a dictionary"),
    "nothing": (None, "a value of type NoneType cannot be read; give a path"),
    "predictions": (np.ones(3), "holds numbers alone, as predictions for the lines of a LETOR file, but the judgments"),
    "several systems": (
        pd.DataFrame(GOOD | {"system": ["a", "b"]}),
        "holds 2 systems in column system (a, b); give one",
    ),
    "ranks below 0": (
        pd.DataFrame({"qid": [1], "docno": [2], "rank": [-1]}),
        "row 1: rank -1 is below 0; is this a score",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_in_runs(fault: str) -> None:
    data, message = FAULTS[fault]
    with pytest.raises(InputError) as error:
        evaluate({"q": {"d": 1}}, {"new": data}, "RR")
    assert str(error.value).startswith(f"run new: {message}")
    assert "Traceback" not in str(error.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "there are no judgments"),
        ({"q": {"d": float("nan")}}, "grade nan of query 'q', document 'd' is not a finite number"),
        (
            [ir_measures.Qrel("q", "d", 1), ir_measures.Qrel("q", "d", 0)],
            "row 2: document 'd' of query 'q' is judged twice",
        ),
        (pd.DataFrame({"qid": [1], "docno": [1], "label": [np.nan]}), "row 1: label is empty"),
        (
            pd.DataFrame(GOOD | {"rank": [1, 2]}),
            "columns score and rank are those of a run; are --qrels and the run swapped?",
        ),
        ([], "there are no rows"),
    ],
)
def test_faults_in_judgments(data: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        evaluate(data, {"a": {"q": {"d": 1}}}, "RR")
    assert str(error.value).startswith(f"judgments: {message}")


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ({"q1": {"d1": 1.0}}, "run q1 is a mapping of documents to scores; runs are a mapping of names to runs"),
        ({1: {"q1": {"d1": 1.0}}}, "the name of a run is a text, not 1"),
        ([{"q1": {"d1": 1.0}}], "runs are a mapping of names to runs"),
        ([], "runs are a mapping of names to runs"),
        (None, "runs are a mapping of names to runs"),
    ],
)
def test_runs_that_are_none(runs: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        evaluate({"q1": {"d1": 1}}, runs, "RR")
    assert str(error.value).startswith(message)


def test_settings_that_are_none() -> None:
    runs = {"a": QRELS, "b": QRELS}
    with pytest.raises(PlanError, match="setting 'resample' is unknown; did you mean 'resamples'"):
        compare_systems(QRELS, runs, "AP", resample=99)
    with pytest.raises(PlanError, match="setting 'measure' is unknown"):
        compare_systems(QRELS, runs, measure=["AP"])
    with pytest.raises(InputError, match="run b: answers none of the 1 judged queries"):
        evaluate({"7": {"d": 1}}, {"a": {7: {"d": 1}}, "b": {8: {"d": 1}}}, "RR")
