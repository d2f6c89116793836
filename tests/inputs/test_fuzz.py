"""Random files: what is well formed reads back; what is not ends in values or in one error with its line."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import re
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs import (
    ScoresInput,
    judgments_from_dict,
    ranking_from_dict,
    read_judgments,
    read_queries,
    read_run,
    read_scores,
)
from rankstats.inputs.fields import Columns
from rankstats.measures import evaluate_systems, parse_measures
from rankstats.tables import Queries, Ranking, make_hits
from tests.inputs.naive import rows_of_judgments, rows_of_run
from tests.inputs.written import Row, judgments_in_every_format, run_in_every_format, zstd

SECONDS = 20
"""No file may take longer, on the slowest machine."""

IN_ONE_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

ids = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=" \ufeff#"), min_size=1, max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False)
rows = st.lists(st.tuples(ids, ids, numbers), min_size=1, max_size=12, unique_by=lambda row: (row[0], row[1]))
between = st.text(" \t", min_size=1, max_size=3)
around = st.text(" \t", max_size=2)
line_end = st.sampled_from(["\n", "\r\n", "\n\n", "\n \t\n", "\r\n\r\n"])


@IN_ONE_FOLDER
@given(rows=rows, data=st.data(), mark=st.booleans(), plain=st.sampled_from([None, " ", "\t"]))
def test_run_round_trip(
    tmp_path: Path, rows: list[tuple[str, str, float]], data: st.DataObject, mark: bool, plain: str | None
) -> None:
    def line(fields: list[str]) -> str:
        if plain:
            return plain.join(fields) + "\n"
        text = data.draw(around) + fields[0]
        for field in fields[1:]:
            text += data.draw(between) + field
        return text + data.draw(around) + data.draw(line_end)

    content = "".join(line([query, "Q0", document, "1", repr(score), "t"]) for query, document, score in rows)
    path = tmp_path / "a.run"
    path.write_bytes(("\ufeff" * mark + content).encode())
    run = read_run(path, "a", Policies())
    assert rows_of_run(run.table) == rows
    assert run.audit.blank_lines == sum(not text.strip() for text in content.split("\n")[:-1])


@IN_ONE_FOLDER
@given(rows=rows, order=st.randoms(use_true_random=False))
def test_judgments_round_trip_in_any_order(
    tmp_path: Path, rows: list[tuple[str, str, float]], order: random.Random
) -> None:
    path = tmp_path / "qrels"
    path.write_text("".join(f"{query} 0 {document} {grade!r}\n" for query, document, grade in rows), "utf-8")
    expected = sorted(rows)
    assert rows_of_judgments(read_judgments(path, Policies()).table) == expected
    order.shuffle(rows)
    path.write_text("".join(f"{query}\t0  {document} {grade!r}\r\n" for query, document, grade in rows), "utf-8")
    assert rows_of_judgments(read_judgments(path, Policies()).table) == expected


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


@IN_ONE_FOLDER
@given(
    texts=st.lists(
        st.tuples(ids, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=12)),
        min_size=1,
        max_size=8,
        unique_by=lambda row: row[0].strip(),
    )
)
def test_query_texts_round_trip(tmp_path: Path, texts: list[tuple[str, str]]) -> None:
    path = tmp_path / "queries.csv"
    content = "qid,text\n" + "".join(f"{quoted(query)},{quoted(text)}\n" for query, text in texts)
    path.write_bytes(content.encode())
    if any(not query.strip() for query, _ in texts):
        return  # an id of Unicode white space alone counts as empty
    queries = read_queries(path).table
    assert queries.query_ids == tuple(query.strip() for query, _ in texts)
    assert queries.columns["text"].tolist() == [text or None for _, text in texts]


RUN = "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1e-3 t\nq2\tQ0\td1\t1\t-7\tt\n"
ROWS: list[Row] = [("q1", "d1", 2), ("q1", "d2", 1), ("q1", "d3", 0), ("q2", "d1", 1)]
JUDGMENT_FILES, RUN_FILES = judgments_in_every_format(ROWS), run_in_every_format(ROWS)
LETOR = "2 qid:q1 1:0.5 # d1\n0 qid:q1 1:0.25 # d2\n1 qid:q2 1:1e-3 # d1\n"
LISTED = Columns(
    ("q1", "q2"), np.array([0, 0, 1], np.int32), pa.chunked_array([["d1", "d2", "d1"]]), (np.zeros(3),), blank_lines=0
)
POLICIES = Policies()
JUDGMENTS = judgments_from_dict({"q1": {"d1": 2, "d2": 0, "d4": 1}, "q2": {"d1": 1, "d5": 0}})
RANKING = ranking_from_dict("a", {"q1": {"d1": 1.0, "d2": 2.0, "d3": 0.5}, "q2": {"d9": 1.0, "d1": 0.5}})
BOUNDED = parse_measures(["P@5", "R@5", "AP", "RR", "nDCG@10", "nDCG(dcg='exp-log2')@10", "Judged@5", "Rprec"])


def run(path: Path, **options: Any) -> Any:
    return read_run(path, "a", POLICIES, **options)


def judgments(path: Path) -> Any:
    return read_judgments(path, POLICIES)


READERS: dict[str, tuple[str | bytes, Callable[[Path], Any]]] = {
    "run": (RUN, run),
    "run with ranks": (RUN, lambda path: read_run(path, "a", Policies(ties="rank", duplicate_documents="best"))),
    "run of ranks": (RUN_FILES["rank"], run),
    "run of named ranks": (RUN_FILES["rank"], lambda path: run(path, form="rank")),
    "run of scores": ("q1 d1 2.5\nq1 d2 1\nq2 d1 -3\n", run),
    "run in CSV": (RUN_FILES["quoted csv of scores"], run),
    "run in TSV": (RUN_FILES["tsv of ranks"], run),
    "run in JSON lines": (RUN_FILES["json lines of scores"], run),
    "run in a JSON array": (RUN_FILES["json array of scores"], run),
    "run in Parquet": (RUN_FILES["parquet of scores"], run),
    "run in JSON": (RUN_FILES["json, indented"], run),
    "predictions": ("0.5\n1e-3\n-7\n", lambda path: run(path, listed=LISTED)),
    "run in gzip": (gzip.compress(RUN.encode(), mtime=0), run),
    "run in bzip2": (bz2.compress(RUN.encode()), run),
    "run in xz": (lzma.compress(RUN.encode()), run),
    "run in zstd": (zstd(RUN.encode()), run),
    "qrels": ("q1 0 d1 1\nq1 0 d2 0.5\n# remark\nq2 0 d1 -1\n", judgments),
    "qrels of three columns": ("q1 d1 1\nq1 d2 0\n# remark\nq2 d1 -1\n", judgments),
    "ratings": ('query,docid,rating\n"a, b",d1,1\nc,d2,0\n', judgments),
    "qrels in TSV": (JUDGMENT_FILES["tsv"], judgments),
    "qrels in JSON lines": (JUDGMENT_FILES["json lines"], judgments),
    "qrels in Parquet": (JUDGMENT_FILES["parquet"], judgments),
    "qrels in JSON": (JUDGMENT_FILES["json"], judgments),
    "ratings of OpenSearch": (JUDGMENT_FILES["opensearch ratings"], judgments),
    "LETOR": (LETOR, judgments),
    "queries": ("qid\tquery\tclicks\n1\tred shoes\t3\n2\t\t\n", read_queries),
    "queries as JSON": ('{"qid": 1, "query": "a", "clicks": 3}\n{"qid": "2"}\n', read_queries),
    "queries as a JSON array": ('[{"qid": 1, "query": "a", "clicks": 3},\n {"qid": "2"}]', read_queries),
    "long scores": ("query_id,system,measure,value,weight\nq1,a,AP,0.5,1\nq1,b,AP,,1\n", read_scores),
    "wide scores": ("query_id,a,b\nq1,0.5,1\nq2,,0\n", read_scores),
    "trec_eval": ("map \tq1\t0.5\nmap \tq2\t1\nmap \tall\t0.75\n", read_scores),
    "ir_measures": ("q1\tAP(rel=2)\t0.5\nq2\tP@5\t1\nall\tP@5\t0.75\n", read_scores),
    "pytrec_eval": ('{"q1": {"map": 0.5, "P_5": 1},\n "q2": {"map": 1e-3}}', read_scores),
}
PIECES = [
    "",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    ",",
    ";",
    '"',
    "#",
    "nan",
    "1e999",
    "-",
    "0x1",
    "é",
    "\ufeff",
    "\0",
    "{",
    "[]",
    "\\ud800",
    "1,234",
    "007",
    "1e101",
]


def mutated(rng: random.Random, content: str | bytes) -> bytes:
    """The content with a few pieces put in, taken out or exchanged, and sometimes a byte."""
    text = content if isinstance(content, str) else content.decode("latin-1")
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice([0, 0, 1, 1, 2, 8]))
        text = text[:start] + rng.choice(PIECES) + text[end:]
    stored = bytearray(text.encode() if isinstance(content, str) else text.encode("latin-1", "replace"))
    if stored and rng.random() < 0.1:
        stored[rng.randrange(len(stored))] = rng.randrange(256)
    return bytes(stored)


def table_or_fault(read: Callable[[Any], Any], data: Any) -> Any:
    try:
        return read(data).table
    except InputError as error:
        return error


def check_values(table: Any) -> None:
    """Whatever was read has finite numbers, and no measure beyond its bounds."""
    if isinstance(table, ScoresInput):
        assert not (np.abs(table.scores.values) > 1e100).any()
        return
    if isinstance(table, Queries):
        assert len(set(table.query_ids)) == len(table.query_ids) > 0
        return
    assert np.isfinite(table.score if isinstance(table, Ranking) else table.grade).all()
    judged, ranking = (JUDGMENTS, table) if isinstance(table, Ranking) else (table, RANKING)
    if judged.grade.max(initial=0) > 10:
        return  # exponential gains of such grades are refused
    values = evaluate_systems(BOUNDED, judged, [make_hits(judged, ranking, POLICIES)], POLICIES)
    assert not ((values < 0) | (values > 1 + 1e-12)).any()


def check_mutations(name: str, path: Path, number: int) -> None:
    content, read = READERS[name]
    rng = random.Random(name)
    faults = 0
    for _ in range(number):
        stored = mutated(rng, content)
        path.write_bytes(stored)
        start = time.monotonic()
        got = table_or_fault(read, path)
        assert time.monotonic() - start < SECONDS
        if not isinstance(got, InputError):
            check_values(got)
            continue
        faults += 1
        assert got.path == str(path)
        assert got.line is None or 1 <= got.line <= stored.count(b"\n") + stored.count(b"\r") + 1
        assert not re.search(r"Traceback|object at 0x", str(got))
        assert len(str(got)) < len(str(path)) + 400
    assert 0.1 < faults / number <= 1


def test_what_is_read_of_mutated_runs_is_what_the_lines_say(tmp_path: Path) -> None:
    content = RUN + "blue shoe\tQ0\td\t1\t3\tt\n"
    rng = random.Random(5)
    path = tmp_path / "a.run"
    read = 0
    for turn in range(800):
        stored = mutated(rng, content if turn % 2 else content.replace(" ", "\t", 15))
        path.write_bytes(stored)
        if isinstance(table_or_fault(run, path), InputError):
            continue
        read += 1
        text = stored.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        fields = [
            line.split() if len(line.split()) == 6 else [field.strip() for field in line.split(b"\t")]
            for line in text.split(b"\n")
            if line.strip()
        ]
        expected = [(query.decode(), document.decode(), float(score)) for query, _, document, _, score, _ in fields]
        assert rows_of_run(read_run(path, "a", Policies()).table) == expected
    assert read > 50


@pytest.mark.parametrize("name", READERS)
def test_mutated_files_end_in_values_or_one_error(tmp_path: Path, name: str) -> None:
    check_mutations(name, tmp_path / "file", 120)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_many_mutated_files_end_in_values_or_one_error(tmp_path: Path, name: str) -> None:
    check_mutations(name, tmp_path / "file", 800)


@pytest.mark.study
@pytest.mark.parametrize("name", READERS)
def test_a_hundred_thousand_mutated_files(tmp_path: Path, name: str) -> None:
    check_mutations(name, tmp_path / "file", 1 + 100_000 // len(READERS))


CELLS = [
    *("q1", "q2", "d1", "d2", " d1", "", "nan", "1e999", "7", "é", "\ud800", "x" * 99),
    *(0, 1, -1, 7, 0.5, 1e17, -0.0, 10**400, True, None, float("nan"), float("inf"), 2.0),
    *(
        b"d1",
        b"\xe9",
        ("q", 1),
        ["d"],
        {"a": 1},
        object(),
        1j,
        Decimal("NaN"),
        Fraction(1, 3),
        pd.NA,
        pd.NaT,
        np.int64(7),
    ),
]


def odd_data(rng: random.Random) -> Any:
    """A run, or nearly one, of odd cells."""

    def cell(usual: list[Any]) -> Any:
        return rng.choice(CELLS) if rng.random() < 0.15 else rng.choice(usual)

    def hashable(usual: list[Any]) -> Any:
        value = cell(usual)
        return value if value.__hash__ else str(value)

    rows = [
        (hashable(["q1", "q2"]), hashable([f"d{n}" for n in range(30)]), cell([0.5, 1, 2.5, -3]))
        for _ in range(rng.randint(0, 4))
    ]
    kind = rng.randrange(6)
    if kind == 0:
        return {query: {doc: score} for query, doc, score in rows}
    if kind == 1:
        return {query: cell([{"d1": 1.0}]) for query, *_ in rows}
    names = ["query_id", "doc_id", "score"]
    records = [dict(zip(names, row, strict=True)) for row in rows]
    if kind == 2:
        return [{name: value for name, value in record.items() if rng.random() < 0.95} for record in records]
    if kind == 3:
        return pd.DataFrame({name: pd.Series([record[name] for record in records], dtype=object) for name in names})
    return rows if kind == 4 else rng.choice([cell for cell in CELLS if not isinstance(cell, str)])


def check_odd_data(number: int) -> None:
    rng = random.Random(12)
    faults = 0
    for _ in range(number):
        got = table_or_fault(lambda data: read_run(data, "a", POLICIES), odd_data(rng))
        if not isinstance(got, InputError):
            check_values(got)
            continue
        faults += 1
        assert str(got).startswith("run a: ")
        assert not re.search(r"Traceback|object at 0x", str(got))
    assert 0.1 < faults / number < 0.95


def test_odd_data_end_in_values_or_one_error() -> None:
    check_odd_data(1_500)


@pytest.mark.slow
def test_many_odd_data_end_in_values_or_one_error() -> None:
    check_odd_data(20_000)
