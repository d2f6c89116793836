"""The same numbers whatever the order of queries and columns, the batch size and the number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from rankstats.stats import (
    Differences,
    bootstrap_max_t,
    effect_sizes,
    flip_readings,
    heterogeneity_test,
    max_t,
    paired_bootstrap,
    paired_differences,
    paired_t,
    sign_flip_test,
    sign_test,
    signed_rank_test,
)
from rankstats.stats import bootstrap as bootstrap_module
from tests.stats.cases import Case, cases

Test = Callable[..., Any]


def _by_thirds(differences: Differences, **arguments: Any) -> Any:
    return heterogeneity_test(differences, np.arange(differences.n_rows) % 3, **arguments)


RESAMPLED: dict[str, Test] = {
    "sign flips": partial(sign_flip_test, resamples=150),
    "greater": partial(sign_flip_test, resamples=150, alternative="greater"),
    "bootstrap": partial(paired_bootstrap, resamples=150),
    "heterogeneity": partial(_by_thirds, resamples=150),
}
PLAIN: dict[str, Test] = {
    "t": paired_t,
    "signed ranks": signed_rank_test,
    "signs": sign_test,
    "effects": effect_sizes,
}
JOINT: dict[str, Test] = {"max-T": partial(bootstrap_max_t, resamples=150)}


def assert_same(one: Any, other: Any, columns: Any = slice(None)) -> None:
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        assert_array_equal(left[columns] if isinstance(left, np.ndarray) else left, right, err_msg=field.name)


def _made(n: int = 90, columns: int = 7, weighted: bool = False) -> Differences:
    rng = np.random.default_rng(11)
    values = rng.normal(0.2, 1, (n, columns)) ** 3
    values[rng.random(values.shape) < 0.1] = np.nan
    values[12:, -1] = np.nan
    values[:, 1] = np.where(np.arange(n) < 8, values[:, 1], 0.0)
    return paired_differences(rng.random((n, 1)) / 3, values, rng.exponential(size=n) if weighted else None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", RESAMPLED | JOINT)
def test_batch_size(name: str, weighted: bool) -> None:
    test, d = (RESAMPLED | JOINT)[name], _made(weighted=weighted)
    for batch in (1, 7, 1000):
        assert_same(test(d), test(d, batch=batch))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", RESAMPLED | PLAIN)
def test_a_column_does_not_depend_on_the_others(name: str, weighted: bool) -> None:
    test, d = (RESAMPLED | PLAIN)[name], _made(weighted=weighted)
    whole = test(d)
    for column in range(d.n_columns):
        assert_same(whole, test(d.select([column])), [column])
    order = np.random.default_rng(0).permutation(d.n_columns)
    assert_same(whole, test(d.select(order)), order)


@pytest.mark.parametrize("weighted", [False, True])
def test_order_of_the_members_of_a_family(weighted: bool) -> None:
    d = _made(weighted=weighted)
    order = np.random.default_rng(0).permutation(d.n_columns)
    assert_same(bootstrap_max_t(d, resamples=150), bootstrap_max_t(d.select(order), resamples=150), order)


@pytest.mark.parametrize("name", [*RESAMPLED, "max-T"])
def test_pieces_of_columns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    test, d = (RESAMPLED | JOINT)[name], _made()
    generators = [np.random.default_rng(3) for _ in range(2)]
    whole = test(d, rng=generators[0])
    for module in (flip_readings, bootstrap_module, max_t):
        monkeypatch.setattr(module, "_COLUMNS_AT_ONCE", 2)
    monkeypatch.setattr(flip_readings, "_ENUMERATED_AT_ONCE", 1)
    assert_same(whole, test(d, rng=generators[1]))
    assert generators[0].random() == generators[1].random()


@settings(deadline=None, max_examples=40)
@given(cases(most=60))
def test_order_of_the_queries(case: Case) -> None:
    """What needs no random numbers does not depend on the order; callers sort queries for what does."""
    order = np.random.default_rng(1).permutation(len(case.systems))
    weights = None if case.weights is None else case.weights[order]
    shuffled = paired_differences(case.baseline[order], case.systems[order], weights)
    for test in PLAIN.values():
        assert_same(test(case.differences), test(shuffled))
    one, other = (sign_flip_test(d, resamples=19) for d in (case.differences, shuffled))
    for name in ("p_value", "low", "high"):
        assert_array_equal(getattr(one, name)[one.exact], getattr(other, name)[one.exact], err_msg=name)


PROGRAM = """
import hashlib
from dataclasses import fields
import numpy as np
from tests.stats.test_invariance import JOINT, PLAIN, RESAMPLED, _made
digest = hashlib.sha256()
d = _made(1500, 20, weighted=True)  # plain sums of this size do differ
for test in (RESAMPLED | PLAIN | JOINT).values():
    result = test(d)
    for field in fields(result):
        digest.update(np.asarray(getattr(result, field.name)).tobytes())
print(digest.hexdigest())
"""


def test_threads() -> None:
    digests = set()
    for threads in ("1", "2"):
        limits = {f"{name}_NUM_THREADS": threads for name in ("OPENBLAS", "OMP", "MKL", "VECLIB")}
        program = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=os.environ | limits, capture_output=True, text=True, check=True
        )
        digests.add(program.stdout)
    assert len(digests) == 1


def test_same_seed_same_numbers_and_another_seed_others() -> None:
    d = _made()
    for test in (RESAMPLED | JOINT).values():
        assert_same(test(d, rng=5), test(d, rng=5))
    assert np.any(sign_flip_test(d, resamples=150, rng=5).p_value != sign_flip_test(d, resamples=150, rng=6).p_value)
