"""``rankstats agree --offline --online`` and ``--launches``: the table, the formats, and faults in one message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankstats.cli.main import main
from tests.experiment.test_offline_online import OFFLINE, ONLINE, WHOLE, offline, online


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def reports(tmp_path: Path) -> tuple[str, str]:
    here = write(tmp_path / "cmp" / "report.json", offline(OFFLINE))
    there = write(tmp_path / "ab" / "report.json", online(ONLINE, pair=("A", "B")))
    return str(here), str(there)


def test_the_table_holds_both_sides_and_the_answer_comes_first(
    reports: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agree", "--offline", reports[0], "--online", reports[1], "--alias", "old=A", "--alias", "new=B"]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0].startswith("AP offline and ctr online both show new better than old")
    (whole,) = [line for line in lines if line.startswith("launch 1  new against old  all ")]
    assert whole.split()[-9:] == ["+0.030", "+0.020", "+0.040", "100", "+0.020", "+0.010", "+0.030", "100", "same"]
    (long,) = [line for line in lines if "length = long" in line]
    assert long.endswith("opposite")
    assert "segments offline only: topic = news" in captured.err
    assert "−" not in captured.out


def test_a_folder_stands_for_its_report_and_the_rows_can_be_written(
    reports: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "rows.json"
    folders = [str(Path(path).parent) for path in reports]
    arguments = ["--offline", folders[0], "--online", folders[1], "--format", "json", "--output", str(target)]
    assert main(["agree", *arguments, "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == str(target)
    found = json.loads(target.read_text(encoding="utf-8"))
    statistics = {(row["about"], row["statistic"]): row for row in found["rows"]}
    assert statistics["length = short", "online_difference"]["value"] == 0.04
    assert statistics["length", "same_direction_share"]["n"] == 2
    assert statistics["length", "pearson_r"]["value"] is None


def test_a_table_of_launches_is_read_from_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["name,offline,online"]
    for i in range(12):
        write(tmp_path / f"{i}" / "offline.json", offline({WHOLE: 0.01 * (i - 4)}))
        write(tmp_path / f"{i}" / "online.json", online({WHOLE: 0.02 * (i - 4) + 0.01 * (i % 3)}))
        lines.append(f"L{i},{i}/offline.json,{i}/online.json")
    table = write(tmp_path / "launches.csv", "\n".join(lines) + "\n")
    assert main(["agree", "--launches", str(table), "--quiet", "--alpha", "0.1"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Over 12 launches AP offline predicts the order of ctr online: Kendall's τ")
    assert "90 % interval" in out
    assert "L11" in out
    write(table, "\n".join(lines[:8]) + "\n")
    assert main(["agree", "--launches", str(table), "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("7 launches: too few to say")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--offline", "HERE"], "--offline is given 1 times and --online 0 times"),
        (["--offline", "HERE", "--online", "missing.json"], "missing.json: no such file"),
        (["--offline", "THERE", "--online", "HERE"], "offline and online are exchanged"),
        (["--offline", "HERE", "--online", "THERE", "--metric", "crt"], "did you mean 'ctr'"),
        (["--offline", "HERE", "--online", "THERE", "--alias", "old"], "write OFFLINE=ONLINE"),
        (["--offline", "HERE", "--online", "THERE", "--scores", "x.csv"], "two questions"),
        (["--offline", "HERE", "--online", "THERE", "--segment", "length"], "--segment has no meaning"),
        (["--offline", "HERE", "--online", "TABLE"], "is no report.json"),
        (["--launches", "TABLE"], "the columns offline and online are expected"),
        (["--launches", "CUT"], "cut.csv:3: the offline and the online report"),
        (["--ratings", "x.csv", "--metric", "ctr"], "--metric has no meaning with --ratings"),
    ],
)
def test_a_fault_is_one_message(
    arguments: list[str],
    message: str,
    reports: tuple[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = write(tmp_path / "table.csv", "a,b\n1,2\n")
    cut = write(tmp_path / "cut.csv", f"offline,online\n{reports[0]},{reports[1]}\n{reports[0]},\n")
    names = {"HERE": reports[0], "THERE": reports[1], "TABLE": str(table), "CUT": str(cut)}
    assert main(["agree", *(names.get(text, text) for text in arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1
