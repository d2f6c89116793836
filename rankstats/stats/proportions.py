"""Shares of units: intervals of one, and two compared by the χ² test and the score interval that it inverts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.stats.classical import SMALLEST_P, agreeing_ends
from rankstats.stats.reading import adjusted_p
from rankstats.stats.results import ColumnResult
from rankstats.stats.unit_moments import checked_counts
from rankstats.stats.validation import ALTERNATIVES, check_alpha, check_choice, check_family_size

PROPORTION_INTERVALS = ("wilson", "clopper-pearson")

_HALVINGS = 56
"""Differences lie between −1 and 1: more would not move them by a unit in the last place."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ProportionComparison(ColumnResult):
    """Result of `compare_proportions`; array fields have shape (c,).

    Attributes
    ----------
    control, treatment : ndarray
        Shares of the units.
    estimate : ndarray
        Treatment − control.
    chi_squared : ndarray
        Pearson's χ² without correction: the square of the pooled z; NaN where all units, or none, are successes.
    p_value : ndarray
        Of the pooled z; 1 where all units, or none, are successes, NaN where an arm has no units, never 0.
    low, high : ndarray
        Score interval of level 1 − alpha: leaves out 0 exactly when p ≤ alpha.
    p_adjusted, adjusted_low, adjusted_high : ndarray
        Bonferroni over `family_size`.
    p_corrected : ndarray
        χ² with Yates's correction, two-sided; it has no interval here.
    p_fisher : ndarray
        Fisher's exact test, two-sided; it has no interval here.
    odds_ratio : ndarray
        Conditional maximum-likelihood odds ratio of treatment to control, as R's ``fisher.test`` gives it.
    wald_low, wald_high, newcombe_low, newcombe_high : ndarray
        Two-sided intervals for comparison: unpooled normal; Newcombe's from two Wilson intervals.
    control_n, treatment_n : ndarray of int
        Units.
    family_size : ndarray of int
        Comparisons that the adjustment covers.
    alpha : float
        Level.
    alternative : str
        'two-sided', 'greater' or 'less'.
    """

    control: Floats
    treatment: Floats
    estimate: Floats
    chi_squared: Floats
    p_value: Floats
    low: Floats
    high: Floats
    p_adjusted: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    p_corrected: Floats
    p_fisher: Floats
    odds_ratio: Floats
    wald_low: Floats
    wald_high: Floats
    newcombe_low: Floats
    newcombe_high: Floats
    control_n: Counts
    treatment_n: Counts
    family_size: Counts
    alpha: float
    alternative: str


def compare_proportions(
    control_successes: ArrayLike,
    control_n: ArrayLike,
    treatment_successes: ArrayLike,
    treatment_n: ArrayLike,
    *,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    family_size: ArrayLike = 1,
) -> ProportionComparison:
    """Compare the shares of units with some property (converted, came back on day 7) in two arms.

    1. z = difference over its standard error with the pooled share; z² is Pearson's χ².
    2. The interval holds the differences δ that the score test does not reject: there the standard error comes from the
       most likely shares with difference δ. At δ = 0 that is the pooled share, so p and interval agree.

    Parameters
    ----------
    control_successes, control_n, treatment_successes, treatment_n : array_like of int, shape () or (c,)
        Units with the property, and all units: one row a unit, not an impression.
    alpha : float
        Level of test and interval, between 0 and 1.
    alternative : {'two-sided', 'greater', 'less'}
        'greater' tests for a larger share in the treatment.
    family_size : int or array_like of int, shape (c,)
        Comparisons for Bonferroni's adjustment.

    Returns
    -------
    ProportionComparison

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Mee 1984; Farrington & Manning 1990 (closed form); Newcombe 1998; R's ``prop.test`` and ``fisher.test``.

    Examples
    --------
    >>> result = compare_proportions(120, 2400, 151, 2410)
    >>> result.p_value.round(4).tolist(), result.low.round(4).tolist(), result.high.round(4).tolist()
    ([0.057], [-0.0004], [0.0258])
    """
    alpha = check_alpha(alpha)
    two_sided = check_choice("alternative", alternative, ALTERNATIVES) == "two-sided"
    arms = np.broadcast_arrays(
        *checked_counts(control_successes, control_n), *checked_counts(treatment_successes, treatment_n)
    )
    table = _Table(*(arm.astype(np.float64) for arm in arms))
    family = check_family_size(family_size, len(arms[0]))
    z = table.score(np.zeros(len(arms[0])))
    oriented = np.abs(z) if two_sided else -z if alternative == "less" else z
    p_value = np.clip(special.ndtr(-oriented) * (2 if two_sided else 1), SMALLEST_P, 1.0)
    p_value = np.where(np.isnan(z) & ~np.isnan(table.estimate), 1.0, p_value)
    p_values, levels = (p_value, adjusted_p(p_value, family)), (alpha / np.ones_like(family), alpha / family)
    plain, adjusted = _score_intervals(table, p_values, levels, alpha, alternative)
    fisher = np.array([_fisher(*(int(arm[column]) for arm in arms)) for column in range(len(family))]).reshape(-1, 2)
    wald, newcombe = table.wald(alpha), table.newcombe(alpha)
    return ProportionComparison(
        control=table.control,
        treatment=table.treatment,
        estimate=table.estimate,
        chi_squared=z**2,
        p_value=p_value,
        low=plain[0],
        high=plain[1],
        p_adjusted=p_values[1],
        adjusted_low=adjusted[0],
        adjusted_high=adjusted[1],
        p_corrected=table.yates_p(),
        p_fisher=fisher[:, 0],
        odds_ratio=fisher[:, 1],
        wald_low=wald[0],
        wald_high=wald[1],
        newcombe_low=newcombe[0],
        newcombe_high=newcombe[1],
        control_n=arms[1].copy(),
        treatment_n=arms[3].copy(),
        family_size=family,
        alpha=alpha,
        alternative=alternative,
    )


