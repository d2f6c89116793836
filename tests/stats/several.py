"""Random values of several systems on the same queries, and a programme that shows whether threads matter."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from tests.stats.cases import KINDS, golden

MATRICES = ("m30x4", "m8x4", "m5x3", "m12x4ties")


def matrix(name: str) -> NDArray[np.float64]:
    """Values of a golden case, (queries, systems)."""
    return np.array(golden("data")[name]["x"])


def expected(name: str) -> Any:
    """What R and Python programs make of it."""
    return golden("multisystem")["cases"][name]


def made(n: int, m: int, seed: int = 0, spread: float = 0.1) -> NDArray[np.float64]:
    """Values between 0 and 1 of m systems of different quality, in hundredths."""
    rng = np.random.default_rng(seed)
    centre = rng.random((n, 1)) + np.linspace(0, spread, m)
    return np.asarray(np.clip(centre + rng.normal(0, 0.15, (n, m)), 0, 1).round(2))


@st.composite
def matrices(draw: st.DrawFn, most: int = 25, systems: int = 6) -> NDArray[np.float64]:
    n, m = draw(st.integers(1, most)), draw(st.integers(2, systems))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(KINDS))
    if kind in {"tenths", "thirds"}:
        values = rng.integers(0, 4, (n, m)) / (10 if kind == "tenths" else 3)
    elif kind == "constant":
        values = rng.random((n, 1)) + rng.integers(0, 2, m) / 10
    elif kind == "sparse":
        values = np.where(rng.random((n, m)) < 0.2, rng.random((n, m)), 0.5)
    else:
        values = rng.random((n, 1)) + rng.normal(draw(st.sampled_from([0.0, 0.5])) * np.arange(m), 1, (n, m))
    if draw(st.booleans()):
        values[:, -1] = values[:, 0]
    if draw(st.booleans()):
        values[rng.random(n) < 0.1, 0] = np.nan
    return np.asarray(values, dtype=np.float64)


def assert_same(one: Any, other: Any) -> None:
    """Every field of two results is the same, to the last bit."""
    for field in fields(one):
        assert_array_equal(getattr(one, field.name), getattr(other, field.name), err_msg=field.name)


def digests_by_threads(program: str) -> set[str]:
    """What a programme prints with one and with two threads."""
    printed = set()
    for threads in ("1", "2"):
        limits = {f"{name}_NUM_THREADS": threads for name in ("OPENBLAS", "OMP", "MKL", "VECLIB")}
        done = subprocess.run(
            [sys.executable, "-c", program], env=os.environ | limits, capture_output=True, text=True, check=True
        )
        printed.add(done.stdout)
    return printed
