from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs import files, ranking_from_dict, read_run
from tests.inputs.naive import rows_of_run

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(content: str | bytes) -> Path:
        path = tmp_path / "a.run"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def problem(path: Path, policies: Policies | None = None) -> str:
    with pytest.raises(InputError) as error:
        read_run(path, "a", policies or Policies())
    assert str(error.value).startswith(str(path))
    return str(error.value).removeprefix(str(path))


TWO = [("q1", "d1", 2.5), ("q1", "d2", -1e-3)]


@pytest.mark.parametrize(
    "content",
    [
        "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 -1e-3 t\n",
        "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 -1e-3 t",
        "q1\tQ0\td1\t1\t2.5\tt\nq1\tQ0\td2\t2\t-1e-3\tt\n",
        "q1\tQ0 d1\t1 2.5  t\n\tq1 \t Q0  d2 2 -1e-3 t \n",
        "q1 Q0 d1 1 2.5 t\r\nq1 Q0 d2 2 -1e-3 t\r\n",
        "q1 Q0 d1 1 2.5 t\rq1 Q0 d2 2 -1e-3 t\r",
        "\ufeffq1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 -1e-3 t\n",
        "\n \nq1 Q0 d1 1 2.5 t\n\t\r\n\nq1 Q0 d2 2 -1e-3 t\n\n  ",
        "q1 Q0 d1 1 +2.5 t\nq1 Q0 d2 2 -.1E-2 t\n",
        "  q1 Q0 d1 1 2.50 t\nq1 Q0 d2 2 -0.001 t\n",
        "q1\vQ0\fd1 1 2.5 t\nq1 Q0 d2 2 -1e-3 t\n",
        "q1\tQ0\td1\t1\t2.5\tt of three words\nq1\tQ0\td2\t2\t-1e-3\tt\n",
    ],
)
def test_any_white_space(write: Write, content: str) -> None:
    assert rows_of_run(read_run(write(content), "a", Policies()).table) == TWO


def test_blank_lines_are_counted(write: Write) -> None:
    run = read_run(write("\nq1 Q0 d1 1 2.5 t\n  \n\r\nq1 Q0 d2 2 -1e-3 t\n\n"), "a", Policies())
    assert (run.audit.blank_lines, run.audit.rows) == (4, 2)


@pytest.mark.parametrize(
    "name",
    ["007", "1e5", "NA", "null", "#5", "nan", "ü–日本", "12345678901234567890", '"q', "a,b", "NULL", "True", "\x1c"],
)
def test_ids_are_text(write: Write, name: str) -> None:
    run = read_run(write(f'{name} Q0 {name} 1 1 t\n{name} Q0 x" 2 0 "t\n'), "a", Policies()).table
    assert rows_of_run(run) == [(name, name, 1.0), (name, 'x"', 0.0)]


def test_ids_of_several_words_between_tabs(write: Write) -> None:
    content = "laptop\tQ0\t1\t1\t2\tt\nbluetooth speaker \tQ0\td  2\t 2\t1\tt\n\na b\tQ0\t3\t1\t0\tt\n"
    run = read_run(write(content), "a", Policies())
    assert rows_of_run(run.table) == [("laptop", "1", 2), ("bluetooth speaker", "d  2", 1), ("a b", "3", 0)]
    assert run.audit.blank_lines == 1


