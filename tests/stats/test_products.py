"""Products in pieces are the products, whatever their shapes; order statistics are those of sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstats.stats import products
from rankstats.stats.products import product
from rankstats.stats.reading import largest_at, smallest_at


@settings(deadline=None)
@given(
    rows=st.integers(0, 40),
    n=st.integers(0, 12),
    columns=st.integers(0, 40),
    alone=st.sampled_from([1, 30, 200, 1 << 18]),
    seed=st.integers(0, 9),
)
def test_pieces_give_the_whole_product(rows: int, n: int, columns: int, alone: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = (rng.integers(-(2**24), 2**24, size).astype(float) for size in ((rows, n), (n, columns)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "_ALONE", alone)
        patch.setattr(products, "_NARROWEST", 1)
        out = np.full((rows, columns), np.nan)
        assert product(left, right, out=out) is out or not out.size
        np.testing.assert_array_equal(out, left @ right)
        np.testing.assert_array_equal(product(right.T, left.T), right.T @ left.T)


@settings(deadline=None)
@given(
    rows=st.integers(1, 4),
    seed=st.integers(0, 99),
    kind=st.sampled_from(["normal", "tied", "sorted", "infinite", "looked at are large", "looked at are small"]),
    ranks=st.lists(st.integers(0, 250), min_size=1, max_size=3),
)
def test_order_statistics_are_those_of_sorting(rows: int, seed: int, kind: str, ranks: list[int]) -> None:
    values = np.random.default_rng(seed).normal(size=(rows, 2003))
    if kind == "tied":
        values = np.round(values)
    elif kind == "sorted":
        values.sort(axis=1)
    elif kind == "infinite":
        values[:, ::3] = -np.inf
    elif kind.startswith("looked at"):
        # every other one is looked at for the bound
        values[:, ::2] += 100 if kind.endswith("large") else -100
    wanted = np.repeat(np.array(ranks)[:, None], rows, axis=1)
    ordered = np.sort(values, axis=1)
    expected = np.where(wanted > 0, ordered[np.arange(rows), wanted - 1], -np.inf)
    np.testing.assert_array_equal(smallest_at(values, wanted), expected)
    upper = np.where(wanted > 0, ordered[np.arange(rows), -wanted], np.inf)
    np.testing.assert_array_equal(largest_at(values, wanted), upper)
