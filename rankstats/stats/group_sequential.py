"""Looking at an experiment several times: bounds from spending functions, repeated intervals and adjusted p-values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.arm_scales import critical_value, tail
from rankstats.stats.classical import SMALLEST_P, agreeing_ends
from rankstats.stats.results import ColumnResult
from rankstats.stats.sequential_boundaries import Continuing, exit_probabilities
from rankstats.stats.validation import check_alpha, check_choice

SPENDING = ("obrien-fleming", "pocock", "power")

_SMALLEST_LEVEL = 1e-12
"""Repeated p-values below are given as this."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SequentialBounds(ColumnResult):
    """Result of `sequential_bounds`; array fields have one entry a look.

    Attributes
    ----------
    information : ndarray
        Fraction of the planned information at each look.
    bound : ndarray
        Critical value of the statistic: reject where |z| (one-sided: z) is at least this; infinite where nothing may be
        spent yet.
    nominal_p : ndarray
        The p-value of an ordinary test at the bound (two-sided for a two-sided design): what a fixed test's p is to be
        compared with at that look.
    spent : ndarray
        Level spent up to and including the look.
    alpha : float
        Level of the whole procedure.
    spending : str
        'obrien-fleming', 'pocock' or 'power'.
    exponent : float
        Of the power family; NaN otherwise.
    two_sided : bool
        Whether the design is two-sided.
    """

    information: Floats
    bound: Floats
    nominal_p: Floats
    spent: Floats
    alpha: float
    spending: str
    exponent: float
    two_sided: bool


@dataclass(frozen=True, slots=True, eq=False)
class SequentialResult(ColumnResult):
    """Result of `sequential_test`; array fields have one entry a look.

    Attributes
    ----------
    information, bound, nominal_p, spent : ndarray
        Of the design, as in `SequentialBounds`.
    estimate : ndarray
        Estimates as given.
    statistic : ndarray
        Estimate over standard error.
    p_value : ndarray
        Of the fixed test at that look: not to be compared with alpha.
    low, high : ndarray
        Repeated confidence interval: all of them together hold the truth with probability 1 − alpha; leaves out 0
        exactly when the bound is reached. Infinite where nothing may be spent yet.
    p_repeated : ndarray
        Smallest level at which the design would reject at this look; may be read at any look.
    rejects : ndarray of bool
        Whether the bound is reached at the look.
    stopped : int
        Place of the first look that rejects, −1 when none does.
    p_stagewise : float
        p-value of the analysis that stopped there (or at the last look), by the order of stages: at most alpha exactly
        when the procedure rejects.
    alpha : float
        Level of the whole procedure.
    spending : str
        Spending function.
    two_sided : bool
        Whether the design is two-sided.
    """

    information: Floats
    bound: Floats
    nominal_p: Floats
    spent: Floats
    estimate: Floats
    statistic: Floats
    p_value: Floats
    low: Floats
    high: Floats
    p_repeated: Floats
    rejects: NDArray[np.bool_]
    stopped: int
    p_stagewise: float
    alpha: float
    spending: str
    two_sided: bool


def spent_level(
    information: ArrayLike,
    *,
    alpha: float = 0.05,
    spending: str = "obrien-fleming",
    exponent: float = 2.0,
    two_sided: bool = True,
) -> Floats:
    """Return the level that a spending function allows up to each fraction of the information.

    Per side, with a the level of that side: 'obrien-fleming' 2 − 2Φ(z_{a/2} / √t); 'pocock' a log(1 + (e − 1) t);
    'power' a t^exponent. These are cumulative amounts of level, not levels to test at.

    Parameters
    ----------
    information : array_like, shape (looks,)
        Fractions t; beyond 1 everything is spent.
    alpha : float
        Level of the whole procedure.
    spending : {'obrien-fleming', 'pocock', 'power'}
        Spending function.
    exponent : float
        Of the power family, more than 0: 1 spends evenly, 3 resembles O'Brien–Fleming.
    two_sided : bool
        Whether alpha is split between two sides.

    References
    ----------
    Lan & DeMets 1983; Kim & DeMets 1987 (power family).

    Examples
    --------
    >>> spent_level([0.5, 1.0]).round(5).tolist()
    [0.00305, 0.05]
    """
    t = np.clip(np.asarray(information, dtype=np.float64), 0.0, 1.0)
    sides = 2 if two_sided else 1
    return np.asarray(sides * _spending(spending, exponent)(t, check_alpha(alpha) / sides))


