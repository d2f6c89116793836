"""Lines split with array operations: what is read equals plain splitting, and what is not plain is refused."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.conventions import Policies
from rankstats.inputs import fields
from rankstats.inputs.files import Room, StoredFile
from rankstats.inputs.layout import Block, Layout
from rankstats.inputs.runs import read_run
from rankstats.inputs.split_lines import split_block
from rankstats.tables.arrow_arrays import text_array
from rankstats.tables.text_hashes import hashes_of_ends
from tests.inputs.test_fuzz import mutated

Row = tuple[str, str, str]
"""Query, document and score."""
LAYOUT = Layout("", ("qid", "Q0", "docid", "rank", "score", "tag"), 0, 2, (4, 3), 4, 3, "", is_hashed=True)
WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30)
"""Texts of other lengths than those of a word of eight bytes, and of that."""
NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=3).map(str),
    st.sampled_from(["0", "-0", "-0.0", ".5", "5.", "-.5", "007", "1e3", "99999999", "999999999", "0.00000001"]),
)
FIXED = st.integers(0, 7).flatmap(
    lambda places: st.lists(
        st.decimals(-(10 ** (8 - places)) + 1, 10 ** (8 - places) - 1, places=places).map(lambda number: f"{number:f}"),
        min_size=1,
        max_size=12,
    )
)


def split(content: bytes, separator: bytes = b" ", stale: bytes = b"") -> Block | None:
    """Split what is written into a room that held something else before."""
    room = Room()
    if stale:
        room.fill(stale, 0, len(stale))
    room.fill(content, 0, len(content))
    return split_block(room, separator[0], LAYOUT)


def lines(rows: list[Row], separator: str = " ") -> bytes:
    return "".join(separator.join((q, "Q0", d, "1", score, "tag")) + "\n" for q, d, score in rows).encode()


def assert_is(block: Block | None, rows: list[Row]) -> None:
    assert block is not None
    assert [block.queries[code] for code in block.query.tolist()] == [row[0] for row in rows]
    assert len(set(block.queries)) == len(block.queries)
    assert block.doc_ids.to_pylist() == [row[1] for row in rows]
    expected = np.array([float(row[2]) for row in rows])
    assert block.numbers[0].tobytes() == expected.tobytes()
    assert block.numbers[1].tolist() == [1.0] * len(rows)
    assert block.hashes is not None
    assert block.hashes.tolist() == hashes_of_ends(text_array([row[1] for row in rows])).tolist()


@given(
    st.lists(st.tuples(WORDS, WORDS, NUMBERS), min_size=1, max_size=12),
    st.sampled_from([" ", "\t"]),
    st.binary(max_size=900),
)
def test_any_plain_lines_are_split(rows: list[Row], separator: str, stale: bytes) -> None:
    """Texts and numbers of any length, in a room with the remains of another piece."""
    assert_is(split(lines(rows, separator), separator.encode(), stale), rows)


@given(FIXED, WORDS, st.integers(0, 3))
def test_numbers_of_the_same_decimals(scores: list[str], query: str, repeats: int) -> None:
    """The short way for numbers gives what Python makes of the text, to the last bit."""
    rows = [(query, f"d{i}", score) for i, score in enumerate(scores * (1 + repeats))]
    assert_is(split(lines(rows)), rows)


def test_every_short_number() -> None:
    """All numbers of three decimals in a range, and of none, to the last bit."""
    for scores in (
        [f"{i / 1000:.3f}" for i in range(-20_000, 20_000)],
        [str(i) for i in range(99_990_000, 100_000_000)],
    ):
        rows = [("q", str(i), score) for i, score in enumerate(scores)]
        assert_is(split(lines(rows)), rows)


def test_a_query_that_returns_has_one_number() -> None:
    rows = [("a", "1", "1"), ("b" * 9, "1", "1"), ("a", "2", "1"), ("b" * 8 + "c", "1", "1"), ("b" * 9, "2", "1")]
    assert_is(split(lines(rows)), rows)


PLAIN = b"q Q0 d1 1 1.5 t\nq Q0 d2 1 0.5 t\n"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(PLAIN[:-1], id="no newline at the end"),
        pytest.param(PLAIN + b"q", id="a rest behind the last newline"),
        pytest.param(PLAIN.replace(b"d1", b"d\xc3\xbc"), id="beyond ASCII"),
        pytest.param(PLAIN.replace(b"d1", b"\xff"), id="no UTF-8"),
        pytest.param(PLAIN.replace(b" d1", b"  d1"), id="two spaces"),
        pytest.param(PLAIN.replace(b" d1", b"\td1"), id="a tab among spaces"),
        pytest.param(PLAIN.replace(b"d1", b"d\x001"), id="NUL"),
        pytest.param(PLAIN.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(b" " + PLAIN, id="a space before"),
        pytest.param(PLAIN.replace(b" t\n", b" t \n", 1), id="a space behind"),
        pytest.param(PLAIN.replace(b"\n", b"\n\n", 1), id="a blank line"),
        pytest.param(PLAIN.replace(b" t\nq", b" t q\nq"), id="a field too many"),
        pytest.param(b"q Q0 d1 1 1.5\nq Q0 d2 1 0.5 t u\n", id="a field moved to the next line"),
        pytest.param(b"q Q0 d1 1 1.5 t q\nQ0 d2 1 0.5 t\n", id="a field moved to the line before"),
        *(
            pytest.param(PLAIN.replace(b"1.5", score), id=f"score {score.decode()}")
            for score in b"x nan inf - . -. 1.5.0 1-5 1,5 --1.5 1e999 /.5".split()
        ),
        pytest.param(PLAIN.replace(b"d1", b"d" * 1000), id="a very long text"),
        pytest.param(PLAIN.replace(b"1.5", b"-").replace(b"0.5", b"3"), id="a minus alone among whole numbers"),
    ],
)
def test_what_is_not_plain_is_refused(content: bytes) -> None:
    assert split(content) is None


def test_the_point_of_another_field_is_not_taken() -> None:
    block = split(PLAIN.replace(b"1 0.5", b"1. 5"))
    assert block is not None
    assert [column.tolist() for column in block.numbers] == [[1.5, 5.0], [1.0, 1.0]]


def test_a_block_beyond_ascii_is_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only that block goes to the other reader; its neighbours and it are one run."""
    monkeypatch.setattr("rankstats.inputs.fields.BLOCK_BYTES", 64)
    rows = [(f"q{i // 5}", f"dü{i}" if i == 17 else f"d{i}", f"{100 - i}.5") for i in range(40)]
    path = tmp_path / "a.run"
    path.write_bytes(lines(rows))
    run = read_run(path, "a", Policies()).table
    assert run.doc_ids.to_pylist() == [row[1] for row in rows]
    assert [run.query_ids[code] for code in run.query.tolist()] == [row[0] for row in rows]
    assert run.score.tolist() == [float(row[2]) for row in rows]
    assert run.doc_hashes.tolist() == hashes_of_ends(text_array([row[1] for row in rows])).tolist()


def test_mutated_lines_are_split_as_the_reader_of_csv_reads_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(PLAIN)
    file, rng = StoredFile(path, digest=False), random.Random(6)
    split_too = 0
    for _ in range(1500):
        decimals = rng.choice([0, 1, 3, 6])
        rows = [
            (rng.choice(["q1", "q2", "a-longer-query"]), f"d{rng.randint(0, 10 ** rng.randint(1, 12))}")
            for _ in range(rng.randint(1, 12))
        ]
        stored = mutated(rng, lines([(*row, f"{rng.uniform(-50, 50):.{decimals}f}") for row in rows]).decode())
        block = split(stored) if stored else None
        if block is None:
            continue
        split_too += 1
        with monkeypatch.context() as without:
            without.setattr(fields, "split_block", lambda *_: None)
            other = fields.read_columns(file, stored, LAYOUT)
        assert [block.queries[code] for code in block.query.tolist()] == [
            other.query_ids[code] for code in other.query.tolist()
        ]
        assert block.doc_ids.to_pylist() == other.doc_ids.to_pylist()
        assert [column.tobytes() for column in block.numbers] == [column.tobytes() for column in other.numbers]
    assert split_too > 100
