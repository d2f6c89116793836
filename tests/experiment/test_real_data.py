"""Two published experiments against the numbers that scipy gives for them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rankstats.experiment import metric_from_text, read_out
from tests.experiment.made import check, effect, settings
from tests.shared import shared


def test_cookie_cats() -> None:
    folder = shared("data/ab/cookie-cats")
    expected = json.loads((folder / "expected_scipy.json").read_text())
    rows = ((None, str(folder / "cookie_cats.csv.gz")),)
    found = read_out(
        settings("retention_7", "retention_1", "sum_gamerounds", rows=rows, unit="userid", arm="test_version")
    )
    assert {unit.arm: unit.n for unit in found.units} == {
        "gate_30": expected["gate_30_n"],
        "gate_40": expected["gate_40_n"],
    }
    ratio = check(found, "sample_ratio")
    assert ratio.p_value == pytest.approx(expected["sample_ratio_chi2_p"], rel=1e-9)
    assert ratio.outcome == "warns"
    for name in ("retention_7", "retention_1"):
        assert effect(found, name).p_value == pytest.approx(expected[name]["chi2_no_correction_p"], rel=1e-9)
    rounds = effect(found, "sum_gamerounds")
    assert rounds.mean_baseline == pytest.approx(expected["sum_gamerounds"]["mean_30"], rel=1e-12)
    assert rounds.p_value == pytest.approx(expected["sum_gamerounds"]["welch_p"], rel=1e-9)
    assert found.verdict[0].outcome == "worse"
    assert "sum_gamerounds = 49,854) makes up" in check(found, "dominant_unit").found
    assert "p = .376 with it, p = .949 without" in check(found, "dominant_unit").found
    unit = next(other for other in rounds.also if other.test.startswith("without unit"))
    assert rounds.difference == pytest.approx(-1.1575, abs=5e-4)
    assert unit.difference == pytest.approx(-0.0433, abs=5e-4)
    assert unit.p_value == pytest.approx(0.949, abs=5e-4)


def test_open_bandit_from_one_file_an_arm() -> None:
    folder = shared("data/ab/open-bandit-men")
    expected = json.loads((folder / "expected_scipy.json").read_text())
    rows = tuple((arm, str(folder / f"{arm}.csv.gz")) for arm in ("random", "bts"))
    ctr = replace(metric_from_text("ctr = click"), role="primary")
    found = read_out(settings(metrics=(ctr,), rows=rows, segments=("position",), time="timestamp"))
    row = effect(found, "ctr")
    assert row.p_value == pytest.approx(expected["bts_vs_random"]["p_two_sided"], rel=1e-9)
    assert (row.baseline, row.system, row.n_baseline, row.n_system) == ("random", "bts", 10_000, 10_000)
    for position in "123":
        part = effect(found, "ctr", position)
        for arm, mean, n in (("random", part.mean_baseline, part.n_baseline), ("bts", part.mean_system, part.n_system)):
            clicks, impressions = expected[arm]["by_position"][position]
            assert n == impressions
            assert mean == pytest.approx(clicks / impressions, rel=1e-12)
    assert len(found.days) == 7
    assert found.days[-1].n_to_date == 20_000
