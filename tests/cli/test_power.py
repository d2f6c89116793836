"""``rankstats power``: numbers, formats, the curve, A/A calibration, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from rankstats.cli.main import main
from tests.decision.made import noise, pair, report_of
from tests.stats.cases import golden


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    report = report_of(pair(noise(60, 0.05, 0.2)), columns={"kind": ["x", "y", "y"] * 20})
    Path("report.json").write_text(json.dumps(report), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("row", golden("power")["sample_size"], ids=lambda row: f"d {row['d']}")
def test_queries_needed_from_a_standard_deviation(row: dict[str, float], capsys: pytest.CaptureFixture[str]) -> None:
    command = ["power", "--sd", "1", "--difference", str(row["d"]), "--alpha", str(row["alpha"])]
    assert main([*command, "--power", str(row["power"]), "--format", "json"]) == 0
    (planned,) = json.loads(capsys.readouterr().out)
    assert planned["queries_needed"] == row["n_ceiling"]


def test_a_table_says_what_it_rests_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["power", "--sd", "0.2", "--n", "50", "--comparisons", "4", "--one-sided"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "paired t test, one-sided, level 0.05, 4 comparisons made together (Bonferroni); found with probability 0.8"
    )
    assert lines[1].split()[0] == "n"
    assert len(lines) == 3
    assert main(["power", "report.json", "--difference", "AP=0.05", "--segment", "kind"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[1].split()[:4] == ["measure", "baseline", "system", "segment"]
    assert [line.split()[:5] for line in table[2:]] == [
        ["AP", "prod", "new", "-", "60"],
        ["AP", "prod", "new", "kind=x", "20"],
        ["AP", "prod", "new", "kind=y", "40"],
    ]


def test_formats_hold_the_same_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["power", "report.json", "--difference", "0.05", "--simulate", "t", "--repetitions", "200", "--format"]
    assert main([*command, "json"]) == 0
    (planned,) = json.loads(capsys.readouterr().out)
    assert main([*command, "csv"]) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert float(row["power_at_n"]) == planned["power_at_n"]
    assert int(row["queries_needed"]) == planned["queries_needed"]
    assert float(row["simulated_power"]) == planned["simulated"]["power_at_n"]
    assert planned["standard_deviation"] == pytest.approx(0.2, rel=1e-6)


def test_the_curve_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["power", "report.json", "--difference", "0.05", "--out", "curve"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "curve/power.svg"
    assert sorted(path.name for path in (folder / "curve").iterdir()) == ["power.csv", "power.svg"]
    assert (folder / "curve/power.svg").read_text().startswith('<?xml version="1.0" encoding="UTF-8"?>\n<svg ')


def test_calibration_says_which_test_to_trust(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    rows = [f"{q},{s},AP,{value:.4f}" for q in range(30) for s, value in zip("abc", rng.beta(2, 2, 3), strict=True)]
    Path("s.csv").write_text("\n".join(["query_id,system,measure,value", *rows]), encoding="utf-8")
    command = ["power", "--calibrate", "s.csv", "--repetitions", "200", "--resamples", "199"]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("A/A: level 0.05, 200 repetitions a rate, Monte Carlo error 0.0154")
    assert [line.split()[2] for line in lines[2:7]] == ["randomisation", "t", "bootstrap", "wilcoxon", "sign"]
    assert lines[-1] == "AP, 30 queries: trust randomisation"
    assert main([*command, "--format", "csv", "--out", "aa"]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith("aa/calibration.csv\n")
    assert printed.startswith((folder / "aa/calibration.csv").read_text())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one of REPORT.json, --sd NUMBER (or --base-rate SHARE) and --calibrate SCORES"),
        (["report.json", "--sd", "1"], "give one of"),
        (["--sd", "1"], "give --difference SIZE, or --n N, or both"),
        (["--sd", "-1", "--n", "50"], "a number above 0 is expected"),
        (["--sd", "1", "--n", "1"], "2 queries or more"),
        (["--sd", "1", "--difference", "0"], "a difference other than 0"),
        (["--sd", "1", "--difference", "x"], "write SIZE or MEASURE=SIZE"),
        (["--sd", "1", "--difference", "AP=0.1"], "write --difference SIZE"),
        (["--sd", "1", "--n", "50", "--segment", "kind"], "--segment: --sd knows no report"),
        (["--sd", "1", "--n", "50", "--power", "0.01"], "between alpha"),
        (["--sd", "1", "--n", "50", "--comparisons", "0"], "family_size"),
        (["report.json", "--difference", "0.1,AP=0.1"], "one size for all measures, or one for each"),
        (["report.json", "--difference", "APP=0.1"], "did you mean 'AP'"),
        (["report.json", "--segment", "knd"], "did you mean 'kind'"),
        (["report.json", "--baseline", "old"], "baseline 'old' is not among the systems"),
        (["none.json"], "none.json: cannot read"),
        (["report.json", "--out", ""], "--out names nothing"),
        (["--calibrate", "none.csv"], "none.csv: "),
    ],
)
def test_what_is_refused_says_the_way_out(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["power", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert [path.name for path in folder.iterdir()] == ["report.json"]
