"""Random files: what is well formed reads back; what is not ends in values or in one error with its line."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs import read_judgments, read_queries, read_run, read_scores
from tests.inputs.naive import rows_of_judgments, rows_of_run

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
READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "run": (RUN, lambda path: read_run(path, "a", Policies())),
    "run with ranks": (RUN, lambda path: read_run(path, "a", Policies(ties="rank", duplicate_documents="best"))),
    "qrels": ("q1 0 d1 1\nq1 0 d2 0.5\n# remark\nq2 0 d1 -1\n", lambda path: read_judgments(path, Policies())),
    "ratings": ('query,docid,rating\n"a, b",d1,1\nc,d2,0\n', lambda path: read_judgments(path, Policies())),
    "queries": ("qid\tquery\tclicks\n1\tred shoes\t3\n2\t\t\n", read_queries),
    "queries as JSON": ('{"qid": 1, "query": "a", "clicks": 3}\n{"qid": "2"}\n', read_queries),
    "long scores": ("query_id,system,measure,value,weight\nq1,a,AP,0.5,1\nq1,b,AP,,1\n", read_scores),
    "wide scores": ("query_id,a,b\nq1,0.5,1\nq2,,0\n", read_scores),
    "trec_eval": ("map \tq1\t0.5\nmap \tq2\t1\nmap \tall\t0.75\n", read_scores),
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


def mutated(rng: random.Random, content: str) -> bytes:
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(content) + 1)
        end = min(len(content), start + rng.choice([0, 0, 1, 1, 2, 8]))
        content = content[:start] + rng.choice(PIECES) + content[end:]
    stored = bytearray(content.encode())
    if stored and rng.random() < 0.1:
        stored[rng.randrange(len(stored))] = rng.randrange(256)
    return bytes(stored)


def fault(read: Callable[[Path], Any], path: Path) -> InputError | None:
    try:
        read(path)
    except InputError as error:
        return error
    return None


def check_mutations(name: str, path: Path, number: int) -> None:
    content, read = READERS[name]
    rng = random.Random(name)
    faults = 0
    for _ in range(number):
        stored = mutated(rng, content)
        path.write_bytes(stored)
        error = fault(read, path)
        if error is None:
            continue
        faults += 1
        assert error.path == str(path)
        assert error.line is None or 1 <= error.line <= stored.count(b"\n") + stored.count(b"\r") + 1
        assert not re.search(r"Arrow|Traceback|object at 0x", str(error))
    assert 0.1 < faults / number < 0.99


def test_what_is_read_of_mutated_runs_is_what_the_lines_say(tmp_path: Path) -> None:
    content = RUN + "blue shoe\tQ0\td\t1\t3\tt\n"
    rng = random.Random(5)
    path = tmp_path / "a.run"
    read = 0
    for turn in range(800):
        stored = mutated(rng, content if turn % 2 else content.replace(" ", "\t", 15))
        path.write_bytes(stored)
        if fault(lambda file: read_run(file, "a", Policies()), path):
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
    check_mutations(name, tmp_path / "file", 400)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_many_mutated_files_end_in_values_or_one_error(tmp_path: Path, name: str) -> None:
    check_mutations(name, tmp_path / "file", 4_000)
