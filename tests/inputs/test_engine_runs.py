from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import rankstats
from rankstats import EngineChoice, InputError, PlanError, Scores
from rankstats.cli.main import main
from rankstats.tables.engines import duckdb_session
from rankstats.tables.engines.temporary import TemporaryFolder

MEASURES = ("AP", "nDCG@10", "RR", "P@5", "Judged@10")
QRELS = {f"q{q}": {f"d{d}": (q + d) % 4 for d in range(0, 40, q + 1)} for q in range(9)}
ROWS = [(f"q{q}", f"d{(7 * d) % 41}", round((d * 13 % 17) / 8, 3)) for q in range(1, 10) for d in range(41)]
TREC = "".join(f"{q} Q0 {d} {n} {s} tag\n" for n, (q, d, s) in enumerate(ROWS, 1))
TABLE = pa.table([list(column) for column in zip(*ROWS, strict=True)], ["qid", "docno", "score"])
DUCKDB = EngineChoice("duckdb", memory_limit="300MiB")


def expected() -> Scores:
    return rankstats.evaluate(QRELS, {"a": ROWS}, MEASURES)


def assert_same(scores: Scores) -> None:
    np.testing.assert_array_equal(scores.values, expected().values)
    assert np.isfinite(scores.values).any()


def trec(folder: Path) -> str:
    (folder / "a.run").write_text(TREC)
    return str(folder / "a.run")


def tabs_and_crlf(folder: Path) -> str:
    (folder / "a.run").write_bytes(b"\xef\xbb\xbf" + TREC.replace(" ", "\t").replace("\n", "\r\n").encode())
    return str(folder / "a.run")


def packed(folder: Path) -> str:
    (folder / "a.run.gz").write_bytes(gzip.compress(TREC.encode()))
    return str(folder / "a.run.gz")


def zstd(folder: Path) -> str:
    with pa.CompressedOutputStream(str(folder / "a.run.zst"), "zstd") as stream:
        stream.write(TREC.encode())
    return str(folder / "a.run.zst")


def three(folder: Path) -> str:
    (folder / "a.tsv").write_text("".join(f"{q}\t{d}\t{s}\n" for q, d, s in ROWS))
    return str(folder / "a.tsv")


def headed(folder: Path) -> str:
    pa.csv.write_csv(TABLE, folder / "a.csv")
    return str(folder / "a.csv")


def parquet(folder: Path) -> str:
    pa.parquet.write_table(TABLE, folder / "a.parquet")
    return str(folder / "a.parquet")


def parts(folder: Path) -> str:
    place = folder / "a"
    place.mkdir()
    for part in range(3):
        pa.parquet.write_table(TABLE.slice(part * 150, 150), place / f"part-{part}.parquet")
    (place / "_SUCCESS").write_text("")
    return str(place)


def pattern(folder: Path) -> str:
    return f"{parts(folder)}/part-*.parquet"


def several_texts(folder: Path) -> str:
    lines = TREC.splitlines(keepends=True)
    for part in range(3):
        (folder / f"part{part}.run").write_text("".join(lines[part::3]))
    return f"{folder}/part?.run"


WRITERS = (trec, tabs_and_crlf, packed, zstd, three, headed, parquet, parts, pattern, several_texts)


@pytest.mark.parametrize("write", WRITERS)
def test_files_in_pieces_give_the_same_values(write: Callable[[Path], str], tmp_path: Path) -> None:
    progress: list[str] = []
    path = write(tmp_path)
    scores = rankstats.evaluate(
        QRELS, {"a": path}, MEASURES, engine=DUCKDB, progress=lambda what, share: progress.append(what)
    )
    assert_same(scores)
    assert "ranking a" in progress
    if write in (parts, pattern, several_texts):
        assert_same(rankstats.evaluate(QRELS, {"a": path}, MEASURES))  # several files need no option


def test_columns_of_files_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    pa.csv.write_csv(TABLE.rename_columns(["about", "what", "points"]), path)
    columns = {"query_id": "about", "document": "what", "score": "points"}
    assert_same(
        rankstats.evaluate(QRELS, {"a": str(path)}, MEASURES, engine=DUCKDB, columns=columns, run_format="table")
    )