def proportion_interval(
    successes: ArrayLike, n: ArrayLike, *, alpha: float = 0.05, method: str = "wilson"
) -> tuple[Floats, Floats]:
    """Return the two-sided interval of level 1 − alpha of one share, ends of shape (c,); NaN without units.

    Parameters
    ----------
    successes, n : array_like of int, shape () or (c,)
        Units with the property, and all units.
    alpha : float
        1 − level.
    method : {'wilson', 'clopper-pearson'}
        The inverted score test, or the exact interval, which is never too short.

    References
    ----------
    Wilson 1927; Clopper & Pearson 1934.

    Examples
    --------
    >>> [end.round(4).tolist() for end in proportion_interval(120, 2400)]
    [[0.042], [0.0595]]
    """
    check_alpha(alpha)
    check_choice("method", method, PROPORTION_INTERVALS)
    ones, units = checked_counts(successes, n)
    if method == "wilson":
        return _wilson(ones / np.where(units > 0, units, np.nan), units, alpha)
    known = np.where(units > 0, units, np.nan)
    low = np.where(ones > 0, special.betaincinv(np.maximum(ones, 1), known - ones + 1, alpha / 2), 0.0)
    high = np.where(ones < units, special.betainccinv(ones + 1, np.maximum(known - ones, 1), alpha / 2), 1.0)
    return np.where(np.isnan(known), np.nan, low), np.where(np.isnan(known), np.nan, high)