def _spending(spending: str, exponent: float) -> Callable[[Floats, float], Floats]:
    """Return the function of information and level of one side."""
    check_choice("spending", spending, SPENDING)
    if spending == "obrien-fleming":
        return lambda t, a: 2 * special.ndtr(special.ndtri(a / 2) / np.sqrt(np.where(t > 0, t, 1e-300)))
    if spending == "pocock":
        return lambda t, a: a * np.log1p((math.e - 1) * t)
    if not exponent > 0 or not np.isfinite(exponent):
        raise RankstatsError(f"exponent = {exponent!r}: a number of more than 0 is expected, for instance 2")
    return lambda t, a: a * t**exponent


def sequential_bounds(
    information: ArrayLike,
    *,
    alpha: float = 0.05,
    spending: str = "obrien-fleming",
    exponent: float = 2.0,
    two_sided: bool = True,
    last: bool = False,
) -> SequentialBounds:
    """Return the bounds of a test that is looked at several times, so that the whole procedure has level alpha.

    At each look the bound is where the probability, under no effect, of having passed no bound before and passing this
    one equals what the spending function adds. Looks may come at any times, equal or not, that do not depend on the
    results; later looks do not change earlier bounds.

    Parameters
    ----------
    information : array_like, shape (looks,)
        Fractions of the planned information (units, or 1 / squared standard error), ascending. Beyond 1 everything has
        been spent: only the first look at or beyond 1 can reject.
    alpha, spending, exponent, two_sided
        As in `spent_level`.
    last : bool
        Whether the last look is final although its information is below 1 (the experiment ended early for reasons of
        its own): it spends all that is left.

    Returns
    -------
    SequentialBounds

    Raises
    ------
    RankstatsError
        If information is not ascending or an argument is out of range.

    References
    ----------
    Lan & DeMets 1983; Armitage, McPherson & Rowe 1969; Reboussin, DeMets, Kim & Lan 2000 (program ldbounds).

    Examples
    --------
    >>> sequential_bounds([0.2, 0.4, 0.6, 0.8, 1.0]).bound.round(4).tolist()
    [4.8769, 3.357, 2.6803, 2.2898, 2.031]
    """
    t = _checked_information(information)
    level, sides = check_alpha(alpha), 2 if two_sided else 1
    spend = _spending(spending, exponent)
    spent = _spent(t, spend, level / sides, last=last)
    bound = _bounds(t, spent, two_sided=two_sided)
    return SequentialBounds(
        information=t,
        bound=bound,
        nominal_p=sides * special.ndtr(-bound),
        spent=sides * spent,
        alpha=level,
        spending=spending,
        exponent=exponent if spending == "power" else np.nan,
        two_sided=two_sided,
    )


def _checked_information(information: ArrayLike) -> Floats:
    t = np.atleast_1d(np.asarray(information, dtype=np.float64))
    if t.ndim != 1 or not len(t) or not np.all(np.isfinite(t)) or t[0] <= 0 or np.any(np.diff(t) <= 0):
        raise RankstatsError("information: fractions of more than 0 in ascending order are expected, 1 when all is in")
    return t


def _spent(t: Floats, spend: Callable[[Floats, float], Floats], side_level: float, *, last: bool) -> Floats:
    """Return the level of one side that is spent up to each look."""
    spent = np.asarray(spend(np.minimum(t, 1.0), side_level), dtype=np.float64)
    if last:
        spent[-1] = side_level
    return spent


def _bounds(t: Floats, spent: Floats, *, two_sided: bool) -> Floats:
    paths, bounds = Continuing.start(), np.empty(len(t))
    added = np.diff(spent, prepend=0.0)
    for look, (time, amount) in enumerate(zip(t.tolist(), added.tolist(), strict=True)):
        bounds[look] = paths.bound_for(time, amount)
        paths = paths.after(time, -bounds[look] if two_sided else -np.inf, bounds[look])
    return bounds


