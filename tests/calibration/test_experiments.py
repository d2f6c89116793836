"""The cells of the study of experiments on small cases, and the tables that it writes."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.calibration import experiments
from tests.calibration.experiment_arms import Tallies, pieces
from tests.calibration.experiments import COLUMNS, SCENARIOS, Cell, cells, markdown, write
from tests.calibration.tables import END, START

FEWEST = {"sequences": 400}
"""A hundred looks need more than one unit each."""
SMALL = {
    cell.scenario: Cell(cell.scenario, min(cell.n, FEWEST.get(cell.scenario, 40)), cell.setting, 3)
    for cell in cells()
    if cell.scenario != "ratios"
}
"""All but the one whose truth takes seconds to simulate."""


def test_cells_are_distinct_and_cover_all_scenarios() -> None:
    keys = [(cell.scenario, cell.n, cell.setting) for cell in cells()]
    assert len(set(keys)) == len(keys)
    assert {cell.scenario for cell in cells()} == set(SCENARIOS)
    assert all(cell.repetitions >= 2 for cell in cells(0.0001))


@pytest.mark.parametrize("scenario", [name for name in SMALL if name != "balanced interleaving"])
def test_a_cell_gives_the_same_rows_again(scenario: str) -> None:
    rows = SMALL[scenario].run()
    assert rows == SMALL[scenario].run()
    for row in rows:
        assert set(row) <= set(COLUMNS)
        assert 0 <= row["rejects"] <= 1


def test_tallies() -> None:
    tallies = Tallies({"difference": 1.0})
    tally = tallies.of("one")
    tally.add([0.04, 0.2], np.array([0.5, 0.9]), np.array([1.5, np.inf]), np.array([1.0, 2.0]))
    tally.add(np.nan, np.nan, np.nan, np.nan)
    tallies.of("two").add([0.5], np.array([1.2]), np.array([1.7]))
    one, two = tallies.rows()
    assert one["rejects"] == pytest.approx(1 / 3)
    assert one["coverage"] == 1.0
    assert one["bias"] == pytest.approx(1.0)
    assert one["width"] == 1.0
    assert two["width"] == pytest.approx(0.5)
    assert two["coverage"] == 0.0
    assert sum(pieces(1 << 19, 7)) == 7


def test_tables_keep_the_text_around_them(tmp_path: Path) -> None:
    rows = [
        {
            "scenario": "margins",
            "n": 5,
            "setting": "log",
            "method": "m",
            "repetitions": 4,
            "rejects": 0.25,
            "width": 1.0,
        },
        {"scenario": "margins", "n": 6, "setting": "log", "method": "m", "repetitions": 4, "rejects": 1 / 3},
    ]
    (tmp_path / "experiments.md").write_text(f"before\n{START}\nold\n{END}\nafter\n", encoding="utf-8")
    write(tmp_path, rows)
    text = (tmp_path / "experiments.md").read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| log | 5 | m | 4 | .250 | 1.000 |" in text
    assert "old" not in text
    with (tmp_path / "experiments.csv").open(newline="", encoding="utf-8") as file:
        assert [row["rejects"] for row in csv.DictReader(file)] == ["0.25", "0.33333"]
    assert markdown([]) == "\n"


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["experiments", "--out", str(tmp_path), "--scale", "0.001", "--scenarios", "conversions"]
    monkeypatch.setattr("sys.argv", arguments)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    experiments.main()
    assert capsys.readouterr().out.count("conversions") == 6
    assert "### Conversions" in (tmp_path / "experiments.md").read_text(encoding="utf-8")
    before = (tmp_path / "experiments.csv").read_text(encoding="utf-8")
    monkeypatch.setattr("sys.argv", [*arguments[:-1], "margins"])
    experiments.main()
    # the rows of scenarios that were not run stay as they are
    after = (tmp_path / "experiments.csv").read_text(encoding="utf-8")
    assert after.startswith(before)
    assert len(after) > len(before)
