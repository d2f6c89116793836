"""``rankstats ab`` with summaries: recognised by content, merged, written whole or not at all, refused with a word."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from rankstats.cli.main import main
from tests.experiment.made import units

ASKED = [
    *("--unit", "user", "--control", "A", "--metric", "revenue", "--metric", "ctr = sum(clicks)/sum(impressions)"),
    *("--metric", "paid", "--primary", "ctr", "--guard", "paid=0.05", "--lower", "revenue", "--covariate", "past"),
    *("--segment", "country", "--share", "A=1", "--share", "B=1"),
]


@pytest.fixture
def days(tmp_path: Path) -> list[Path]:
    rows = units(200)
    paths = []
    for name, part in {"all": rows, "day1": rows[:80], "day2": rows[80:150], "day3": rows[150:]}.items():
        paths.append(tmp_path / f"{name}.csv")
        with paths[-1].open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(part)
    return paths


def summarised(path: Path, *options: str) -> Path:
    target = path.with_suffix(".summary.json")
    assert main(["ab", str(path), *ASKED, "--summary-out", str(target), "--summary-only", *options]) == 0
    return target


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return found


def held(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["summary"]
    return {key: value for key, value in found.items() if key != "sources"}


def test_days_summarised_once_give_the_readout_of_all_rows(
    days: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [summarised(path) for path in days[1:]]
    assert capsys.readouterr().out.splitlines()[0].startswith("Summary of 80 units (A ")
    assert not (tmp_path / "reports").exists()
    assert main(["ab", *map(str, paths), "--out", str(tmp_path / "merged"), "--quiet"]) == 0
    merged = capsys.readouterr().out.splitlines()
    assert main(["ab", str(days[0]), *ASKED, "--out", str(tmp_path / "rows"), "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == merged[0]
    one, two = report(tmp_path / "merged"), report(tmp_path / "rows")
    assert one["primary"] == two["primary"] == ["ctr"]
    for key in ("outcome", "sentence", "measure", "margin"):
        assert [guard[key] for guard in one["experiment"]["guards"]] == [g[key] for g in two["experiment"]["guards"]]
    for a, b in zip(one["differences"], two["differences"], strict=True):
        assert a["difference"] == pytest.approx(b["difference"], rel=1e-12)
        assert a["p_value"] == pytest.approx(b["p_value"], rel=1e-9)
        for key in ("measure", "segment", "n", "adjusted_for", "higher_is_better", "family"):
            assert a[key] == b[key]


def test_merged_summaries_are_written_and_are_those_of_one_pass(days: list[Path], tmp_path: Path) -> None:
    paths = [summarised(path, "--resamples", "5", "--seed", "2") for path in days]
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert main(["ab", *map(str, paths[2:]), "--summary-out", str(first), "--summary-only"]) == 0
    assert main(["ab", str(first), str(paths[1]), "--summary-out", str(second), "--summary-only"]) == 0
    assert held(second) == held(paths[0])
    again = tmp_path / "again.json.gz"
    out = ["--out", str(tmp_path / "out"), "--quiet"]
    assert main(["ab", *map(str, reversed(paths[1:])), "--summary-out", str(again), *out]) == 0
    third = tmp_path / "third.json"
    assert main(["ab", str(again), "--summary-out", str(third), "--summary-only"]) == 0
    assert third.read_bytes() == second.read_bytes()


def test_options_choose_among_what_a_summary_holds(days: list[Path], tmp_path: Path) -> None:
    path, out = str(summarised(days[0])), tmp_path / "out"
    arguments = ["--metric", "revenue", "--metric", "paid", "--primary", "revenue", "--alpha", "0.1", "--quiet"]
    assert main(["ab", path, *arguments, "--out", str(out)]) == 0
    found = report(out)
    assert (found["primary"], found["alpha"]) == (["revenue"], 0.1)
    assert [measure["name"] for measure in found["measures"]] == ["revenue", "paid"]
    assert [measure["higher_is_better"] for measure in found["measures"]] == [False, True]
    assert [guard["measure"] for guard in found["experiment"]["guards"]] == ["paid"]
    assert "primary" not in str(found["reproduction"]["plan"]["overridden"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["DAY1", "--metric", "revenu"], "did you mean 'revenue'"),
        (["DAY1", "DAY1COPY"], "in common"),
        (["DAY1", "ROWS"], "is no summary"),
        (["DAY1", "--resamples", "9"], "give --resamples there"),
        (["DAY1", "--segment", "past"], "is not in the summary"),
        (["A=DAY1"], "holds all arms"),
        (["ROWS", "--metric", "revenue", "--summary-only"], "--summary-only needs --summary-out"),
        (["ROWS", "--metric", "revenue", "--seed", "3"], "--seed is that of --resamples"),
        (["ROWS", "--metric", "quantile(revenue, 0.9)", "--summary-out", "NEW"], "is a quantile"),
        (["ROWS", "--metric", "revenue", "--summary-out", "ROWS"], "one of the files that are read"),
        (["AGGREGATES", "--summary-out", "NEW"], "no summary can be made"),
    ],
)
def test_a_fault_is_one_message_and_writes_nothing(
    arguments: list[str], message: str, days: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aggregates, copy = tmp_path / "aggregates.csv", tmp_path / "copy.json"
    aggregates.write_text("arm,metric,n,mean,variance\nA,x,50,1,1\nB,x,50,1,2\n", encoding="utf-8")
    day = summarised(days[1])
    copy.write_bytes(day.read_bytes())
    names = {"DAY1COPY": copy, "DAY1": day, "ROWS": days[0], "AGGREGATES": aggregates, "NEW": tmp_path / "new.json"}
    given = [arguments[0].replace("DAY1", str(day)) if "=" in arguments[0] else arguments[0], *arguments[1:]]
    given = [str(names.get(text, text)) for text in given]
    before = sorted(path.name for path in tmp_path.iterdir())
    capsys.readouterr()
    folder = [] if "--summary-only" in arguments else ["--out", str(tmp_path / "out")]
    assert main(["ab", *given, *folder]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_summary_that_was_cut_short_is_told_from_rows(
    days: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tmp_path / "day.json.gz"
    assert main(["ab", str(days[1]), *ASKED, "--summary-out", str(whole), "--summary-only"]) == 0
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(whole.read_bytes()[:600])
    capsys.readouterr()
    assert main(["ab", str(cut), str(summarised(days[2])), "--out", str(tmp_path / "out")]) == 2
    assert f"{cut}: cannot be read (Compressed file ended" in capsys.readouterr().err


def test_a_gate_reads_summaries(days: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(summarised(path)) for path in days[1:]]
    policy, out = tmp_path / "policy.toml", tmp_path / "gate"
    claim = '[[claim]]\nid = "faster"\nmeasure = "revenue"\nmore_than = 0.0\nbetter = "lower"\n'
    head = 'schema_version = "1"\nbaseline = "A"\ncandidate = "B"\n'
    policy.write_text(head + claim, encoding="utf-8")
    capsys.readouterr()
    status = main(["gate", "--rows", paths[0], *paths[1:], "--policy", str(policy), "--out", str(out)])
    assert status in (0, 1, 3), capsys.readouterr().err
    assert sum(arm["n"] for arm in report(out)["experiment"]["units"]) == len(units(200))
