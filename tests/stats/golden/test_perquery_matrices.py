"""Every number beside the shared matrices of real systems: scipy's tests, Friedman's, and published p-values."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from rankstats.stats import (
    Differences,
    friedman_test,
    paired_bootstrap,
    paired_differences,
    paired_t,
    sign_flip_test,
    sign_test,
    signed_rank_test,
)
from tests.shared import shared
from tests.stats.golden.leaves import EXACT, assert_every_leaf, drawn, within

pytestmark = pytest.mark.shared

FOLDER = "data/ir/perquery-matrices"
SMALLEST_WIN = 0.01
"""The published sign test counts differences of at most so much as ties."""

Floats = NDArray[np.float64]


def _matrix(path: Path) -> dict[str, Floats]:
    names = path.read_text(encoding="utf-8").partition("\n")[0].split(",")
    return dict(zip(names, np.loadtxt(path, delimiter=",", skiprows=1).T, strict=True))


def _as_scipy_ranks(baseline: Floats, system: Floats) -> Differences:
    """The signed ranks that scipy gives to differences as they come: rounding noise splits ties there."""
    raw = system - baseline
    signed = np.zeros(len(raw))
    signed[raw != 0] = np.sign(raw[raw != 0]) * stats.rankdata(np.abs(raw[raw != 0]))
    return paired_differences(np.zeros(len(raw)), signed)


def _noise_splits_ties(baseline: Floats, system: Floats) -> bool:
    d = paired_differences(baseline, system)
    whole = np.abs(d.integers[d.integers != 0])
    raw = np.abs(system - baseline)
    return len(np.unique(raw[raw != 0])) > len(np.unique(whole))


def _row(row: dict[str, str], matrix: dict[str, Floats]) -> dict[str, float]:
    system, baseline = matrix[row["run_a"]], matrix[row["run_b"]]
    d = paired_differences(baseline, system)
    ranked = _as_scipy_ranks(baseline, system) if _noise_splits_ties(baseline, system) else d
    return {
        "n_topics": d.n[0],
        "mean_diff": d.mean[0],
        "p_ttest_rel": paired_t(d).p_value[0],
        "p_wilcoxon_asymptotic": signed_rank_test(ranked, method="normal").p_value[0],
        "p_sign_binom": sign_test(d).p_value[0],
        "p_permutation_20000_seed1": sign_flip_test(d).p_value[0],
    }


def _doubled(p: float) -> float:
    """scipy doubles a one-sided p-value of 20,000 draws, and its error with it."""
    half = max(p / 2, 1 / 20_000)
    return 4.5 * math.sqrt(p * (1 - p) / 10_000 + 4 * half * (1 - half) / 20_000)


def _expected() -> list[dict[str, str]]:
    lines = shared(f"{FOLDER}/expected_tests_scipy.tsv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(lines, delimiter="\t"))


def test_tests_of_scipy() -> None:
    rows = _expected()
    matrices = {name: _matrix(shared(f"{FOLDER}/{name}")) for name in {row["file"] for row in rows}}
    names = ("file", "run_a", "run_b")
    reference = [{key: value if key in names else float(value) for key, value in row.items()} for row in rows]
    ours = [_row(row, matrices[row["file"]]) for row in rows]
    tolerances = {
        "*/n_topics": EXACT,
        "*/mean_diff": within(1e-10),
        "*/p_permutation*": _doubled,
        # printed with eight digits
        "*": within(relative=1e-7),
    }
    assert len(rows) == 50
    assert_every_leaf(reference, ours, tolerances, {f"*/{name}": "name of the input" for name in names})


def test_signed_ranks_of_scipy_differ_only_where_rounding_noise_splits_ties() -> None:
    rows = _expected()
    matrices = {name: _matrix(shared(f"{FOLDER}/{name}")) for name in {row["file"] for row in rows}}
    different, split = set(), set()
    for place, row in enumerate(rows):
        system, baseline = (matrices[row["file"]][row[run]] for run in ("run_a", "run_b"))
        p = signed_rank_test(paired_differences(baseline, system), method="normal").p_value[0]
        if not math.isclose(p, float(row["p_wilcoxon_asymptotic"]), rel_tol=1e-6):
            different.add(place)
        if _noise_splits_ties(baseline, system):
            split.add(place)
    assert different <= split
    assert len(different) == 15


def test_friedman_of_scipy() -> None:
    reference = json.loads(shared(f"{FOLDER}/friedman_scipy.json").read_text(encoding="utf-8"))
    ours = []
    for row in reference:
        result = friedman_test(np.column_stack(list(_matrix(shared(f"{FOLDER}/{row['file']}")).values())))
        assert result.p_value > 0
        ours.append(
            {
                "systems": len(result.mean_rank),
                "topics": result.n,
                "friedman_chi2": result.statistic,
                "p": result.p_value,
            }
        )
    # scipy's p of 0 is the smallest double here
    tolerances = {"*/p": within(1e-300, 1e-9), "*/friedman_chi2": within(relative=1e-11)}
    assert len(reference) == 5
    assert_every_leaf(reference, ours, tolerances, {"*/file": "name of the input"})


def test_published_p_values() -> None:
    reference = json.loads(shared(f"{FOLDER}/published_pvalues.json").read_text(encoding="utf-8"))
    values = list(_matrix(shared(f"{FOLDER}/{reference['file']}")).values())
    baseline, system = values[reference["baseline_column"] - 1], values[reference["experimental_column"] - 1]
    d, draws = paired_differences(baseline, system), 20_000
    clear = np.where(np.abs(system - baseline) > SMALLEST_WIN, system - baseline, 0.0)
    ranked, decided = _as_scipy_ranks(baseline, system), paired_differences(np.zeros(len(clear)), clear)
    ours: dict[str, list[Any]] = {}
    for name, differences, test, arguments in (
        ("test_t", d, paired_t, {}),
        ("test_wilcoxon", ranked, signed_rank_test, {"method": "normal", "correction": True}),
        ("test_sign", decided, sign_test, {}),
        ("test_bootstrap_1e6", d, paired_bootstrap, {"resamples": draws}),
        ("test_permutation_1e6", d, sign_flip_test, {"resamples": draws}),
    ):
        ours[name] = [test(differences, alternative=way, **arguments).p_value[0] for way in ("greater", "two-sided")]
    # printed with seven digits and more
    tolerances = {"*_1e6/*": drawn(draws, 10**6), "*": within(relative=1e-6)}
    inputs = dict.fromkeys(("source", "file", "baseline_column", "experimental_column", "*_are"), "input")
    assert_every_leaf(reference, ours, tolerances, inputs)
