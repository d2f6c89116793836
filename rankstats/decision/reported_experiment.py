"""The content of an experiment's report.json as pairs of arms: estimates and variances, by metric and segment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.decision.reported import segment_of
from rankstats.errors import PlanError, RankstatsError, did_you_mean
from rankstats.experiment.checks import withheld_by
from rankstats.experiment.result import Check
from rankstats.stats import ArmPair

Row = Mapping[str, Any]
Segment = tuple[str, str] | None

_REQUIRED = ("systems", "measures", "differences", "scores", "warnings", "experiment")
BLOCKING = ("sample_ratio", "two_arms", "missing_values")
"""Checks that can forbid a verdict."""


class ReportedExperiment:
    """A report of an experiment.

    Parameters
    ----------
    report : mapping
        The content of a report.json of kind 'experiment'.

    Raises
    ------
    RankstatsError
        If a key is missing.
    """

    noun = ("unit", "units")
    weights_name = None
    clusters = None

    def __init__(self, report: Row) -> None:
        missing = [key for key in _REQUIRED if not report.get(key) and key != "warnings"]
        if missing:
            raise RankstatsError(f"the report lacks the keys {', '.join(missing)}; was it written by rankstats?")
        self.report = report
        self.systems: tuple[str, ...] = tuple(system["name"] for system in report["systems"])
        self.measures: dict[str, Row] = {row["name"]: row for row in report["measures"]}
        self.control: str = str(report.get("baseline") or self.systems[0])
        self.design: Row = report["experiment"].get("design") or {"kind": "fixed"}

    def check_system(self, name: str, role: str) -> str:
        """Return the name of an arm, or raise a PlanError that names those there are."""
        if name not in self.systems:
            raise PlanError(
                f"{role} {name!r} is not among the arms ({', '.join(self.systems)})" + did_you_mean(name, self.systems)
            )
        return name

    def measure(self, text: str) -> str:
        """Return the name of a metric, or raise a PlanError that names those there are."""
        if text not in self.measures:
            raise PlanError(
                f"metric {text!r} is not in the report (it holds {', '.join(self.measures)})"
                + did_you_mean(text, self.measures)
            )
        return text

    def label(self, measure: str) -> str:
        """Return the label of a metric."""
        return str(self.measures[measure]["label"])

    def aggregate(self, measure: str) -> str:
        """Return how the values of a metric become one number for an arm."""
        return str(self.measures[measure].get("aggregate", "mean"))

    def segment_sizes(self, attribute: str) -> dict[str, int]:
        """Return the number of units in every segment of an attribute.

        Raises
        ------
        PlanError
            If the report was made without these segments.
        """
        listed = self.report.get("segments") or ()
        found = {str(row["value"]): int(row["n"]) for row in listed if row["attribute"] == attribute}
        if not found:
            known = list(dict.fromkeys(str(row["attribute"]) for row in listed))
            raise PlanError(
                f"there is no segment attribute {attribute!r} in the report"
                + (f" (known: {', '.join(known)})" if known else "")
                + did_you_mean(attribute, known)
                + f"; make the report with --segment {attribute}"
            )
        return found

    # ── arms ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def row(self, measure: str, pair: tuple[str, str], segment: Segment) -> Row:
        """Return the report's row of two arms, in either direction.

        Raises
        ------
        PlanError
            If neither is the control.
        """
        key = (measure, frozenset(pair), segment)
        if key not in self._rows:
            raise PlanError(
                f"the report compares with the control {self.control!r}, not {pair[1]!r} with {pair[0]!r}; read the "
                f"rows again with --control {pair[0]}"
            )
        return self._rows[key]

    def standard_error(self, measure: str, pair: tuple[str, str]) -> float | None:
        """Return the standard error of the difference of two arms over all units, or None."""
        row = self._rows.get((measure, frozenset(pair), None))
        error: float | None = None if row is None else row.get("standard_error")
        return error

    @cached_property
    def _rows(self) -> dict[tuple[str, frozenset[str], Segment], Row]:
        return {
            (row["measure"], frozenset((row["baseline"], row["system"])), segment_of(row)): row
            for row in self.report["differences"]
        }

    def pair(self, measure: str, pair: tuple[str, str], segment: Segment) -> ArmPair:
        """Return baseline and system as a pair of arms of one column, whichever of them is the control.

        Raises
        ------
        RankstatsError
            If the report was written before reports held what that takes.
        """
        row = self.row(measure, pair, segment)
        found = row.get("variances")
        if found is None:
            raise RankstatsError(
                "the report does not hold the variances of its arms; read the rows again with this version"
            )
        sides = [_Side.of(row, name) for name in ("baseline", "system")]
        before, after = sides if row["baseline"] == pair[0] else sides[::-1]
        df = _number(found["df"])
        if math.isnan(df) and before.variance + after.variance > 0:
            df = math.inf
        return ArmPair(
            control=np.array([before.mean]),
            treatment=np.array([after.mean]),
            control_variance=np.array([before.variance]),
            treatment_variance=np.array([after.variance]),
            covariance=np.array([_number(found["covariance"])]),
            df=np.array([df]),
            control_df=np.array([before.df]),
            control_n=np.array([before.n]),
            treatment_n=np.array([after.n]),
        )

    def counts(self, measure: str, pair: tuple[str, str], segment: Segment) -> tuple[NDArray[np.int64], ...] | None:
        """Return hits and units of baseline and system where the metric is a share of units read without covariates."""
        row = self.row(measure, pair, segment)
        if str(row["test"]).split(",", maxsplit=1)[0] != "score" or row["difference"] is None:
            return None
        sides = [(row[f"mean_{name}"], row[f"n_{name}"]) for name in ("baseline", "system")]
        ordered = sides if row["baseline"] == pair[0] else sides[::-1]
        return tuple(np.array([number]) for mean, n in ordered for number in (round(mean * n), n))

    def score(self, measure: str, system: str, segment: Segment) -> Row | None:
        """Return the report's row of an arm's own value, or None."""
        found = [
            row
            for row in self.report["scores"]
            if (row["measure"], row["system"], segment_of(row)) == (measure, system, segment)
        ]
        return found[0] if found else None

    # ── checks ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """The checks of the experiment."""
        names = ("code", "question", "statistic", "p_value", "threshold", "outcome", "found", "measure")
        return tuple(Check(**{name: row.get(name) for name in names}) for row in self.report["experiment"]["checks"])

    def withheld(self, measure: str) -> str | None:
        """Return why nothing may be said of a metric, or None."""
        return withheld_by(self.checks, measure)


class _Side:
    """One arm of a row: mean, squared standard error, degrees of freedom, units."""

    __slots__ = ("df", "mean", "n", "variance")

    def __init__(self, mean: float, variance: float, df: float, n: int) -> None:
        self.mean, self.variance, self.df, self.n = mean, variance, df, n

    @classmethod
    def of(cls, row: Row, name: str) -> _Side:
        found, n = row["variances"], int(row[f"n_{name}"])
        df = _number(found.get("df_baseline")) if name == "baseline" else max(n - 1.0, 0.0)
        known = not math.isnan(_number(found[name]))
        return cls(_number(row[f"mean_{name}"]), _number(found[name]), math.inf if math.isnan(df) and known else df, n)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