def test_files_that_are_large_for_the_memory_go_to_duckdb_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress: list[str] = []
    report: Callable[[str, float], None] = lambda what, share: progress.append(what)  # noqa: E731  one line says it
    path = trec(tmp_path)
    for memory, by_engine in ((len(TREC) * 17, False), (len(TREC) * 3, True)):
        monkeypatch.setattr(EngineChoice, "memory", memory)
        progress.clear()
        assert_same(rankstats.evaluate(QRELS, {"a": path}, MEASURES, progress=report))
        assert ("ranking a" in progress) is by_engine
    # what DuckDB cannot read is read into memory after all
    Path(path).write_text(TREC.replace(" ", "  "))
    progress.clear()
    assert_same(rankstats.evaluate(QRELS, {"a": path}, MEASURES, progress=report))
    assert "ranking a" not in progress


@pytest.mark.parametrize("write", [trec, parts])
@pytest.mark.parametrize("ties", ["doc_id", "rank"])
def test_runs_are_split_so_that_few_rows_are_sorted_at_once(
    write: Callable[[Path], str], ties: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb_session.DuckDBFiles, "rows_at_once", 100)
    progress: list[str] = []
    policies = rankstats.Policies(ties=ties if write is trec else "doc_id")
    runs = {"a": write(tmp_path)}
    scores = rankstats.evaluate(
        QRELS, runs, MEASURES, engine=DUCKDB, policies=policies, progress=lambda what, share: progress.append(what)
    )
    if policies.ties == "rank":
        np.testing.assert_array_equal(
            scores.values, rankstats.evaluate(QRELS, runs, MEASURES, engine="local", policies=policies).values
        )
    else:
        assert_same(scores)
    assert "ranking a (4 of 4)" in progress
    with pytest.raises(InputError, match="answers none of the 1 judged queries"):
        rankstats.evaluate({"zz": {"d1": 1}}, runs, ["AP"], engine=DUCKDB)


def relation(table: pa.Table) -> Any:
    return duckdb.from_arrow(table)


def lazy(table: pa.Table) -> Any:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.lazy()


def ibis_table(table: pa.Table) -> Any:
    ibis = pytest.importorskip("ibis", reason="Ibis is not installed")
    pytest.importorskip("pyarrow_hotfix", reason="Ibis' DuckDB backend is not installed")
    return ibis.memtable(table)


FRAMES = (relation, lazy, pytest.param(ibis_table, marks=pytest.mark.slow))


@pytest.mark.parametrize("frame", FRAMES)
def test_lazy_frames_are_ranked_where_they_are(frame: Callable[[pa.Table], Any]) -> None:
    progress: list[str] = []
    report: Callable[[str, float], None] = lambda what, share: progress.append(what)  # noqa: E731  one line says it
    assert_same(rankstats.evaluate(QRELS, {"a": frame(TABLE)}, MEASURES, progress=report))
    assert "ranking a" in progress
    progress.clear()
    assert_same(rankstats.evaluate(QRELS, {"a": frame(TABLE)}, MEASURES, progress=report, engine="local"))
    assert "ranking a" not in progress


@pytest.mark.parametrize("frame", FRAMES)
def test_ids_may_be_whole_numbers_and_ranks_stand_in_for_scores(frame: Callable[[pa.Table], Any]) -> None:
    rows = [(1, 10, 1), (1, 11, 2), (2, 12, 1), (2, 10, 2)]
    table = pa.table([list(column) for column in zip(*rows, strict=True)], ["query_id", "doc_id", "rank"])
    scores = rankstats.evaluate({"1": {"11": 1}, "2": {"12": 1}}, {"a": frame(table)}, ["RR"])
    assert scores.values.ravel().tolist() == [0.5, 1.0]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    ("names", "column", "message"),
    [
        (["query_id", "doc_id", "x"], [0.5], "no score or rank column"),
        (["query_id", "doc_id", "score"], ["high"], "column score is of type String; numbers are expected"),
        (["doc_id", "query_id", "score"], [0.5], "column query_id is of type Float64; ids are text or whole numbers"),
    ],
)
def test_frames_that_are_no_runs(
    frame: Callable[[pa.Table], Any], names: list[str], column: list[Any], message: str
) -> None:
    second: list[Any] = [1.5] if names[0] == "doc_id" else ["d1"]
    with pytest.raises(InputError, match=f"run a: .*{message}"):
        rankstats.evaluate(QRELS, {"a": frame(pa.table([["q1"], second, column], names))}, ["RR"])


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_of_several_systems_is_refused(frame: Callable[[pa.Table], Any]) -> None:
    table = pa.table([["q1", "q1"], ["d1", "d1"], [0.5, 0.6], ["x", "y"]], ["query_id", "doc_id", "score", "system"])
    with pytest.raises(InputError, match=r"run a: holds 2 systems in column system \(x, y\)"):
        rankstats.evaluate(QRELS, {"a": frame(table)}, ["RR"])


