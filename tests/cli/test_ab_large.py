"""``rankstats ab`` on parts of a large log: within its memory, with nothing left behind, and nothing half-written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankstats.cli.main import main
from rankstats.inputs import row_tables
from tests.experiment.made import events, units

ASKED = ("--unit", "user", "--arm", "arm", "--control", "A", "--metric", "revenue", "--segment", "country")


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    table = pa.Table.from_pylist(events(units(200)))
    paths = [tmp_path / f"part-{part}.parquet" for part in range(3)]
    for part, path in enumerate(paths):
        pq.write_table(table.slice(part * 170, 170 if part < 2 else None), path)
    return paths


def compared(folder: Path) -> Any:
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return [report[key] for key in ("differences", "scores", "warnings", "experiment", "verdict")]


def test_a_limit_changes_no_number_and_leaves_no_file(parts: list[Path], tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    files = list(map(str, parts))
    assert main(["ab", *files, *ASKED, "--out", str(tmp_path / "free")]) == 0
    limited = ["--memory-limit", "256MiB", "--temp-dir", str(spill)]
    assert main(["ab", *files, *ASKED, "--out", str(tmp_path / "limited"), *limited]) == 0
    assert compared(tmp_path / "free") == compared(tmp_path / "limited")
    summary = tmp_path / "summary.json"
    assert main(["ab", *files, *ASKED, "--summary-out", str(summary), "--summary-only", *limited]) == 0
    assert list(spill.iterdir()) == []


def test_the_limit_reaches_the_engine(monkeypatch: pytest.MonkeyPatch, parts: list[Path], tmp_path: Path) -> None:
    limits: list[str] = []
    rows = row_tables.RowTables.rows

    def looked(self: Any, sql: str, name: str) -> Any:
        limits.append(self.engine.execute("SELECT current_setting('memory_limit')").fetchall()[0][0])
        return rows(self, sql, name)

    monkeypatch.setattr(row_tables.RowTables, "rows", looked)
    assert main(["ab", *map(str, parts), *ASKED, "--out", str(tmp_path / "out"), "--memory-limit", "1GiB"]) == 0
    assert set(limits) == {"614.3 MiB"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--memory-limit", "4 apples"], "memory limit '4 apples': a size of at least 256MiB is expected"),
        (["--temp-dir", "no/such/folder"], "no/such/folder: no temporary folder can be made there"),
    ],
)
def test_options_that_cannot_be_followed(
    options: list[str], message: str, parts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["ab", *map(str, parts), *ASKED, *options, "--out", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("kept", [0.5, 0.98])
def test_an_unreadable_part_is_named_and_nothing_is_written(
    kept: float, parts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = parts[1].read_bytes()
    parts[1].write_bytes(content[: int(len(content) * kept)])
    out, summary = tmp_path / "out", tmp_path / "summary.json"
    asked = ["ab", *map(str, parts), *ASKED, "--out", str(out), "--summary-out", str(summary)]
    assert main(asked) == 2
    error = capsys.readouterr().err
    assert "part-1.parquet: cannot be read" in error
    assert len(error.splitlines()) == 1
    assert not out.exists()
    assert not summary.exists()


def test_pages_that_are_damaged_inside_a_part(
    parts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = bytearray(parts[2].read_bytes())
    content[4:400] = bytes(396)
    parts[2].write_bytes(content)
    out = tmp_path / "out"
    assert main(["ab", *map(str, parts), *ASKED, "--out", str(out)]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert not out.exists()


def big_log(folder: Path) -> list[str]:
    """Write a log whose units take longer to add up than the tests below wait."""
    for part in range(4):
        duckdb.sql(
            f'COPY (SELECT (range * 7919) % 400000 AS "user", CASE WHEN hash((range * 7919) % 400000) % 2 = 0 '
            f"THEN 'A' ELSE 'B' END AS arm, 'de' AS country, (hash(range, {part}) % 1000) / 7 AS revenue "
            f"FROM range(1000000)) TO '{folder}/big-{part}.parquet'"
        )
    return sorted(map(str, folder.glob("big-*.parquet")))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals and locks of files are POSIX")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_ending_it_midway_leaves_no_output(sent: signal.Signals, tmp_path: Path) -> None:
    spill, out, summary = tmp_path / "spill", tmp_path / "out", tmp_path / "summary.json"
    spill.mkdir()
    files = big_log(tmp_path)
    limited = ["--memory-limit", "256MiB", "--temp-dir", str(spill)]
    command = [sys.executable, "-m", "rankstats", "ab", *files, *ASKED, *limited]
    command += ["--out", str(out), "--summary-out", str(summary)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not any(spill.glob("rankstats-engine-*/spill/*")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(sent)
        process.communicate(timeout=60)
    assert process.returncode == (-sent if sent == signal.SIGKILL else 130)
    assert not out.exists()
    assert not summary.exists()
    assert bool(list(spill.iterdir())) is (sent == signal.SIGKILL)
    # what was left is removed by the next one
    assert main(["ab", files[0], *ASKED, *limited, "--summary-out", str(summary), "--summary-only"]) == 0
    assert list(spill.iterdir()) == []