def sequential_inflation(design: SequentialBounds, power: float = 0.8) -> float:
    """Return by which factor a design with looks needs more units at its last look than a fixed test of equal power.

    Multiply the units of `plan_means` or `plan_proportions` with it.

    Parameters
    ----------
    design : SequentialBounds
        All looks, the last at information 1.
    power : float
        Wanted power, between alpha and 1.

    Raises
    ------
    RankstatsError
        If the last look is not at information 1 or power is out of range.

    References
    ----------
    Jennison & Turnbull 2000, section 2.3.

    Examples
    --------
    >>> round(sequential_inflation(sequential_bounds([0.2, 0.4, 0.6, 0.8, 1.0])), 3)
    1.025
    """
    if not design.alpha < power < 1:
        raise RankstatsError(f"power = {power!r}: a number between alpha = {design.alpha!r} and 1 is expected")
    if abs(design.information[-1] - 1) > 1e-9:
        raise RankstatsError("the last look of a planned design is at information 1")
    lower = -design.bound if design.two_sided else np.full(len(design.bound), -np.inf)

    def excess(drift: float) -> float:
        below, above = exit_probabilities(design.information, lower, design.bound, drift=drift)
        return float(above.sum() + (below.sum() if design.two_sided else 0.0)) - power

    sides = 2 if design.two_sided else 1

    def fixed_excess(drift: float) -> float:
        critical = -float(special.ndtri(design.alpha / sides))
        tails = special.ndtr(drift - critical) + (special.ndtr(-drift - critical) if design.two_sided else 0.0)
        return float(tails) - power

    drifts = [float(scipy.optimize.brentq(function, 0.0, 20.0, xtol=1e-10)) for function in (excess, fixed_excess)]
    return (drifts[0] / drifts[1]) ** 2


def sequential_test(
    estimates: ArrayLike,
    standard_errors: ArrayLike,
    information: ArrayLike,
    *,
    df: ArrayLike = np.inf,
    alpha: float = 0.05,
    spending: str = "obrien-fleming",
    exponent: float = 2.0,
    alternative: str = "two-sided",
    last: bool = False,
) -> SequentialResult:
    """Read an experiment at several looks.

    1. Bounds as in `sequential_bounds`. The statistic is estimate over standard error; with finite degrees of freedom
       its p-value is compared with the nominal one, and the interval has the matching t quantile.
    2. The repeated interval is estimate ± bound × standard error. The repeated p-value is the smallest alpha for which
       the same design would have rejected at that look, found by bisection.
    3. The stagewise p-value orders results by the look at which they stopped, then by the statistic.

    Parameters
    ----------
    estimates, standard_errors : array_like, shape (looks,)
        Effects and their standard errors at the looks so far, each from all data until then.
    information : array_like, shape (looks,)
        As in `sequential_bounds`, declared beforehand.
    df : float or array_like, shape (looks,)
        Degrees of freedom.
    alpha, spending, exponent, last
        As in `sequential_bounds`.
    alternative : {'two-sided', 'greater', 'less'}
        One-sided designs have one bound and a one-sided interval.

    Returns
    -------
    SequentialResult

    Raises
    ------
    RankstatsError
        If shapes do not fit or an argument is out of range.

    References
    ----------
    Jennison & Turnbull 2000, chapters 8 and 9; Fairbanks & Madsen 1982 (stagewise order).

    Examples
    --------
    >>> result = sequential_test([0.30, 0.21, 0.19], [0.10, 0.08, 0.06], [0.3, 0.6, 1.0])
    >>> result.rejects.tolist(), result.p_repeated.round(4).tolist(), result.low.round(3).tolist()
    ([False, False, True], [0.1583, 0.0544, 0.0016], [-0.093, -0.004, 0.071])
    """
    check_choice("alternative", alternative, ("two-sided", "greater", "less"))
    two_sided = alternative == "two-sided"
    arguments = {"alpha": alpha, "spending": spending, "exponent": exponent, "two_sided": two_sided}
    design = sequential_bounds(information, last=last, **arguments)  # type: ignore[arg-type]  # keywords of one call
    looks = len(design.information)
    estimate, error, freedom = (_of_looks(part, looks) for part in (estimates, standard_errors, df))
    if np.any(error < 0) or np.any(freedom <= 0):
        raise RankstatsError("standard_errors of at least 0 and df of more than 0 are expected")
    statistic = estimate / np.where(error > 0, error, np.nan)
    oriented = np.abs(statistic) if two_sided else -statistic if alternative == "less" else statistic
    one_sided_p = np.where(np.isnan(oriented), 1.0, tail(oriented, freedom))
    nominal = special.ndtr(-design.bound)
    rejects = (one_sided_p <= nominal) & np.isfinite(design.bound)
    # the normal value with the same tail as the statistic
    normal = -special.ndtri(np.clip(one_sided_p, SMALLEST_P, 1.0))
    low, high = _repeated((estimate, error, freedom), nominal, rejects, alternative)
    stopped = int(np.argmax(rejects)) if rejects.any() else -1
    return SequentialResult(
        information=design.information,
        bound=design.bound,
        nominal_p=design.nominal_p,
        spent=design.spent,
        estimate=estimate,
        statistic=statistic,
        p_value=np.clip(one_sided_p * (2 if two_sided else 1), SMALLEST_P, 1.0),
        low=low,
        high=high,
        p_repeated=_repeated_p(normal, design, rejects, last=last),
        rejects=rejects,
        stopped=stopped,
        p_stagewise=_stagewise_p(normal, design, stopped),
        alpha=design.alpha,
        spending=spending,
        two_sided=two_sided,
    )


