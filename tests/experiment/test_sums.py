"""Sums in one pass give what the units themselves give, however different in size the values are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats as scipy_stats

from rankstats.errors import InputError, PlanError
from rankstats.experiment import ExperimentSettings, metric_from_text, with_roles
from rankstats.experiment.reading import read_experiment
from rankstats.experiment.sums_reading import SumsReader
from tests.experiment.made import check, effect, readout


def both_ways(monkeypatch: pytest.MonkeyPatch, rows: Any, *metrics: str, **changes: Any) -> tuple[Any, Any]:
    """Return the readout by sums of rows and the one by units in memory."""
    by_sums = readout(rows, *metrics, **changes)
    monkeypatch.setattr(SumsReader, "suits", lambda self: False)
    return by_sums, readout(rows, *metrics, **changes)


def two_arms(values: Sequence[float] | Any, **columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"arm": ["A", "B"] * (len(values) // 2), "x": values, **columns})


def test_a_huge_value_in_one_segment_does_not_hide_the_spread_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).normal(5.0, 1.0, 400)
    values[300] = 9.2e18  # a sentinel
    rows = two_arms(values, seg=np.repeat(["p", "q"], 200))
    by_sums, by_units = both_ways(monkeypatch, rows, "x", segments=("seg",))
    wanted = scipy_stats.ttest_ind(values[1:200:2], values[0:200:2], equal_var=False)
    for found in (by_sums, by_units):
        assert effect(found, "x", "p").p_value == pytest.approx(wanted.pvalue, rel=1e-9)


@pytest.mark.parametrize("size", [1e6, 1e9, 1e15])
def test_what_is_left_without_the_dominating_unit_keeps_its_digits(size: float) -> None:
    values = np.random.default_rng(1).normal(5.0, 1.0, 400)
    values[300] = size
    rest = np.delete(values[0::2], 150)
    wanted = scipy_stats.ttest_ind(values[1::2], rest, equal_var=False).pvalue
    found = readout(two_arms(values), "x")
    assert "without" in check(found, "dominant_unit").found
    other = next(row for row in effect(found, "x").also if row.test.startswith("without unit"))
    assert other.p_value == pytest.approx(wanted, rel=1e-9)


def test_whole_numbers_whose_squares_are_rounded_keep_their_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    stamps = np.where(np.arange(400) < 200, 0, 1.7e15 + rng.normal(0.0, 1e6, 400)).astype(np.int64)
    rows = two_arms(stamps, seg=np.repeat(["p", "q"], 200))
    by_sums, by_units = both_ways(monkeypatch, rows, "x", segments=("seg",))
    wanted = scipy_stats.ttest_ind(stamps[201::2] - 1.7e15, stamps[200::2] - 1.7e15, equal_var=False).pvalue
    for found in (by_sums, by_units):
        assert effect(found, "x", "q").p_value == pytest.approx(wanted, rel=1e-6)
        assert effect(found, "x", "p").interval is None


@pytest.mark.parametrize("scale", [1e-290, 1e-150, 1e-90, 1e60])
def test_tiny_and_huge_values_are_read(monkeypatch: pytest.MonkeyPatch, scale: float) -> None:
    values = np.random.default_rng(3).normal(5.0, 1.0, 300) * scale
    rows = two_arms(values)
    rows["arm"] = np.where(np.arange(300) < 200, "A", "B")
    by_sums, by_units = both_ways(monkeypatch, rows, "x")
    assert effect(by_sums, "x").difference == pytest.approx(effect(by_units, "x").difference, rel=1e-12)
    assert effect(by_sums, "x").p_value == pytest.approx(effect(by_units, "x").p_value, rel=1e-9)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64"])
def test_unit_ids_may_fill_the_range_of_their_type(kind: str) -> None:
    info = np.iinfo(kind)
    ids = [int(info.min) + i for i in range(128)] + [int(info.max) - i for i in range(128)]
    rows = two_arms(np.arange(256.0), user=np.array(ids, dtype=kind))
    assert readout(rows, "x", unit="user").units[0].n == 128


def test_arms_without_a_denominator_have_no_ratio() -> None:
    rows = two_arms(np.arange(400.0))
    rows["arm"], rows["y"] = np.where(np.arange(400) < 300, "A", "B"), np.where(np.arange(400) < 300, 1, 0)
    assert effect(readout(rows, "sum(x)/sum(y)"), "sum(x)/sum(y)").no_interval == "an arm has no value"


def test_what_a_metric_measures_is_neither_covariate_nor_segment() -> None:
    rows = two_arms(np.arange(40.0))
    with pytest.raises(PlanError, match="segment 'x:q4': 'x' is what the metric 'x' measures"):
        readout(rows, "x", segments=("x:q4",))
    with pytest.raises(PlanError, match="given as unit and as arm"):
        readout(rows, "x", unit="arm", arm="arm")


def test_arms_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="there are 200 arms"):
        readout([{"arm": f"u{i}", "x": i} for i in range(200)], "x")
    with pytest.raises(InputError, match="cannot be printed"):
        readout([{"arm": f"a\x1b[31m{i % 2}", "x": i} for i in range(200)], "x")


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("spread", [1.0, 0.0])
def test_nan_that_a_parquet_file_does_not_state_is_no_value(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: pa.DataType, spread: float
) -> None:
    """The bounds in the file leave NaN out, so that only the sums meet it."""
    rng = np.random.default_rng(4)
    x = 7.0 + spread * rng.normal(size=400)
    x[[5, 8, 17]] = np.nan
    columns = {"x": x, "y": rng.normal(9.0, 1.0, 400), "z": rng.integers(1, 4, 400).astype(float)}
    path = tmp_path / "rows.parquet"
    arm = pa.array(["A", "B"] * 200)
    pq.write_table(
        pa.table({"arm": arm, **{name: pa.array(cells).cast(kind) for name, cells in columns.items()}}), path
    )
    stated = pq.ParquetFile(path).metadata.row_group(0).column(1).statistics
    assert (stated.null_count, stated.max) == (0, pytest.approx(np.nanmax(x)))
    asked = [metric_from_text(text) for text in ("x", "share(x)", "r = sum(x)/sum(z)")]
    asked.append(replace(metric_from_text("y"), covariate=("x",)))
    by_sums, by_units = both_ways(monkeypatch, path, metrics=with_roles(tuple(asked), frozenset()))
    for metric in asked:
        one, other = effect(by_sums, metric.name), effect(by_units, metric.name)
        assert one.n == other.n
        assert one.difference == pytest.approx(other.difference, rel=1e-9, abs=1e-12)
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-9)


def test_empty_cells_of_units_that_another_column_leaves_out_are_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(5.0, 1.0, (2, 400))
    x[[4, 9]] = y[[4, 9, 13]] = np.nan
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"arm": ["A", "B"] * 200, "x": x, "y": y}), path)
    seen = []
    for suits in (SumsReader.suits, lambda self: False):
        monkeypatch.setattr(SumsReader, "suits", suits)
        asked = tuple(map(metric_from_text, ("sum(x)/sum(y)", "share(y)")))
        found = read_experiment(ExperimentSettings(rows=((None, str(path)),), metrics=asked))
        seen.append([(metric.absent, metric.empty_cells) for metric in found.metrics])
    assert seen == [[((1, 2), 5), ((1, 2), 3)]] * 2
