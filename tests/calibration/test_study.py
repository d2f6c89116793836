"""The cells of the study, counted on small cases; resuming; and the tables that it writes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.calibration import study
from tests.calibration.draws import random_pairs, read_matrix
from tests.calibration.family import Tally, covers
from tests.calibration.pairs import all_pairs_corrections, ranks_hold
from tests.calibration.single import interval_rows, rejection_rows
from tests.calibration.study import Cell, cells
from tests.calibration.tables import COLUMNS, END, START, read_rows, shown, table, write_readme, write_rows


def test_cells_are_distinct() -> None:
    keys = [(cell.table, *cell.key) for cell in cells()]
    assert len(set(keys)) == len(keys)
    assert min(cell.repetitions for cell in cells()) == 1000


@pytest.mark.shared
def test_a_cell_gives_the_same_rows_again() -> None:
    cell = Cell("families", "AP", "centred", 25, 3, 5)
    assert cell.run() == cell.run()


@pytest.mark.shared
@pytest.mark.parametrize("table_name", ["tests", "intervals", "families", "all_pairs"])
def test_rows_have_the_columns_of_their_table(table_name: str) -> None:
    size = {"families": 5, "all_pairs": 3}.get(table_name, 0)
    way = "as drawn" if table_name in ("intervals", "all_pairs") else "swapped"
    rows = Cell(table_name, "RR", way, 25, 4, size).run()
    for row in rows:
        assert set(row) <= set(COLUMNS[table_name])
        assert tuple(str(row[name]) for name in list(row)[: 4 if size else 3]) == (
            "RR",
            way,
            "25",
            *([str(size)] if size else []),
        )


@pytest.mark.shared
def test_rates_follow_from_the_p_values() -> None:
    rows = rejection_rows("AP", "swapped", 10, 40, np.random.default_rng(1))
    rates = {(row["test"], row["alpha"]): row["rate"] for row in rows}
    assert len(rates) == 10
    assert all(rates[test, 0.01] <= rates[test, 0.05] for test, _ in rates)


@pytest.mark.shared
def test_intervals_cover_more_at_the_stricter_level_and_are_wider() -> None:
    rows = interval_rows("AP", "as drawn", 10, 60, np.random.default_rng(1))
    by_name = {(row["interval"], row["alpha"]): row for row in rows}
    assert by_name["t", 0.05]["ratio_to_t"] == 1
    for name in {row["interval"] for row in rows}:
        loose, strict = by_name[name, 0.05], by_name[name, 0.01]
        assert strict["coverage"] >= loose["coverage"] > 0.6
        # an unbounded interval has no width to average
        assert strict["mean_width"] > loose["mean_width"] or strict["unbounded"] > 0


@pytest.mark.shared
def test_matrices_hold_pairs() -> None:
    values = read_matrix("nDCG@20")
    assert values.shape == (48, 88)
    assert random_pairs(np.random.default_rng(1), values, 10)[0].shape == (10,)


def test_a_missing_interval_claims_nothing() -> None:
    low, high = np.array([np.nan, 0.1, -np.inf, 0.3]), np.array([np.nan, 0.2, np.inf, 0.4])
    assert covers(low, high, np.array([5.0, 0.2, 0.0, 0.2])).tolist() == [True, True, True, False]


def test_tally_counts_errors_under_a_null_hypothesis_and_power_otherwise() -> None:
    tally = Tally()
    low, high = np.array([0.1, -0.1]), np.array([0.3, np.inf])
    tally.add((np.array([0.03, 0.5]), low, high), np.array([0.2, 0.1]), np.array([0.15, 0.2]))
    tally.add((np.array([0.005, 0.04]), low, high), np.array([0.2, -0.1]), np.array([-0.1, 0.2]))
    errors, drawn = tally.row("centred"), tally.row("as drawn")
    assert (errors["rate_05"], errors["rate_01"]) == (1.0, 0.5)
    # one of two in the first family, none in the right direction in the second
    assert drawn["power"] == 0.25
    assert drawn["joint_coverage"] == 0.5
    assert drawn["mean_width"] == pytest.approx(0.2)
    assert drawn["unbounded"] == 0.5


def test_rank_intervals_hold_true_ranks() -> None:
    truth = np.array([0.1, 0.3, 0.3])
    right, everything = np.array([0.2, 0.2, 0.0]), np.array([False, False, False])
    holds, width = ranks_hold(right, np.array([True, True, False]), truth)
    assert holds
    assert width == pytest.approx(5 / 3)
    assert ranks_hold(right, everything, truth) == (True, 3.0)
    assert not ranks_hold(-right, np.array([True, True, False]), truth)[0]


def test_all_pairs_corrections_agree_on_a_clear_case() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal([0.0, 0.0, 3.0], 1.0, size=(40, 3))
    for p, low, high in all_pairs_corrections(values, rng).values():
        assert (p <= 0.05).tolist() == [False, True, True]
        if low is not None and high is not None:
            assert (low > 0).tolist() == [False, True, True]


def test_tables_are_read_back_and_the_text_around_them_stays(tmp_path: Path) -> None:
    rows = [{"measure": "AP", "way": "centred", "n": 10, "test": "t", "alpha": 0.05, "repetitions": 4, "rate": 1 / 3}]
    write_rows(tmp_path / "tests.csv", "tests", rows)
    assert read_rows(tmp_path / "tests.csv")[0]["rate"] == "0.33333"
    assert read_rows(tmp_path / "intervals.csv") == []
    (tmp_path / "README.md").write_text(f"before\n{START}\nold\n{END}\nafter\n", encoding="utf-8")
    write_readme(tmp_path)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| centred | 10 | AP | .333 |" in text
    assert "old" not in text


def test_numbers_in_tables() -> None:
    assert (shown(0.05), shown("1.2345", 2), shown(-0.5)) == (".050", "1.23", "-0.500")
    assert table(["a", "b"], [["x", "1"]], 1).splitlines()[1:] == ["| --- | ---: |", "| x | 1 |"]


@pytest.mark.shared
@pytest.mark.slow
def test_the_study_takes_up_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = [Cell("tests", "AP", "centred", 10, 4), Cell("tests", "RR", "swapped", 10, 4)]
    monkeypatch.setattr(study, "cells", lambda _scale: iter(few[:1]))
    monkeypatch.setattr(sys, "argv", ["study", "--out", str(tmp_path), "--tables", "tests"])
    study.main()
    first = read_rows(tmp_path / "tests.csv")
    monkeypatch.setattr(study, "cells", lambda _scale: iter(few))
    study.main()
    both = read_rows(tmp_path / "tests.csv")
    assert both[: len(first)] == first
    assert len(both) == 2 * len(first)
    assert capsys.readouterr().out.count("tests AP centred 10") == 1
    assert (tmp_path / "README.md").exists()