def _of_looks(values: ArrayLike, looks: int) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.shape not in ((), (looks,)):
        raise RankstatsError(f"values have shape {array.shape}; one for each of the {looks} looks is expected")
    return np.broadcast_to(array, (looks,)).copy()


def _repeated(
    effect: tuple[Floats, Floats, Floats], nominal: Floats, rejects: NDArray[np.bool_], alternative: str
) -> tuple[Floats, Floats]:
    """Return the ends of estimates whose standard errors and degrees of freedom are given."""
    estimate, error, df = effect
    reachable = (nominal > 0) & (error > 0)
    half = np.where(reachable, critical_value(np.where(reachable, nominal, 0.5), df) * error, np.inf)
    towards = estimate if alternative == "two-sided" else np.full(len(df), -1.0 if alternative == "less" else 1.0)
    low, high = agreeing_ends(rejects, towards, estimate - half, estimate + half)
    if alternative == "greater":
        high = np.full(len(df), np.inf)
    if alternative == "less":
        low = np.full(len(df), -np.inf)
    return low, high


def _repeated_p(normal: Floats, design: SequentialBounds, rejects: NDArray[np.bool_], *, last: bool) -> Floats:
    """Return the smallest level at which each look would reject; on the side of alpha on which the look is."""
    sides = 2 if design.two_sided else 1
    spend = _spending(design.spending, design.exponent)

    def bound_at(look: int, level: float) -> float:
        t = design.information[: look + 1]
        final = last and look == len(design.information) - 1
        spent = _spent(t, spend, level / sides, last=final)
        return float(_bounds(t, spent, two_sided=design.two_sided)[-1])

    p = np.ones(len(normal))
    for look, value in enumerate(normal.tolist()):
        fixed = sides * float(special.ndtr(-value))
        p[look] = _smallest_level(lambda level, look=look, value=value: bound_at(look, level) - value, fixed)  # type: ignore[misc]  # bound now
    # the search ends within a tolerance; the bound itself decides
    return np.where(rejects, np.minimum(p, design.alpha), np.maximum(p, np.nextafter(design.alpha, 1)))


def _smallest_level(excess: Callable[[float], float], at_least: float) -> float:
    """Return the level at which a bound falls to the statistic: excess is positive below it."""
    lowest, highest = max(at_least, _SMALLEST_LEVEL), 1 - 1e-9
    if lowest >= highest or excess(highest) > 0:
        return 1.0
    if excess(lowest) <= 0:
        return lowest

    def limited(logarithm: float) -> float:
        return min(excess(math.exp(logarithm)), 1e3)

    return math.exp(scipy.optimize.brentq(limited, math.log(lowest), math.log(highest), xtol=1e-9))


def _stagewise_p(normal: Floats, design: SequentialBounds, stopped: int) -> float:
    """Return the probability, under no effect, of stopping earlier or at the same look with a larger statistic."""
    looks = stopped + 1 if stopped >= 0 else len(normal)
    upper = design.bound[:looks].copy()
    upper[-1] = normal[looks - 1]
    lower = np.full(looks, -np.inf)
    if design.two_sided:
        lower[:-1] = -design.bound[: looks - 1]
    above = float(exit_probabilities(design.information[:looks], lower, upper)[1].sum())
    p = min(max(2 * above if design.two_sided else above, SMALLEST_P), 1.0)
    return min(p, design.alpha) if stopped >= 0 else max(p, float(np.nextafter(design.alpha, 1)))
