"""Real per-query values against scipy's and published numbers."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from rankstats.stats import (
    Differences,
    adjust,
    paired_bootstrap,
    paired_differences,
    paired_t,
    sign_flip_test,
    sign_test,
    signed_rank_test,
)
from tests.shared import shared
from tests.stats.cases import SCIPYS_NORMAL

pytestmark = pytest.mark.shared

MATRICES = "data/ir/perquery-matrices"
COLLECTIONS = {
    "data/ir/trec-covid-r5": "perquery_trec_eval.tsv",
    "data/ir/dl-hard-passage": "perquery_trec_eval_rel2.tsv",
    "data/ir/dl-hard-doc": "perquery_trec_eval_rel2.tsv",
    "data/ir/trec-web-2012": "perquery_trec_eval.tsv",
}


def _rows(path: Path) -> list[dict[str, str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="," if ".csv" in path.name else "\t"))


def _close(ours: float, theirs: float, resamples: int = 10_000, theirs_doubled: int = 20_000) -> bool:
    """Whether two drawn p-values agree; scipy doubles a one-sided one, and its error with it."""
    half = max(theirs / 2, 1 / theirs_doubled)
    variance = theirs * (1 - theirs) / resamples + 4 * half * (1 - half) / theirs_doubled
    return bool(abs(ours - theirs) < 4.5 * np.sqrt(variance))


def _scipys_wilcoxon(d: Differences, **arguments: Any) -> list[float]:
    # on the rounded differences: the raw ones are tied or not by the noise of a subtraction
    return [
        wilcoxon(column, method=SCIPYS_NORMAL, **arguments).pvalue if column.any() else 1.0 for column in d.values.T
    ]


def test_matrices_equal_scipy() -> None:
    folder = shared(MATRICES)
    matrices = {
        name: _rows(folder / name) for name in {row["file"] for row in _rows(folder / "expected_tests_scipy.tsv")}
    }
    for row in _rows(folder / "expected_tests_scipy.tsv"):
        a, b = (np.array([float(line[row[run]]) for line in matrices[row["file"]]]) for run in ("run_a", "run_b"))
        d = paired_differences(b, a)
        assert_allclose(d.mean, float(row["mean_diff"]), atol=1e-6)
        assert_allclose(paired_t(d).p_value, float(row["p_ttest_rel"]), rtol=1e-5)
        ranks = signed_rank_test(d, method="normal")
        assert_allclose(ranks.p_value, _scipys_wilcoxon(d), rtol=1e-9)
        assert_allclose(sign_test(d).p_value, float(row["p_sign_binom"]), rtol=1e-6)
        assert _close(sign_flip_test(d).p_value[0], float(row["p_permutation_20000_seed1"])), row


def test_published_p_values() -> None:
    published = json.loads((shared(MATRICES) / "published_pvalues.json").read_text(encoding="utf-8"))
    lines = [list(row.values()) for row in _rows(shared(MATRICES) / published["file"])]
    columns = [published["baseline_column"] - 1, published["experimental_column"] - 1]
    a, b = (np.array([float(line[column]) for line in lines]) for column in columns)
    d = paired_differences(a, b)
    assert_allclose(paired_t(d).p_value, published["test_t"][1], rtol=1e-6)
    assert_allclose(paired_t(d, alternative="greater").p_value, published["test_t"][0], rtol=1e-6)
    corrected = signed_rank_test(d, method="normal", correction=True)
    assert_allclose(corrected.p_value, _scipys_wilcoxon(d, correction=True), rtol=1e-9)
    assert_allclose(corrected.p_value, published["test_wilcoxon"][1], rtol=0.03)
    assert _close(sign_flip_test(d, resamples=20_000).p_value[0], published["test_permutation_1e6"][1], 20_000, 10**6)
    assert _close(paired_bootstrap(d, resamples=20_000).p_value[0], published["test_bootstrap_1e6"][1], 20_000, 10**6)


def _values(path: Path, measure: str) -> dict[str, NDArray[np.float64]]:
    of_run: dict[str, dict[str, float]] = defaultdict(dict)
    for row in _rows(path):
        of_run[row["run"]][row["query"]] = float(row[measure])
    queries = sorted(next(iter(of_run.values())))
    return {run: np.array([values[query] for query in queries]) for run, values in of_run.items()}


@pytest.mark.parametrize("folder", COLLECTIONS)
def test_collections_equal_scipy_and_statsmodels(folder: str) -> None:
    expected = _rows(shared(folder) / "expected_tests.tsv")
    by_measure: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in expected:
        by_measure[row["metric"], row["rel_level"]].append(row)
    for (measure, _), rows in by_measure.items():
        values = _values(shared(folder) / COLLECTIONS[folder], measure)
        system, baseline = (np.column_stack([values[row[run]] for row in rows]) for run in ("run_a", "run_b"))
        d = paired_differences(baseline, system)
        t = paired_t(d)
        # per-query values are given with ten digits, p-values with eight
        for name, ours in (
            ("mean_diff", d.mean),
            ("sd_diff", d.standard_deviation),
            ("p_ttest_rel", t.p_value),
            ("p_sign_binom", sign_test(d).p_value),
            ("p_ttest_holm", adjust(t.p_value, "holm")),
            ("p_ttest_bh", adjust(t.p_value, "bh")),
        ):
            theirs = np.array([float(row[name] or "nan") for row in rows])
            theirs = np.where(np.isnan(theirs), 1.0, theirs)
            assert_allclose(ours, theirs, atol=1e-6, err_msg=f"{measure} {name}")
        assert_allclose(signed_rank_test(d, method="normal").p_value, _scipys_wilcoxon(d), rtol=1e-9)
        drawn = sign_flip_test(d).p_value
        for ours, row in zip(drawn, rows, strict=True):
            assert _close(ours, float(row["p_permutation_20000_seed1"])), row
