"""The bytes of files: whose memory the threads of Arrow read, what is compressed, and what is no text in UTF-8."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import rankstats.inputs
from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs import files, read_queries, read_run, run_name
from rankstats.inputs.files import Room, StoredFile, arrow_stream
from rankstats.tables import Source

RUN = b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1 t\n"


def write(folder: Path, content: bytes, name: str = "a.run") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def problem(path: str | Path) -> str:
    with pytest.raises(InputError) as error:
        read_run(path, "a", Policies())
    return str(error.value)


def test_arrow_reads_memory_of_its_own() -> None:
    # a thread of Arrow that lets go of Python's memory while Python ends aborts the program
    data = bytes(range(256)) * 8
    references = sys.getrefcount(data)
    stream = arrow_stream(data)
    assert sys.getrefcount(data) == references
    buffer = stream.read_buffer()
    assert buffer.to_pybytes() == data
    assert buffer.address != pa.py_buffer(data).address
    assert sys.getrefcount(data) == references


def test_a_mapped_file_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGE", 1)
    content = b"q1 Q0 d1 1 2.5 a\n" * 1000
    view = StoredFile(write(tmp_path, content), digest=False).view
    assert isinstance(view, files.MappedFile)
    room = Room()
    for start, end in ((0, 17), (3, 9_000), (16_990, 17_000), (5, 5)):
        assert room.fill(view, start, end).tobytes() == content[start:end]
        assert room.stream().read() == content[start:end]


def test_a_file_that_becomes_shorter_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGE", 1)
    path = write(tmp_path, b"q1 Q0 d1 1 2.5 a\n" * 10_000)
    file = StoredFile(path, digest=False)
    os.truncate(path, 100)
    with pytest.raises(InputError, match=r"a\.run: has become shorter while it was read"):
        Room().fill(file.view, 0, 170_000)


def test_no_digest_where_none_is_wanted(tmp_path: Path) -> None:
    path = write(tmp_path, RUN)
    assert StoredFile(path, digest=False).source() == Source(str(path), None, len(RUN))
    assert StoredFile(path).source() == Source(str(path), hashlib.sha256(RUN).hexdigest(), len(RUN))


def test_no_reader_hands_python_memory_to_a_stream() -> None:
    folder = Path(rankstats.inputs.__file__).parent
    streams = {path.name: path.read_text("utf-8").count("BufferReader(") for path in folder.glob("*.py")}
    assert {name: count for name, count in streams.items() if count} == {"files.py": 1}


def test_reading_does_not_load_pandas(tmp_path: Path) -> None:
    write(tmp_path, RUN)
    write(tmp_path, b"q1 0 d1 1\nq1 0 d2 0\n", "qrels")
    write(tmp_path, b"query_id,doc_id,grade\nq1,d1,1\n", "judged.csv")
    write(tmp_path, b"query_id\tquery\tclicks\nq1\tred shoes\t7\n", "queries.tsv")
    write(tmp_path, b'{"q1": {"d1": 1}}', "judged.json")
    write(tmp_path, b"q1 d1 0.5\n", "three.run")
    write(tmp_path, b"1 qid:q1 1:0.5 # d1\n", "letor")
    program = (
        "import sys\n"
        "from rankstats.conventions import Policies\n"
        "from rankstats.inputs import read_judgments, read_queries, read_run\n"
        "from rankstats.tables import make_hits\n"
        "policies = Policies()\n"
        "make_hits(read_judgments('qrels', policies).table, read_run('a.run', 'a', policies).table, policies)\n"
        "read_judgments('judged.csv', policies)\n"
        "read_queries('queries.tsv')\n"
        "read_judgments('judged.json', policies)\n"
        "read_judgments('letor', policies)\n"
        "read_run('three.run', 'a', policies)\n"
        "print('pandas' in sys.modules, 'narwhals' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


@pytest.mark.parametrize("first", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("second", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_twice(tmp_path: Path, first: object, second: object) -> None:
    path = write(tmp_path, second(first(RUN)))  # type: ignore[operator]  # functions of bytes
    assert StoredFile(path).data == RUN


def test_compressed_three_times(tmp_path: Path) -> None:
    path = write(tmp_path, gzip.compress(gzip.compress(gzip.compress(RUN), mtime=0)))
    assert problem(path) == f"{path}: is compressed more than 2 times; unpack it first"


def test_a_query_whose_id_begins_like_bzip2(tmp_path: Path) -> None:
    assert read_run(write(tmp_path, RUN.replace(b"q1", b"BZh9")), "a", Policies()).table.query_ids == ("BZh9",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (RUN.decode().encode("utf-16-le"), "looks like UTF-16; save it as UTF-8"),
        (RUN.decode().encode("utf-16-be"), "looks like UTF-16; save it as UTF-8"),
        (RUN.decode().encode("utf-32-le"), "looks like UTF-32; save it as UTF-8"),
        (RUN.decode().encode("utf-32"), "is in UTF-32; save it as UTF-8"),
        (b"\xfe\xff" + RUN.decode().encode("utf-16-be"), "is in UTF-16; save it as UTF-8"),
        (gzip.compress(RUN.decode().encode("utf-16-le"), mtime=0), "looks like UTF-16; save it as UTF-8"),
        (bytes(5000), "the file is empty (NUL bytes only)"),
        (b"PK\x05\x06" + bytes(18), "is a zip archive; unpack it first"),
    ],
)
def test_no_text_in_utf8(tmp_path: Path, content: bytes, message: str) -> None:
    path = write(tmp_path, content)
    assert problem(path) == f"{path}: {message}"


def test_quotations_are_short_and_printable(tmp_path: Path) -> None:
    path = write(tmp_path, b"q1 Q0 d1 1 \x1b[31m" + b"x" * 5000 + b" t\n")
    assert problem(path).startswith(f"{path}:1: score '\\x1b[31mxxx")
    assert len(problem(path).removeprefix(str(path))) < 140
    path.write_bytes(b"q1 Q0 " + b"\xe9" * 5000 + b" 1 1 t\n")
    assert len(problem(path).removeprefix(str(path))) < 240
    path.write_bytes(b"query_id,text\n" + b"z" * 5000 + b",a\n" + b"z" * 5000 + b",b\n")
    with pytest.raises(InputError) as error:
        read_queries(path)
    assert len(str(error.value).removeprefix(str(path))) < 140


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("a\0b", r"a\0b: is no path of a file (embedded null byte)"),
        ("y" * 300, "y" * 40 + "…: cannot be read (File name too long)"),
        ("x\ud800", r"x\ud800: is no path of a file ("),
    ],
)
def test_what_is_no_path(path: str, message: str) -> None:
    assert problem(path).startswith(message)


def test_what_is_no_path_may_still_name_a_run() -> None:
    assert run_name("a=" + "y" * 5000) == ("a", Path("y" * 5000))
    assert run_name("a=b\0") == ("a", Path("b\0"))


@pytest.mark.parametrize("argument", ["n/bad\udcff.run", "x\udcff=a.run", Path("bad\udcff.run")])
def test_run_names_are_text(argument: str | Path) -> None:
    with pytest.raises(InputError, match=r"^'.*\\xff.*' is not UTF-8 text, so it names no run; .* NAME=FILE$"):
        run_name(argument)


def test_a_file_whose_name_is_not_text_is_read_under_a_name_that_is(tmp_path: Path) -> None:
    name = os.fsdecode(b"bad\xff.run")
    try:
        write(tmp_path, RUN, name)
    except OSError:
        pytest.skip("the file system takes names in UTF-8 only")
    system, path = run_name(f"good={tmp_path / name}")
    run = read_run(path, system, Policies())
    assert (system, run.audit.rows) == ("good", 2)
    assert run.audit.sources[0].name == f"{tmp_path}/bad\\xff.run"
