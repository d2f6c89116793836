"""The comparison of leaves itself: every way in which it has to fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.stats.golden.leaves import assert_every_leaf, drawn, leaves, within

REFERENCE = {"t": [1.5, "nan"], "counts": {"b": 3}, "note": "text"}
OURS: dict[str, Any] = {"t": np.array([1.5, np.nan]), "counts": {"b": 3.0}}
LEFT_OUT = {"note": "text"}


def test_paths() -> None:
    assert [path for path, _ in leaves(REFERENCE)] == ["t/0", "t/1", "counts/b", "note"]


def test_agreement() -> None:
    assert_every_leaf(REFERENCE, OURS, {}, LEFT_OUT)
    assert_every_leaf(REFERENCE, OURS | {"t": [1.6, np.nan]}, {"t/*": within(0.11)}, LEFT_OUT)


@pytest.mark.parametrize(
    ("ours", "left_out", "message"),
    [
        (OURS | {"t": [1.6, np.nan]}, LEFT_OUT, r"t/0: 1\.6, reference 1\.5"),
        (OURS | {"t": [np.nan, np.nan]}, LEFT_OUT, "t/0: nan"),
        (OURS | {"t": [1.5, 0.0]}, LEFT_OUT, "t/1: 0.0"),
        (OURS | {"t": [1.5]}, LEFT_OUT, "t/1: 'nan' is compared with nothing"),
        (OURS | {"t": [1.5, np.nan, 2.0]}, LEFT_OUT, "t/2: no such leaf"),
        (OURS | {"counts": {"b": True}}, LEFT_OUT, "counts/b: True"),
        (OURS, {}, "note: 'text' is compared with nothing"),
        (OURS, {**LEFT_OUT, "t/*": "stale"}, "t/[*]: leaves out nothing"),
    ],
)
def test_disagreement(ours: dict[str, Any], left_out: dict[str, str], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        assert_every_leaf(REFERENCE, ours, {}, left_out)


def test_tolerances() -> None:
    assert within(1e-3, 0.5)(-2.0) == 1.001
    assert drawn(10_000)(0.5) == pytest.approx(4.5 * 0.005 + 2e-4)
    assert drawn(10_000, 100)(0.5) > drawn(100)(0.5)
