"""Less variance with covariates from before the experiment: CUPED and regression adjustment, from moments alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.arm_pairs import ArmPair, both_arms, independent_pair, linearised, welch_df
from rankstats.stats.unit_moments import UnitMoments, merge_moments
from rankstats.stats.validation import check_choice

SLOPES = ("common", "separate")

_INDEPENDENT = 1e-10
"""A covariate of which the others leave a smaller fraction of its variance adds nothing."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class AdjustedArms:
    """Result of `cuped` and `regression_adjustment`: an adjusted pair for `compare_arms`, and the raw one beside it.

    Attributes
    ----------
    adjusted, raw : ArmPair
        Estimates with and without the covariates, of the same units.
    slopes : ndarray, shape (c, p)
        θ of each covariate; 0 for one that does not vary, or adds nothing to those before it. With separate slopes
        those of the treatment weighted with the control's share of the units, and the other way round.
    explained : ndarray, shape (c,)
        Fraction by which the variance of the difference falls; negative where the adjustment adds variance.
    r_squared : ndarray, shape (c,)
        Squared multiple correlation of metric and covariates over the units of both arms: what planning needs.
    method : str
        'cuped', 'common' or 'separate'.
    """

    adjusted: ArmPair
    raw: ArmPair
    slopes: Floats
    explained: Floats
    r_squared: Floats
    method: str


def cuped(control: UnitMoments, treatment: UnitMoments, *, ratio: bool = False) -> AdjustedArms:
    """Adjust both arms by covariates with one pooled slope (CUPED).

    1. θ = cov(y, x) / var(x) over the units of both arms together; with several covariates the solution of the normal
       equations.
    2. An arm's adjusted mean is its mean less θ times (its covariate mean less that of all units). The squared standard
       error of the difference is the sum of the variances of y − θx over n, on Welch–Satterthwaite degrees of freedom.
    3. For a ratio metric y is the linear part of the ratio.

    Covariates must have been measured before the experiment: anything that the treatment can change biases the effect.
    They never see which arm wins, so the effect stays unbiased but for terms of order 1/n.

    Parameters
    ----------
    control, treatment : UnitMoments
        Moments of the metric (with `ratio` numerator and denominator) and then p ≥ 1 covariates. For units without a
        past see `covariate_with_missing`.
    ratio : bool
        Whether the first two variables are numerator and denominator.

    Returns
    -------
    AdjustedArms

    Raises
    ------
    RankstatsError
        If there is no covariate or the arms do not fit.

    References
    ----------
    Deng, Xu, Kohavi & Walker 2013.

    Examples
    --------
    >>> from rankstats.stats.unit_moments import unit_moments
    >>> before, after = [1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 3.5, 4.5]
    >>> arms = cuped(unit_moments(after, before), unit_moments([2.0, 3.0, 4.0, 5.5], before))
    >>> arms.slopes.round(3).tolist(), bool(arms.explained[0] > 0.9)
    ([[1.1]], True)
    """
    arms = _Arms.of(control, treatment, ratio=ratio)
    # everything that the arms' means differ in belongs to the pooled covariance
    theta = _slopes(merge_moments([arms.control, arms.treatment]).covariance)
    none = np.zeros_like(arms.n)
    return arms.adjusted(theta, theta, lost=(none, none), method="cuped")