def test_comparing_where_the_runs_are_gives_the_same_report() -> None:
    other = [(q, d, -s) for q, d, s in ROWS]
    reports = []
    for frame in (lambda table: table, relation, lazy):
        runs = {
            "a": frame(TABLE),
            "b": frame(pa.table([list(column) for column in zip(*other, strict=True)], ["qid", "docno", "score"])),
        }
        report = rankstats.compare_systems(QRELS, runs, ["nDCG@10", "AP"], resamples=199).to_dict()
        assert all(len(source["sha256"]) == 64 for source in report["reproduction"]["inputs"])
        for part in ("reproduction", "audit"):
            report.pop(part)
        reports.append(report)
    assert reports[0] == reports[1] == reports[2]


def failing(tmp_path: Path, content: bytes, name: str = "a.run", **choice: Any) -> str:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        rankstats.evaluate(QRELS, {"a": str(tmp_path / name)}, ["AP"], engine=EngineChoice("duckdb", **choice))
    return str(caught.value).removeprefix(f"{tmp_path}/")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 3\n", "a.run:2: 4 fields where 6 are expected"),
        (b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 1 high t\n", "a.run:2: score 'high' is not a number"),
        (b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 1 nan t\n", "a.run: the score of document 'd2' for query 'q1' nan is not"),
        (b"q1 Q0 d1 1 2.5 t\nq1 Q0 \xff 1 2 t\n", "a.run:2: the line is not UTF-8 text"),
        (b"q1 Q0 d1 1 2.5 t\nq1 Q0 d1 1 2 t\n", "a.run: document 'd1' is listed twice for query 'q1'"),
        (b"q1  Q0  d1  1  2.5  t\n", "a.run:1: 6 fields in the first line; DuckDB reads six"),
        (b"q1\td1\t7\nq1\td2\t5\n", "a.run: the third column may be a rank or a score"),
        (b'{"q1": {"d1": 0.5}}', "a.run: DuckDB does not read this format in pieces here"),
        (b"BZh91AY&SY", "a.run: is compressed with bz2"),
        (b"\n\n", "a.run: the file is empty"),
        (b"zz Q0 d1 1 2.5 t\n", "a.run: answers none of the 9 judged queries"),
    ],
)
def test_faults_of_files_read_in_pieces(content: bytes, message: str, tmp_path: Path) -> None:
    assert failing(tmp_path, content).startswith(message)


def test_a_truncated_part_is_named(tmp_path: Path) -> None:
    place = Path(parts(tmp_path))
    broken = place / "part-1.parquet"
    broken.write_bytes(broken.read_bytes()[:-200])
    with pytest.raises(InputError, match=r"part-1\.parquet: is a damaged Parquet file"):
        rankstats.evaluate(QRELS, {"a": str(place)}, ["AP"])


def test_what_is_too_much_for_an_engine_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="ties = 'input' asks for the order of the lines, which rows in DuckDB"):
        rankstats.evaluate(
            QRELS, {"a": trec(tmp_path)}, ["AP"], engine="duckdb", policies=rankstats.Policies(ties="input")
        )
    with pytest.raises(PlanError, match=r"engine 'duckbd' is unknown.*did you mean 'duckdb'"):
        EngineChoice("duckbd")
    with pytest.raises(PlanError, match="memory limit '4 apples': a size"):
        EngineChoice(memory_limit="4 apples")