def test_lines_split_at_white_space_and_lines_split_at_tabs_in_one_file(write: Write) -> None:
    run = read_run(write("q1 Q0 d1 1 2 t\nblue shoe\tQ0\td2\t1\t3\tt\n"), "a", Policies()).table
    assert rows_of_run(run) == [("q1", "d1", 2), ("blue shoe", "d2", 3)]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_found_by_content(write: Write, compress: Callable[[bytes], bytes]) -> None:
    assert (
        rows_of_run(read_run(write(compress(b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 -1e-3 t\n")), "a", Policies()).table) == TWO
    )


def test_zstd(write: Write) -> None:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 -1e-3 t\n")
    assert rows_of_run(read_run(write(sink.getvalue().to_pybytes()), "a", Policies()).table) == TWO


def test_source_is_the_stored_bytes(write: Write) -> None:
    stored = gzip.compress(b"q1 Q0 d1 1 2.5 t\n", mtime=0)
    path = write(stored)
    source = read_run(path, "a", Policies()).audit.sources[0]
    assert (source.name, source.size, source.sha256) == (str(path), len(stored), hashlib.sha256(stored).hexdigest())


PLACES = ["\ufeff", "\r\n \r\n", "\n\n\t\n", ""]
FIELDS = "where 6 are expected (qid Q0 docid rank score tag)"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1 Q0 d2 2 1.0", f"5 fields {FIELDS}"),
        ("q1 Q0 d2 2 1.0 t x", f"7 fields {FIELDS}"),
        ("q1 Q0 d2", f"3 fields {FIELDS}"),
        ("word", f"1 field {FIELDS}"),
        ("q1 Q0  2 1.0 t", f"5 fields {FIELDS}"),
        ("q1\tQ0\t\t2\t1.0\tt", f"5 fields (6 at tabs) {FIELDS}"),
        ("q1 Q0 d2 2 1.0 ", f"5 fields {FIELDS}"),
        ("q1 Q0 d2 2 nan t", "score 'nan' is not a finite number"),
        ("q1 Q0 d2 2 NaN t", "score 'NaN' is not a finite number"),
        ("q1 Q0 d2 2 -inf t", "score '-inf' is not a finite number"),
        ("q1 Q0 d2 2 Infinity t", "score 'Infinity' is not a finite number"),
        ("q1 Q0 d2 2 1e999 t", "score '1e999' is too large"),
        ("q1 Q0 d2 2 abc t", "score 'abc' is not a number"),
        ("q1 Q0 d2 2 1,5 t", "score '1,5' is not a number; write a decimal point"),
        ("q1 Q0 d2 2 0x1p3 t", "score '0x1p3' is not a number"),
        ("q1 Q0 d2 2 1_000 t", "score '1_000' is not a number"),
        ("q1 Q0 d2 2 ١ t", "score '١' is not a number"),
    ],
)
@pytest.mark.parametrize("before", PLACES)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_fault_is_named_with_its_line(write: Write, line: str, message: str, before: str, end: str) -> None:
    path = write(f"{before}q1 Q0 d1 1 3.5 t\n{line}{end}")
    assert problem(path) == f":{before.count(chr(10)) + 2}: {message}"


def test_header_row(write: Write) -> None:
    path = write("qid Q0 docid rank score tag\nq1 Q0 d1 1 2 t\n")
    assert problem(path) == ":1: score 'score' is not a number; a TREC run has no header row"


def test_qrels_where_a_run_is_expected(write: Write) -> None:
    fields = ":1: 4 fields where 6 are expected (qid Q0 docid rank score tag)"
    assert problem(write("q1 0 d1 1\nq1 0 d2 0\n")) == (
        f"{fields}; this looks like qrels; are --qrels and the run swapped?"
    )
    assert problem(write("q1 0 d1 x\n")) == fields


def test_bytes_that_are_not_utf8(write: Write) -> None:
    path = write(b"q1 Q0 d1 1 2 t\nq1 Q0 d\xe9 2 1 t\n")
    assert problem(path) == r":2: b'd\xe9' is not UTF-8 text; save the file as UTF-8"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ": the file is empty"),
        (b" \n\n", ": the file is empty"),
        (gzip.compress(b"", mtime=0), ": the file is empty"),
        ("q1 Q0 d1 1 2 t\n".encode("utf-16"), ": is in UTF-16; save it as UTF-8"),
        (b"PK\x03\x04abc", ": is a zip archive; unpack it first"),
    ],
)
def test_unreadable_contents(write: Write, content: bytes, message: str) -> None:
    assert problem(write(content)) == message


def test_damaged_gzip(write: Write) -> None:
    assert problem(write(gzip.compress(b"q1 Q0 d1 1 2 t\n" * 99, mtime=0)[:-9])).startswith(
        ": is a damaged gzip file ("
    )


def test_absent_file_and_folder(tmp_path: Path) -> None:
    assert problem(tmp_path / "absent.run") == ": no such file"
    assert problem(tmp_path) == ": is a folder; name a file"


DUPLICATED = "q1 Q0 d1 1 1.5 t\n\nq2 Q0 d1 1 9 t\nq1 Q0 d2 2 1 t\r\nq1 Q0 d1 3 2.5 t\nq1 Q0 d2 4 1 t\nq1 Q0 d1 5 0 t\n"


def test_duplicates_are_an_error_that_names_both_lines(write: Write) -> None:
    assert problem(write(DUPLICATED)) == (
        ":5: document 'd1' is listed twice for query 'q1', first in line 1; remove one, "
        "or set duplicate_documents = 'first' or 'best'"
    )


@pytest.mark.parametrize(("policy", "score"), [("first", 1.5), ("best", 2.5)])
def test_duplicates_settled(write: Write, policy: str, score: float) -> None:
    run = read_run(write(DUPLICATED), "a", Policies(duplicate_documents=policy, ties="rank"))
    assert sorted(rows_of_run(run.table)) == [("q1", "d1", score), ("q1", "d2", 1), ("q2", "d1", 9)]
    assert (run.audit.rows, run.audit.duplicates) == (3, 3)
    assert run.table.rank is not None
    assert len(run.table.rank) == len(run.table.query) == 3


