"""The simulation of decisions in full, by hand: every cell of the tables within its stated band."""

from __future__ import annotations

import numpy as np
import pytest

from tests.calibration.gate import ALPHA, decision_rows, margin_rows

pytestmark = [pytest.mark.study, pytest.mark.shared]

REPETITIONS = 4000


def _most(rate: float, repetitions: int) -> float:
    return rate + 4 * float(np.sqrt(rate * (1 - rate) / repetitions))


def test_guards_at_their_margin() -> None:
    for row in margin_rows(REPETITIONS):
        if row["shape"] in ("normal", "symmetric"):
            assert row["holds"] <= _most(ALPHA / 2, REPETITIONS), row
            assert row["fails"] <= _most(ALPHA / 2, REPETITIONS), row
        if row["shape"] == "as drawn" and row["n"] >= 25:
            assert row["holds"] <= _most(0.05, REPETITIONS), row


def test_whole_policies() -> None:
    repetitions = REPETITIONS // 4
    for row in decision_rows(repetitions):
        if row["kind"] not in ("safe", "no harm"):
            assert row["go"] <= _most(ALPHA / 2, repetitions), row
        assert row["no_go"] <= _most(ALPHA, repetitions), row
