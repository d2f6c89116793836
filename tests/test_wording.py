"""Numbers for readers: the sign is true, p is never zero, nothing is rounded across a decision."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from rankstats.wording import decimals_for, interval, number, p_value, signed

finite = st.floats(-1e6, 1e6, allow_nan=False)


@given(finite, st.integers(0, 6))
def test_numbers_read_back(value: float, decimals: int) -> None:
    text = number(value, decimals)
    assert "-" not in text
    assert math.isclose(float(text.replace("−", "-").replace(",", "")), value, abs_tol=0.5000001 * 10.0**-decimals)
    assert signed(value, decimals).lstrip("+") == text


@given(st.floats(0, 1, exclude_min=True))
def test_p_values_are_never_shown_as_zero(p: float) -> None:
    text = p_value(p)
    shown = float(text.lstrip("<> "))
    assert 0 < shown < 1
    # just above .05 it is rounded up
    assert (text[0] in "<>") or abs(shown - p) <= (0.001 if text == ".051" else 0.000501)
    assert len(text.lstrip("<> ")) == 4
    assert (shown <= 0.05) == (p <= 0.05)


def test_a_p_value_just_above_the_usual_level_does_not_look_like_it() -> None:
    assert [p_value(p) for p in (0.0499, 0.05, 0.0501, 0.0504, 0.0506)] == [".050", ".050", ".051", ".051", ".051"]


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_an_interval_shows_on_which_side_of_zero_it_ends(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    ends = [float(end.replace("−", "-")) for end in interval(low, high).split(" to ")]
    for end, shown in zip((low, high), ends, strict=True):
        if abs(end) > 1e-6:
            assert math.copysign(1, end) == math.copysign(1, shown)
            assert shown != 0


@given(st.floats(1e-5, 10))
def test_the_standard_error_decides_the_decimals(error: float) -> None:
    decimals = decimals_for(error)
    assert 2 <= decimals <= 6
    assert decimals == 2 or 10.0**-decimals <= error