def test_every_duplicate_is_found_in_a_large_file(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankstats.inputs.fields.BLOCK_BYTES", 1 << 12)
    lines = [f"q{row % 7} Q0 {'same-start-of-an-id-'}{row // 7}{'-and-the-same-end'} 1 {row} t" for row in range(7_000)]
    lines[6_543] = lines[3_456].replace(" 1 ", " 2 ")
    assert problem(write("\n".join(lines))).startswith(":6544: document 'same-start-of-an-id-493-and")


def test_rank_column_only_where_the_policy_asks(write: Write) -> None:
    path = write("q1 Q0 d1 1 2 t\nq1 Q0 d2 2.5 3 t\n")
    assert read_run(path, "a", Policies()).table.rank is None
    rank = read_run(path, "a", Policies(ties="rank")).table.rank
    assert rank is not None
    assert rank.tolist() == [1, 2.5]


def test_rank_that_is_not_a_number(write: Write) -> None:
    path = write("q1 Q0 d1 1 2 t\nq1 Q0 d2 second 3 t\n")
    assert len(read_run(path, "a", Policies()).table.score) == 2
    assert problem(path, Policies(ties="rank")) == ":2: rank 'second' is not a number"


def test_mapped_file_reads_like_a_small_one(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "\ufeffq1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 -1e-3 t\n"
    monkeypatch.setattr(files, "LARGE", 1)
    for text in (content, content[1:], content.replace(" ", "  ")):
        path = write(text)
        run = read_run(path, "a", Policies())
        assert rows_of_run(run.table) == TWO
        assert run.audit.sources[0].sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_a_line_longer_than_a_block(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankstats.inputs.fields.BLOCK_BYTES", 64)
    long = "d" * 500
    assert rows_of_run(read_run(write(f"q1 Q0 {long} 1 2 t\nq1 Q0 e 2 1 t\n"), "a", Policies()).table) == [
        ("q1", long, 2),
        ("q1", "e", 1),
    ]


def test_many_blocks_keep_the_order_of_the_file(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankstats.inputs.fields.BLOCK_BYTES", 1 << 10)
    rows = [(f"q{row % 13}", f"d{row}", row / 7) for row in range(2_000)]
    path = write("".join(f"{query} Q0 {document} 1 {score!r} t\n" for query, document, score in rows))
    assert rows_of_run(read_run(path, "a", Policies()).table) == rows


@pytest.mark.parametrize("spoilt", ["\n", " ", "\t"])
def test_white_space_where_blocks_meet(write: Write, monkeypatch: pytest.MonkeyPatch, spoilt: str) -> None:
    monkeypatch.setattr("rankstats.inputs.fields.BLOCK_BYTES", 32)
    lines = [f"q{row} Q0 d{row} 1 {row} t\n" for row in range(9)]
    expected = [(f"q{row}", f"d{row}", row) for row in range(9)]
    for place in range(1, 9):
        text = "".join([*lines[:place], spoilt, *lines[place:]])
        run = read_run(write(text), "a", Policies())
        assert rows_of_run(run.table) == expected
        assert run.audit.blank_lines == (spoilt == "\n")


def test_a_fault_in_a_late_block_names_its_line(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankstats.inputs.fields.BLOCK_BYTES", 1 << 8)
    lines = [f"q{row // 9} Q0 d{row} 1 {row} t" for row in range(900)]
    for place, spoilt, message in ((877, "q Q0 d 1 x t", "score 'x' is not a number"), (899, "q Q0 d 1 2", "5 fields")):
        text = "\n".join([*lines[:place], spoilt, *lines[place + 1 :]])
        assert problem(write(text)).startswith(f":{place + 1}: {message}")


def test_from_dict_leaves_what_it_is_given() -> None:
    given = {"q2": {"d1": 1, "d0": 2.5}, "q1": {}}
    run = ranking_from_dict("a", given)
    assert run.query_ids == ("q2", "q1")
    assert rows_of_run(run) == [("q2", "d1", 1), ("q2", "d0", 2.5)]
    assert given == {"q2": {"d1": 1, "d0": 2.5}, "q1": {}}
    assert run.score.dtype == np.float64


@pytest.mark.parametrize("score", [float("nan"), float("inf"), "abc", None])
def test_from_dict_refuses_scores_that_are_not_finite(score: object) -> None:
    with pytest.raises(InputError, match=r"score .* of query 'q1', document 'd1' is not a finite number"):
        ranking_from_dict("a", {"q1": {"d1": score}})  # type: ignore[dict-item]  # the fault under test


def test_from_dict_refuses_ids_that_are_one_as_text() -> None:
    with pytest.raises(InputError, match="two queries are '1' as text"):
        ranking_from_dict("a", {"1": {}, 1: {}})  # type: ignore[dict-item]  # the fault under test
    with pytest.raises(InputError, match="two documents of query 'q' are '1' as text"):
        ranking_from_dict("a", {"q": {"1": 1.0, 1: 2.0}})  # type: ignore[dict-item]  # the fault under test