def _wilson(share: Floats, n: Floats | Counts, alpha: float) -> tuple[Floats, Floats]:
    z = -special.ndtri(alpha / 2)
    units = np.where(n > 0, n, np.nan)
    centre = (share + z**2 / (2 * units)) / (1 + z**2 / units)
    half = z * np.sqrt(share * (1 - share) / units + z**2 / (4 * units**2)) / (1 + z**2 / units)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Successes and units of both arms as floats, shape (c,)."""

    control_successes: Floats
    control_n: Floats
    treatment_successes: Floats
    treatment_n: Floats

    @property
    def control(self) -> Floats:
        return self.control_successes / np.where(self.control_n > 0, self.control_n, np.nan)

    @property
    def treatment(self) -> Floats:
        return self.treatment_successes / np.where(self.treatment_n > 0, self.treatment_n, np.nan)

    @property
    def estimate(self) -> Floats:
        return self.treatment - self.control

    def _error(self, control: Floats, treatment: Floats) -> Floats:
        of_control, of_treatment = (
            share * (1 - share) / np.where(n > 0, n, np.nan)
            for share, n in ((control, self.control_n), (treatment, self.treatment_n))
        )
        return np.sqrt(np.maximum(of_control + of_treatment, 0.0))

    def score(self, difference: Floats) -> Floats:
        """Return (estimate − difference) over its standard error under that difference; NaN without any spread."""
        error = self._error(*self._restricted(difference))
        return (self.estimate - difference) / np.where(error > 0, error, np.nan)

    def _restricted(self, difference: Floats) -> tuple[Floats, Floats]:
        """Return the most likely shares whose difference is the given one [Farrington & Manning 1990, appendix]."""
        successes = self.control_successes + self.treatment_successes
        total = np.where(self.control_n + self.treatment_n > 0, self.control_n + self.treatment_n, np.nan)
        pooled = successes / total
        # the likelihood equation, a cubic in the control's share, divided by the number of units
        b = ((total + self.control_n) * difference - total - successes) / total
        c = ((self.control_n * difference - total - 2 * self.control_successes) * difference + successes) / total
        d = self.control_successes * difference * (1 - difference) / total
        root = np.sqrt(np.maximum(b**2 / 9 - c / 3, 0.0))
        shift = b**3 / 27 - b * c / 6 + d / 2
        root = np.where(shift > 0, root, -root)
        cosine = np.divide(shift, root**3, out=np.zeros_like(shift), where=root != 0)
        angle = (np.pi + np.arccos(np.clip(cosine, -1.0, 1.0))) / 3
        least, most = np.maximum(0.0, -difference), np.minimum(1.0, 1 - difference)
        control = np.clip(2 * root * np.cos(angle) - b / 3, least, most)
        control = np.where(difference == 0, pooled, control)
        return control, control + difference

    def yates_p(self) -> Floats:
        """Return the two-sided p-value of χ² with Yates's correction; 1 without any spread."""
        units = 1 / np.where(self.control_n > 0, self.control_n, np.nan) + 1 / np.where(
            self.treatment_n > 0, self.treatment_n, np.nan
        )
        distance = np.maximum(np.abs(self.estimate) - units / 2, 0.0)
        pooled, _ = self._restricted(np.zeros(len(units)))
        error = self._error(pooled, pooled)
        p = 2 * special.ndtr(-distance / np.where(error > 0, error, np.nan))
        return np.where(np.isnan(p) & ~np.isnan(self.estimate), 1.0, np.where(p < SMALLEST_P, SMALLEST_P, p))

    def wald(self, alpha: float) -> tuple[Floats, Floats]:
        """Return the normal interval with the unpooled standard error."""
        half = -special.ndtri(alpha / 2) * self._error(self.control, self.treatment)
        return self.estimate - half, self.estimate + half

    def newcombe(self, alpha: float) -> tuple[Floats, Floats]:
        """Return Newcombe's hybrid score interval (his method 10)."""
        l1, u1 = _wilson(self.control, self.control_n, alpha)
        l2, u2 = _wilson(self.treatment, self.treatment_n, alpha)
        below = np.sqrt((self.treatment - l2) ** 2 + (u1 - self.control) ** 2)
        above = np.sqrt((u2 - self.treatment) ** 2 + (self.control - l1) ** 2)
        return self.estimate - below, self.estimate + above


def _score_intervals(
    table: _Table, p_values: tuple[Floats, ...], levels: tuple[Floats, ...], alpha: float, alternative: str
) -> list[tuple[Floats, Floats]]:
    """Return the ends of the intervals of several levels, each agreeing with its p-values."""
    two_sided = alternative == "two-sided"
    critical = [-special.ndtri(level / (2 if two_sided else 1)) for level in levels]
    found = iter(_where_score_falls_to(table, np.stack([part for one in critical for part in (one, -one)])))
    intervals = []
    for p in p_values:
        towards = table.estimate if two_sided else np.full(len(p), -1.0 if alternative == "less" else 1.0)
        with np.errstate(invalid="ignore"):  # an arm without units is NaN
            low, high = agreeing_ends(p <= alpha, towards, next(found), next(found))
        low = np.full(len(p), -1.0) if alternative == "less" else low
        high = np.full(len(p), 1.0) if alternative == "greater" else high
        intervals.append((np.where(np.isnan(p), np.nan, low), np.where(np.isnan(p), np.nan, high)))
    return intervals


def _where_score_falls_to(table: _Table, wanted: Floats) -> Floats:
    """Return by bisection the differences at which the score passes the wanted values, both of shape (k, c).

    The score falls with the difference and is 0 at the estimate.
    """
    start = np.where(wanted > 0, -1.0, table.estimate)
    stop = np.where(wanted > 0, table.estimate, 1.0)
    for _ in range(_HALVINGS):
        middle = (start + stop) / 2
        score = table.score(middle)
        # without spread the difference is as far from the estimate as can be
        score = np.where(np.isnan(score), np.where(middle < table.estimate, np.inf, -np.inf), score)
        start, stop = np.where(score > wanted, middle, start), np.where(score > wanted, stop, middle)
    return (start + stop) / 2


def _fisher(control_successes: int, control_n: int, treatment_successes: int, treatment_n: int) -> tuple[float, float]:
    if not control_n or not treatment_n:
        return np.nan, np.nan
    table = np.array(
        [
            [treatment_successes, treatment_n - treatment_successes],
            [control_successes, control_n - control_successes],
        ]
    )
    p = float(scipy.stats.fisher_exact(table).pvalue)
    return max(p, SMALLEST_P), float(scipy.stats.contingency.odds_ratio(table, kind="conditional").statistic)
