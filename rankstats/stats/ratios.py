"""Statistics that are ratios of two sums over rows: weighted means, relative differences, and both over clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.classical import mean_interval
from rankstats.stats.differences import Differences, paired_differences
from rankstats.stats.exact_sums import to_grid
from rankstats.stats.flip_readings import distinct_masks
from rankstats.stats.moments import CentredMoments
from rankstats.stats.resampling import Summands, label_codes

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """Ratios Σ numerator / Σ denominator in c columns over n rows (queries or clusters), with exact sums.

    Made by `mean_ratios` and `relative_ratios`.

    Attributes
    ----------
    numerators, denominators : ndarray, shape (n, c)
        Whole numbers in float64; 0 where absent. The denominators' sum is not negative.
    scale : ndarray, shape (c,)
        What the ratio of the whole numbers is multiplied with.
    present : ndarray of bool, shape (n, c)
        Rows that count in a column.
    slack : ndarray, shape (n, c)
        What rounding can make of a numerator's distance from ratio × denominator.
    defined : ndarray of bool, shape (c,)
        Where the ratio may be reported.
    """

    numerators: Floats
    denominators: Floats
    scale: Floats
    present: NDArray[np.bool_]
    slack: Floats
    defined: NDArray[np.bool_]

    @property
    def n_rows(self) -> int:
        """Number of rows, present or not."""
        return int(self.numerators.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns c."""
        return int(self.numerators.shape[1])

    @property
    def n(self) -> NDArray[np.int64]:
        """Number of rows present in each column, shape (c,)."""
        return np.asarray(np.count_nonzero(self.present, axis=0), dtype=np.int64)

    @property
    def estimate(self) -> Floats:
        """Ratios, shape (c,); NaN where not defined."""
        total = self.denominators.sum(axis=0)
        known = np.where(self.defined & (total > 0), total, np.nan)
        return np.asarray(self.numerators.sum(axis=0) / known * self.scale)

    @property
    def zero(self) -> NDArray[np.bool_]:
        """Columns of which every numerator is 0, shape (c,)."""
        return np.asarray(~np.any(self.numerators != 0, axis=0))

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Columns whose rows all have one ratio (but for rounding): resampling shows no spread, shape (c,)."""
        return np.asarray(np.all(np.abs(self.residuals()) <= self.slack, axis=0))

    def residuals(self) -> Floats:
        """Return numerators less ratio × denominators, in the numerators' unit, shape (n, c); 0 where not defined."""
        total = self.denominators.sum(axis=0)
        ratio = np.divide(self.numerators.sum(axis=0), total, out=np.zeros(self.n_columns), where=total > 0)
        return np.where(self.present, self.numerators - ratio * self.denominators, 0.0)

    def select(self, columns: ArrayLike) -> Ratios:
        """Return the chosen columns, in the chosen order."""
        chosen = np.asarray(columns)
        return Ratios(
            self.numerators[:, chosen],
            self.denominators[:, chosen],
            self.scale[chosen],
            self.present[:, chosen],
            self.slack[:, chosen],
            self.defined[chosen],
        )

    def of_clusters(self, clusters: ArrayLike) -> Ratios:
        """Return the same ratios with clusters for rows, in the order of their labels.

        Parameters
        ----------
        clusters : array_like, shape (n,)
            Label of the cluster (session, user, paraphrase group) of each row.
        """
        codes = label_codes(clusters, self.n_rows, "clusters")
        present = cluster_totals(self.present.astype(np.float64), codes) > 0
        return replace(
            self,
            numerators=cluster_totals(self.numerators, codes),
            denominators=cluster_totals(self.denominators, codes),
            present=present,
            slack=cluster_totals(self.slack * self.present, codes),
        )

    def summands(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64], Summands]]:
        """Return, for each distinct set of rows: its columns, the place of their denominators, what to add up.

        The matrix holds the numerators of the columns, then the distinct denominators.
        """
        masks, mask_of = distinct_masks(self.present)
        out = []
        for mask in range(masks.shape[1]):
            rows, columns = np.flatnonzero(masks[:, mask]), np.flatnonzero(mask_of == mask)
            denominators, place = _distinct_columns(self.denominators[np.ix_(rows, columns)])
            matrix = np.hstack([self.numerators[np.ix_(rows, columns)], denominators])
            out.append((columns, place + len(columns), Summands(rows, matrix)))
        return out

    def moments(self) -> list[tuple[NDArray[np.int64], CentredMoments]]:
        """Return, for each distinct set of rows, its columns and the sums that studentise them."""
        residuals = self.residuals()
        return [
            (columns, _moments(residuals[np.ix_(some.rows, columns)], some.matrix[:, len(columns) :], place))
            for columns, place, some in ((c, p - len(c), s) for c, p, s in self.summands())
        ]