def big_run(path: Path, queries: int = 200) -> None:
    """Write a run that takes about ten times as much memory as is allowed below."""
    doc = pa.array([f"document-with-a-long-name-{d:012d}" for d in range(20_000)])
    for query in range(queries // 20):
        ids = pa.array(np.repeat([f"q{query * 20 + q}" for q in range(20)], 20_000).tolist())
        scores = pa.array(np.random.default_rng(query).random(400_000))
        table = pa.table([ids, pa.concat_arrays([doc] * 20), scores], ["query_id", "doc_id", "score"])
        pa.parquet.write_table(table, path / f"part-{query}.parquet")


@pytest.mark.slow
def test_a_full_disk_ends_in_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    big_run(tmp_path)
    spill = tmp_path / "spill"
    spill.mkdir()
    connect = duckdb_session.duckdb.connect
    limit = {"max_temp_directory_size": "20MiB"}
    monkeypatch.setattr(
        duckdb_session.duckdb, "connect", lambda place, config: connect(place, config={**config, **limit})
    )
    qrels = {f"q{q}": {"document-with-a-long-name-000000000007": 1} for q in range(200)}
    choice = EngineChoice("duckdb", memory_limit="256MiB", temp_folder=str(spill))
    with pytest.raises(InputError, match=r"DuckDB ran out of room.*--memory-limit.*--temp-dir"):
        rankstats.evaluate(qrels, {"a": str(tmp_path / "*.parquet")}, ["RR"], engine=choice)
    assert list(spill.iterdir()) == []


KILLED = """
import sys, rankstats
from rankstats import EngineChoice
qrels = {f"q{q}": {"document-with-a-long-name-000000000007": 1} for q in range(200)}
choice = EngineChoice("duckdb", memory_limit="300MiB", temp_folder=sys.argv[2])
def progress(what, share):
    print(what, flush=True)
rankstats.evaluate(qrels, {"a": sys.argv[1] + "/*.parquet"}, ["RR"], engine=choice, progress=progress)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="locks of files are POSIX")
def test_what_a_killed_process_leaves_is_removed_by_the_next(tmp_path: Path) -> None:
    big_run(tmp_path)
    spill = tmp_path / "spill"
    spill.mkdir()
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(spill)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while process.stdout.readline().strip() != "ranking a":
            assert process.poll() is None
        time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(list(spill.iterdir())) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"spill", *(f"part-{n}.parquet" for n in range(10))}
    next_one = TemporaryFolder(str(spill))
    assert list(spill.iterdir()) == [next_one.path]
    next_one.remove()
    assert list(spill.iterdir()) == []


def test_folders_in_use_are_left_alone(tmp_path: Path) -> None:
    first, second = TemporaryFolder(str(tmp_path)), TemporaryFolder(str(tmp_path))
    assert set(tmp_path.iterdir()) == {first.path, second.path}
    first.remove()
    del second
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="no temporary folder can be made there"):
        TemporaryFolder(str(tmp_path / "absent"))


def test_evaluate_and_compare_take_the_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, grades in QRELS.items() for d, g in grades.items()))
    run = trec(tmp_path)
    command = ["evaluate", "--qrels", str(qrels), run, "--per-query", "--format", "tsv", "--quiet", "--engine"]
    outputs = []
    for engine in ("local", "duckdb"):
        assert main([*command, engine]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") > 60
    limits = ["--memory-limit", "1GiB", "--temp-dir", str(tmp_path)]
    parts = f"b={tmp_path}/a.run*"
    compared = ["compare", "--qrels", str(qrels), run, parts, "--out", str(tmp_path / "out"), "--resamples", "199"]
    assert main([*compared, *limits]) == 0
    capsys.readouterr()
    assert main([*compared, *limits, "--engine", "duckdb", "--explain-plan"]) == 0
    plans = capsys.readouterr().out
    assert plans.startswith("== a in DuckDB: totals by query")
    assert "== b in DuckDB: ranks and judged documents" in plans
    assert not list(tmp_path.glob("rankstats-engine-*"))
    assert main([*command, "duckdb", "--memory-limit", "1"]) == 2
    assert "memory limit '1'" in capsys.readouterr().err
