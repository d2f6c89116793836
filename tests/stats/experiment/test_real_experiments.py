"""Two public experiments against scipy's numbers: retention in a mobile game, and a recommender's impressions."""

from __future__ import annotations

import csv
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats

from rankstats.stats import (
    UnitMoments,
    adjust,
    compare_arms,
    compare_proportions,
    count_moments,
    mean_pair,
    poisson_bootstrap,
    poisson_sums,
    sample_ratio_test,
    segment_effects,
    unit_moments,
    unit_permutation_test,
    winsorising_cap,
)
from tests.shared import shared

pytestmark = pytest.mark.shared


def _rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@cache
def _game() -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Expected numbers; and columns by name, 'arm' among them (True: gate_40)."""
    folder = shared("data/ab/cookie-cats")
    rows = _rows(folder / "cookie_cats.csv.gz")
    columns: dict[str, NDArray[Any]] = {
        "user": np.array([row["userid"] for row in rows]),
        "arm": np.array([row["test_version"] == "gate_40" for row in rows]),
        "rounds": np.array([float(row["sum_gamerounds"]) for row in rows]),
    }
    for day in ("retention_1", "retention_7"):
        columns[day] = np.array([row[day] == "True" for row in rows])
    return json.loads((folder / "expected_scipy.json").read_text(encoding="utf-8")), columns


def _arms(values: NDArray[np.float64], arm: NDArray[np.bool_]) -> tuple[UnitMoments, UnitMoments]:
    return unit_moments(values[~arm]), unit_moments(values[arm])


def test_the_game_had_a_sample_ratio_to_be_warned_of() -> None:
    expected, columns = _game()
    counts = [expected["gate_30_n"], expected["gate_40_n"]]
    assert [np.count_nonzero(~columns["arm"]), np.count_nonzero(columns["arm"])] == counts
    ours = sample_ratio_test(counts)
    assert_allclose(ours.p_value, expected["sample_ratio_chi2_p"], rtol=1e-9)
    assert ours.outcome == "warns"


@pytest.mark.parametrize("day", ["retention_1", "retention_7"])
def test_retention_in_the_game(day: str) -> None:
    expected, columns = _game()
    came_back = [np.count_nonzero(columns[day] & (columns["arm"] == arm)) for arm in (False, True)]
    assert came_back == [expected[day]["gate_30"], expected[day]["gate_40"]]
    ours = compare_proportions(came_back[0], expected["gate_30_n"], came_back[1], expected["gate_40_n"])
    assert_allclose(np.sqrt(ours.chi_squared[0]), expected[day]["z_pooled"], rtol=1e-9)
    assert_allclose(ours.p_value[0], expected[day]["p_two_sided"], rtol=1e-9)
    assert (ours.high[0] < 0) == (day == "retention_7")
    # the mean of zeros and ones, from units and from counts
    of_units = mean_pair(*_arms(columns[day].astype(float), columns["arm"]))
    of_counts = mean_pair(
        count_moments(came_back[0], expected["gate_30_n"]), count_moments(came_back[1], expected["gate_40_n"])
    )
    assert_allclose(of_units.difference, of_counts.difference, rtol=1e-12)
    assert_allclose(of_units.variance, of_counts.variance, rtol=1e-9)
    assert_allclose(compare_arms(of_units).p_value[0], expected[day]["p_two_sided"], rtol=1e-2)


def test_rounds_in_the_game_with_and_without_one_unit() -> None:
    expected, columns = _game()
    rounds, arm = columns["rounds"], columns["arm"]
    whole = compare_arms(mean_pair(*_arms(rounds, arm)))
    assert_allclose([whole.control[0], whole.treatment[0]], [expected["sum_gamerounds"][f"mean_{a}"] for a in (30, 40)])
    assert_allclose(whole.p_value[0], expected["sum_gamerounds"]["welch_p"], rtol=1e-9)
    assert rounds.max() == 49854
    kept = rounds < 49854
    without = compare_arms(mean_pair(*_arms(rounds[kept], arm[kept])))
    theirs = stats.ttest_ind(rounds[kept & arm], rounds[kept & ~arm], equal_var=False)
    assert_allclose(without.p_value[0], theirs.pvalue, rtol=1e-9)
    assert [round(float(result.p_value[0]), 3) for result in (whole, without)] == [0.376, 0.949]
    # capped at one number for both arms, nobody need be left out
    cap = winsorising_cap([rounds[~arm], rounds[arm]], 0.999)
    capped = compare_arms(mean_pair(*_arms(cap.apply(rounds), arm)))
    assert cap.capped.sum() < 0.001 * len(rounds)
    assert capped.p_value[0] > 0.8
    assert capped.standard_error[0] < 0.6 * whole.standard_error[0]


def test_the_game_by_resampling() -> None:
    _, columns = _game()
    rounds, arm, user = columns["rounds"], columns["arm"], columns["user"]
    kept = rounds < 49854
    ours = unit_permutation_test(rounds[kept & ~arm], rounds[kept & arm], resamples=500)
    assert abs(ours.p_value[0] - 0.949) < 4.5 * np.sqrt(0.05 / 500)
    sums = [poisson_sums(user[rows], columns["retention_7"][rows], resamples=300) for rows in (~arm, arm)]
    bootstrap = poisson_bootstrap(*sums)
    assert bootstrap.p_value[0] < 0.02
    assert bootstrap.high[0] < 0


def test_the_family_of_the_game() -> None:
    _, columns = _game()
    metrics = np.column_stack([columns["rounds"], columns["retention_1"], columns["retention_7"]])
    ours = compare_arms(mean_pair(*(unit_moments(metrics[columns["arm"] == arm]) for arm in (False, True))))
    adjusted = adjust(ours.p_value, "holm")
    assert_allclose(adjusted[2], 3 * ours.p_value[2])
    assert np.count_nonzero(adjusted <= 0.05) == 1


def test_the_recommender() -> None:
    """Impressions, as in the reference: the log names no users."""
    folder = shared("data/ab/open-bandit-men")
    expected = json.loads((folder / "expected_scipy.json").read_text(encoding="utf-8"))
    logs = {policy: _rows(folder / f"{policy}.csv.gz") for policy in ("random", "bts")}
    clicks = {policy: sum(int(row["click"]) for row in rows) for policy, rows in logs.items()}
    for policy, rows in logs.items():
        assert [len(rows), clicks[policy]] == [expected[policy]["impressions"], expected[policy]["clicks"]]
    ours = compare_proportions(clicks["random"], len(logs["random"]), clicks["bts"], len(logs["bts"]))
    assert_allclose(np.sqrt(ours.chi_squared[0]), expected["bts_vs_random"]["z_pooled"], rtol=1e-9)
    assert_allclose(ours.p_value[0], expected["bts_vs_random"]["p_two_sided"], rtol=1e-9)
    by_position = [
        [expected[policy]["by_position"][str(position)] for position in (1, 2, 3)] for policy in ("random", "bts")
    ]
    control, treatment = (count_moments(*np.array(of_policy).T) for of_policy in by_position)
    positions = segment_effects(mean_pair(control, treatment))
    effects, variances = [], []
    for before, after in zip(*by_position, strict=True):
        shares = [(clicked / shown, shown) for clicked, shown in (before, after)]
        effects.append(shares[1][0] - shares[0][0])
        variances.append(sum(share * (1 - share) / (shown - 1) for share, shown in shares))
    assert_allclose(positions.estimate[0], effects[1] - effects[0], rtol=1e-12)
    weights = 1 / np.array(variances)
    centre = weights @ effects / weights.sum()
    assert_allclose(positions.q, weights @ (np.array(effects) - centre) ** 2, rtol=1e-9)
    assert positions.reversal