def regression_adjustment(
    control: UnitMoments, treatment: UnitMoments, *, ratio: bool = False, slopes: str = "separate"
) -> AdjustedArms:
    """Adjust both arms by least squares on covariates.

    * 'common': one slope within the arms, ordinary least squares of the metric on arm and covariates (analysis of
      covariance) with its classical standard error on n − 2 − p degrees of freedom, which supposes equal variances.
    * 'separate': a slope in each arm, covariates centred at the mean of all units (interaction with the arm). The
      variance of the difference is the sum of the arms' residual variances over n, plus that of what the covariate
      means of all units do to it where the slopes differ. Asymptotically never wider than the raw difference.

    Parameters
    ----------
    control, treatment, ratio
        As in `cuped`.
    slopes : {'separate', 'common'}
        See above.

    Returns
    -------
    AdjustedArms

    Raises
    ------
    RankstatsError
        If there is no covariate or the arms do not fit.

    References
    ----------
    Lin 2013 (separate slopes); Fisher 1932 (analysis of covariance).

    Examples
    --------
    >>> from rankstats.stats.unit_moments import unit_moments
    >>> before, after = [1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 3.5, 4.5]
    >>> arms = regression_adjustment(unit_moments(after, before), unit_moments([2.0, 3.0, 4.0, 5.5], before))
    >>> arms.adjusted.difference.tolist()
    [0.75]
    """
    check_choice("slopes", slopes, SLOPES)
    arms = _Arms.of(control, treatment, ratio=ratio)
    if slopes == "common":
        return arms.analysis_of_covariance()
    return arms.adjusted(
        _slopes(arms.control.covariance),
        _slopes(arms.treatment.covariance),
        lost=(_inverse(arms.control.covariance[:, 1:, 1:])[1], _inverse(arms.treatment.covariance[:, 1:, 1:])[1]),
        method="separate",
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Arms:
    """Linear parts of the metric and covariates of both arms, and the raw comparison."""

    control: UnitMoments
    treatment: UnitMoments
    raw: ArmPair

    @classmethod
    def of(cls, control: UnitMoments, treatment: UnitMoments, *, ratio: bool) -> _Arms:
        least = 3 if ratio else 2
        if min(control.n_variables, treatment.n_variables) < least:
            raise RankstatsError(
                f"{'numerator, denominator' if ratio else 'the metric'} and at least one covariate are needed; give "
                "covariates from before the experiment as further variables of unit_moments"
            )
        control, treatment = both_arms(control, treatment, least)
        raw = independent_pair(control, treatment, ratio=ratio)
        return cls(linearised(control, ratio=ratio)[1], linearised(treatment, ratio=ratio)[1], raw)

    @property
    def n(self) -> NDArray[np.int64]:
        """Units of both arms."""
        return self.control.n + self.treatment.n

    @property
    def _moved(self) -> tuple[Floats, Floats]:
        """Covariate means of each arm less that of all units, shape (c, p)."""
        n = np.where(self.n > 0, self.n, 1)[:, None]
        apart = np.nan_to_num(self.treatment.mean[:, 1:] - self.control.mean[:, 1:])
        return -apart * self.treatment.n[:, None] / n, apart * self.control.n[:, None] / n

    def adjusted(
        self,
        of_control: Floats,
        of_treatment: Floats,
        *,
        lost: tuple[NDArray[np.int64], NDArray[np.int64]],
        method: str,
    ) -> AdjustedArms:
        """Return the arms adjusted with given slopes, shape (c, p), that cost each arm degrees of freedom."""
        n, moved = self.n, self._moved
        of_residuals = (_residual(self.control, of_control, lost[0]), _residual(self.treatment, of_treatment, lost[1]))
        covariates = merge_moments((self.control, self.treatment)).covariance[:, 1:, 1:]
        shared = [_form(first, covariates, second) / n for first, second in _pairs(of_control, of_treatment)]
        control_df, treatment_df = self.control.n - 1 - lost[0], self.treatment.n - 1 - lost[1]
        pair = ArmPair(
            control=self.control.mean[:, 0] - _dot(of_control, moved[0]),
            treatment=self.treatment.mean[:, 0] - _dot(of_treatment, moved[1]),
            control_variance=of_residuals[0] + shared[0],
            treatment_variance=of_residuals[1] + shared[1],
            covariance=shared[2],
            df=welch_df(*of_residuals, control_df, treatment_df),
            control_df=np.maximum(control_df.astype(np.float64), 0.0),
            control_n=self.raw.control_n,
            treatment_n=self.raw.treatment_n,
        )
        share = (self.treatment.n / np.where(n > 0, n, 1))[:, None]
        return self._beside_raw(pair, share * of_control + (1 - share) * of_treatment, method)

    def analysis_of_covariance(self) -> AdjustedArms:
        """Return the arms adjusted by one slope within them, with classical standard errors."""
        within = _squares(self.control) + _squares(self.treatment)
        slopes, moved = _slopes(within), self._moved
        inverse, rank = _inverse(within[:, 1:, 1:])
        df = self.n - 2 - rank
        squares = within[:, 0, 0] - _dot(slopes, within[:, 1:, 0])
        error = _positive(squares, within[:, 0, 0]) / np.where(df > 0, df, np.nan)
        distances = [_form(first, inverse, second) for first, second in _pairs(*moved)]
        covariates = merge_moments((self.control, self.treatment)).covariance[:, 1:, 1:]
        shared = _form(slopes, covariates, slopes) / self.n
        usable = np.where((df > 0) & (error > 0), df.astype(np.float64), np.nan)
        pair = ArmPair(
            control=self.control.mean[:, 0] - _dot(slopes, moved[0]),
            treatment=self.treatment.mean[:, 0] - _dot(slopes, moved[1]),
            control_variance=error * (1 / self.control.n + distances[0]) + shared,
            treatment_variance=error * (1 / self.treatment.n + distances[1]) + shared,
            covariance=error * distances[2] + shared,
            df=usable,
            control_df=usable,
            control_n=self.raw.control_n,
            treatment_n=self.raw.treatment_n,
        )
        return self._beside_raw(pair, slopes, "common")

    def _beside_raw(self, pair: ArmPair, slopes: Floats, method: str) -> AdjustedArms:
        before = np.where(self.raw.variance > 0, self.raw.variance, np.nan)
        pooled = merge_moments((self.control, self.treatment)).covariance
        whole = np.where(pooled[:, 0, 0] > 0, pooled[:, 0, 0], np.nan)
        r_squared = _dot(_slopes(pooled), pooled[:, 1:, 0]) / whole
        return AdjustedArms(pair, self.raw, slopes, 1 - pair.variance / before, r_squared, method)


def _squares(arm: UnitMoments) -> Floats:
    """Return sums of squares and products about the means, shape (c, 1 + p, 1 + p)."""
    return np.asarray(np.maximum(arm.n - 1, 0)[:, None, None] * arm.covariance)


def _pairs(first: Floats, second: Floats) -> tuple[tuple[Floats, Floats], ...]:
    return (first, first), (second, second), (first, second)


def _dot(first: Floats, second: Floats) -> Floats:
    return np.asarray((first * second).sum(axis=1))


def _form(first: Floats, matrix: Floats, second: Floats) -> Floats:
    return np.asarray(np.einsum("ci,cij,cj->c", first, matrix, second))


def _positive(variance: Floats, whole: Floats) -> Floats:
    """Return a residual sum of squares: 0 where rounding leaves no more of the whole."""
    with np.errstate(invalid="ignore"):  # no spread known is NaN
        return np.where(variance > 1e-13 * whole, variance, np.where(np.isnan(variance), np.nan, 0.0))


def _residual(arm: UnitMoments, slopes: Floats, lost: NDArray[np.int64]) -> Floats:
    """Return var(y − θx) / n with n − 1 − lost degrees of freedom, shape (c,)."""
    combine = np.hstack([np.ones((arm.n_columns, 1)), -slopes])
    variance = _positive(_form(combine, arm.covariance, combine), arm.covariance[:, 0, 0])
    left = np.where(arm.n - 1 - lost > 0, arm.n - 1 - lost, np.nan)
    return variance * (arm.n - 1) / left / np.where(arm.n > 0, arm.n, np.nan)


def _slopes(covariance: Floats) -> Floats:
    """Return the least-squares slopes of the first variable on the others, shape (c, p)."""
    inverse, _ = _inverse(covariance[:, 1:, 1:])
    return np.asarray(np.einsum("cij,cj->ci", inverse, np.nan_to_num(covariance[:, 1:, 0])))


def _inverse(matrices: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return inverses over the independent variables, 0 elsewhere, and how many of them there are."""
    inverse, rank = np.zeros(matrices.shape), np.zeros(len(matrices), dtype=np.int64)
    for column, matrix in enumerate(np.nan_to_num(matrices)):
        kept = _independent(matrix)
        places = np.ix_(kept, kept)
        spread = np.sqrt(np.diag(matrix)[kept])
        inverse[column][places] = np.linalg.inv(matrix[places] / spread[:, None] / spread) / spread[:, None] / spread
        rank[column] = len(kept)
    return inverse, rank


def _independent(matrix: Floats) -> list[int]:
    """Return the covariates that vary and that those before them do not determine (Cholesky, one at a time)."""
    kept: list[int] = []
    for place in range(len(matrix)):
        variance = matrix[place, place]
        if variance <= 0:
            continue
        left = variance
        if kept:
            spread = np.sqrt(np.diag(matrix)[kept])
            shared = matrix[kept, place] / spread
            left = variance - shared @ np.linalg.solve(matrix[np.ix_(kept, kept)] / spread[:, None] / spread, shared)
        if left > _INDEPENDENT * variance:
            kept.append(place)
    return kept