def cluster_totals(values: Floats, codes: NDArray[np.int64]) -> Floats:
    """Return the sum of the rows of each cluster, shape (clusters, c): exact for whole numbers."""
    order = np.argsort(codes, kind="stable")
    if not len(order):
        return values
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return np.add.reduceat(values[order], starts, axis=0)


def _distinct_columns(matrix: Floats) -> tuple[Floats, NDArray[np.int64]]:
    if np.all(matrix == matrix[:, :1]):
        return matrix[:, :1], np.zeros(matrix.shape[1], dtype=np.int64)
    distinct, place = np.unique(matrix, axis=1, return_inverse=True)
    return distinct, place.ravel().astype(np.int64)


def _moments(residuals: Floats, denominators: Floats, place: NDArray[np.int64]) -> CentredMoments:
    """Write the linearised variance of a ratio, Σ(x − Ry)², in the sums that `CentredMoments` knows for weights y."""
    n = len(residuals)
    of_columns = denominators[:, place]
    equal = bool(np.all(denominators == denominators[:1, :1])) and n > 0
    column_parts = [to_grid(residuals, n), to_grid(residuals**2, n)]
    set_parts = [to_grid(denominators, n)]
    if equal:
        # all denominators are one number y: dividing by it gives a plain mean, of which fewer sums are needed
        y = max(float(denominators[0, 0]), 1.0)
        column_parts = [to_grid(residuals / y, n), to_grid((residuals / y) ** 2, n)]
        set_parts = [to_grid(denominators / y, n)]
    else:
        column_parts.append(to_grid(residuals * of_columns, n))
        set_parts += [to_grid(denominators**2, n), to_grid(np.ones_like(denominators), n)]
    return CentredMoments(
        not equal,
        np.hstack([part for part, _ in column_parts]),
        np.array([unit for _, unit in column_parts]),
        np.hstack([part for part, _ in set_parts]),
        np.array([unit for _, unit in set_parts]),
        place,
        n,
    )


def mean_ratios(differences: Differences) -> Ratios:
    """Return (weighted) mean differences as ratios Σwd / Σw.

    Examples
    --------
    >>> mean_ratios(paired_differences([0.25, 0.5], [0.5, 0.5], [3, 1])).estimate.tolist()
    [0.1875]
    """
    weights = differences.weight_integers[:, None] * differences.present
    return Ratios(
        differences.numerators,
        weights,
        differences.numerator_unit / differences.weight_unit,
        differences.present,
        np.broadcast_to(1.0, weights.shape),
        differences.n > 0,
    )


def relative_ratios(
    baseline: ArrayLike, system: ArrayLike, weights: ArrayLike | None = None, *, alpha: float = 0.05
) -> Ratios:
    """Return relative differences as ratios of (weighted) means, Σw(b − a) / |Σwa|.

    Parameters
    ----------
    baseline, system : array_like, shape (n,) or (n, c)
        Values a and b per query; NaN in either makes the query absent. A single baseline column is compared with every
        column of `system`.
    weights : array_like, shape (n,), optional
        Weights of the queries, 0 or more.
    alpha : float
        The ratio is not defined (NaN) where the t interval of the baseline's mean of level 1 − alpha covers 0.

    Returns
    -------
    Ratios

    Raises
    ------
    RankstatsError
        If shapes, weights or alpha are out of range.

    Examples
    --------
    >>> relative_ratios([-9.0, -10.0, -11.0], [-4.0, -5.0, -6.0]).estimate.tolist()
    [0.5]
    """
    differences = paired_differences(baseline, system, weights)
    before = np.asarray(baseline, dtype=np.float64).reshape(differences.n_rows, -1)
    before = np.where(differences.present, before, np.nan)
    level = paired_differences(np.zeros(before.shape), before, weights)
    sign = np.where(level.numerators.sum(axis=0) < 0, -1.0, 1.0)
    scale = differences.numerator_unit / level.numerator_unit
    of_baseline = mean_interval(before, weights, alpha=alpha)
    ratios = Ratios(
        differences.numerators,
        level.numerators * sign,
        scale,
        differences.present,
        np.broadcast_to(1.0, before.shape),
        (of_baseline.low > 0) | (of_baseline.high < 0),
    )
    size = np.abs(np.nan_to_num(ratios.estimate) / scale)
    return replace(ratios, slack=np.broadcast_to(1 + size, before.shape))


def as_ratios(statistic: Differences | Ratios) -> Ratios:
    """Return differences as ratios; ratios as they are."""
    if isinstance(statistic, Differences):
        return mean_ratios(statistic)
    if isinstance(statistic, Ratios):
        return statistic
    raise RankstatsError(
        f"{type(statistic).__name__} cannot be resampled; use paired_differences or relative_ratios first"
    )
