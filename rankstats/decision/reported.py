"""The content of a report.json as arrays: values, weights, clusters and segments."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.comparison.collecting import canonical_name
from rankstats.comparison.segments import NONE
from rankstats.comparison.significance import on_units
from rankstats.errors import PlanError, RankstatsError, did_you_mean
from rankstats.measures import parse_measure
from rankstats.stats import Differences, paired_differences, paired_t

Floats = NDArray[np.float64]
Row = Mapping[str, Any]

_QUANTILE = re.compile(r"q\d+")
_MOST_VALUES = 100
_REQUIRED = ("kind", "systems", "measures", "queries", "values", "differences", "audit", "warnings", "reproduction")


class Reported:
    """A report of a comparison, its queries in the order of their ids.

    Parameters
    ----------
    report : mapping
        The content of a report.json.

    Raises
    ------
    RankstatsError
        If a key is missing, or the report is of another kind.
    """

    noun = ("query", "queries")

    def __init__(self, report: Row) -> None:
        missing = [key for key in _REQUIRED if key not in report]
        if missing:
            raise RankstatsError(f"the report lacks the keys {', '.join(missing)}; was it written by rankstats?")
        if report["kind"] != "comparison":
            raise RankstatsError(
                f"is the report of an {report['kind']}; a comparison, as 'rankstats compare' writes it, is expected"
            )
        self.report = report
        ids = [query["query_id"] for query in report["queries"]]
        self._order = sorted(range(len(ids)), key=ids.__getitem__)
        self.queries: tuple[Row, ...] = tuple(report["queries"][q] for q in self._order)
        self.systems: tuple[str, ...] = tuple(system["name"] for system in report["systems"])
        self.measures: dict[str, Row] = {row["name"]: row for row in report["measures"]}

    # ── what is compared ────────────────────────────────────────────────────────────────────────────────────────────

    def check_system(self, name: str, role: str) -> str:
        """Return the name of a system, or raise a PlanError that names those there are."""
        if name not in self.systems:
            raise PlanError(
                f"{role} {name!r} is not among the systems ({', '.join(self.systems)})"
                + did_you_mean(name, self.systems)
            )
        return name

    def measure(self, text: str) -> str:
        """Return the name of a measure in the report, whatever spelling is given.

        Raises
        ------
        PlanError
            If the report does not hold it.
        """
        for name in (text, canonical_name(text)):
            if name in self.measures:
                return name
        # a name that stands for a measure is no slip of the pen
        hint = (
            "; name one of these in the policy, or compare with it among --measures"
            if _is_measure(text)
            else did_you_mean(text, self.measures)
        )
        raise PlanError(f"measure {text!r} is not in the report (it holds {', '.join(self.measures)}){hint}")

    def label(self, measure: str) -> str:
        """Return the short label of a measure."""
        return str(self.measures[measure]["label"])

    def aggregate(self, measure: str) -> str:
        """Return how the values of a measure become one number for a system."""
        return str(self.measures[measure].get("aggregate", "mean"))

    @property
    def seed(self) -> int:
        """Seed of the report."""
        return int(self.report["reproduction"].get("seed") or 0)

    @property
    def resamples(self) -> int:
        """Sign patterns of the report."""
        return max(99, int(self.report["reproduction"].get("resamples") or 10_000))

    # ── values ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def weights_name(self) -> str | None:
        """Name of the weights of the claims, or None."""
        if "weights" in self.report:
            name: str | None = self.report["weights"]
            return name
        by_id = {row["id"]: row for row in self.report["differences"]}
        claims = [by_id[row["difference_id"]]["weighting"] for row in self.report["verdict"]]
        return claims[0] if claims else None

    @cached_property
    def weights(self) -> Floats | None:
        """Query weights, shape (Q,); None where queries count alike."""
        if self.weights_name is None:
            return None
        return np.array([float(query["weight"]) for query in self.queries])

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Which queries count, shape (Q,): those whose weight is not 0."""
        return np.ones(len(self.queries), dtype=bool) if self.weights is None else self.weights > 0

    def values(self, system: str, measure: str) -> Floats:
        """Return the values of a system, shape (Q,), NaN where undefined."""
        listed = self.report["values"][system].get(measure)
        if listed is None or len(listed) != len(self.queries):
            return np.full(len(self.queries), np.nan)
        column = [math.nan if value is None else float(value) for value in listed]
        return np.array(column)[self._order]

    def defined(self, measure: str) -> NDArray[np.bool_]:
        """Return which queries are defined for all systems, shape (Q,): one n for every system."""
        if measure not in self._defined:
            known = [~np.isnan(self.values(system, measure)) for system in self.systems]
            self._defined[measure] = np.logical_and.reduce(known)
        return self._defined[measure]

    @cached_property
    def _defined(self) -> dict[str, NDArray[np.bool_]]:
        return {}

    def differences(self, measure: str, baseline: str | None, system: str) -> Differences:
        """Return system − baseline (or − 0 where there is none) in one column over all queries."""
        kept = self.defined(measure)
        after = np.where(kept, self.values(system, measure), np.nan)
        before = np.zeros(len(kept)) if baseline is None else self.values(baseline, measure)
        return paired_differences(np.where(kept, before, np.nan), after, self.weights)

    def standard_error(self, measure: str, pair: tuple[str, str]) -> float | None:
        """Return the standard error of the difference over all queries, between clusters where there are some."""
        found = on_units(paired_t, self.differences(measure, *pair), self.clusters)
        return float(found.standard_error[0])

    # ── clusters and segments ───────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def clusters(self) -> NDArray[np.int64] | None:
        """Cluster of each query, shape (Q,); None where every query stands for itself.

        Raises
        ------
        RankstatsError
            If the report does not tell which queries belong together.
        """
        name = self.report.get("clusters")
        if name is None:
            return None
        wanted = (self.report["audit"].get("clusters") or {}).get("clusters")
        # a column that plays the part of text or frequency is written under that name
        for key in (f"{name} (column)", name, "text", "frequency"):
            labels = [query["attributes"].get(key) for query in self.queries]
            codes = _cluster_codes(labels)
            if any(label is not None for label in labels) and wanted in (None, len(np.unique(codes))):
                return codes
        raise RankstatsError(
            f"the report does not hold the clusters {name!r} of its queries; make it again from runs or scores"
        )

    @cached_property
    def listed_segments(self) -> dict[str, dict[str, int]]:
        """The segments that the report was made with: attribute to value to number of queries."""
        found: dict[str, dict[str, int]] = {}
        for segment in self.report.get("segments") or ():
            found.setdefault(segment["attribute"], {})[segment["value"]] = int(segment["n"])
        return found

    def segments(self, attribute: str) -> dict[str, NDArray[np.bool_]]:
        """Return the members of every segment of an attribute, each of shape (Q,), in display order.

        They are read from the attributes of the queries, also where the report was made without these segments.

        Raises
        ------
        PlanError
            If the report knows no such attribute, or does not tell which queries belong to it.
        """
        if attribute not in self._segments:
            self._segments[attribute] = self._make_segments(attribute)
        return self._segments[attribute]

    @cached_property
    def _segments(self) -> dict[str, dict[str, NDArray[np.bool_]]]:
        return {}

    def _make_segments(self, attribute: str) -> dict[str, NDArray[np.bool_]]:
        listed = self.listed_segments.get(attribute)
        raw = [query["attributes"].get(attribute) for query in self.queries]
        if listed is None and all(_text(value) is None for value in raw):
            known = dict.fromkeys([*self.listed_segments, *(k for q in self.queries for k in q["attributes"])])
            raise PlanError(
                f"there is no segment attribute {attribute!r} in the report"
                + (f" (known: {', '.join(known)})" if known else "")
                + did_you_mean(attribute, known)
                + f"; make the report with --segment {attribute}"
            )
        texts = [_text(value) or NONE for value in raw]
        if listed is None:
            values = sorted(set(texts) - {NONE}, key=_by_number(raw))
            if len(values) > _MOST_VALUES:
                raise PlanError(
                    f"segment attribute {attribute!r} has {len(values)} different values; "
                    f"make the report with --segment {attribute}:q4"
                )
            listed = dict.fromkeys([*values, *([NONE] if NONE in texts else [])], -1)
        members = {value: np.array([text == value for text in texts], dtype=bool) for value in listed}
        if any(n not in (-1, int(members[value].sum())) for value, n in listed.items()):
            return self._quantiles(attribute, raw, listed)
        return members

    def _quantiles(self, attribute: str, raw: Sequence[Any], listed: Mapping[str, int]) -> dict[str, NDArray[np.bool_]]:
        """Cut the numbers of a column where the sizes of its quantile segments say."""
        numbers = np.array([float(v) if isinstance(v, int | float) else np.nan for v in raw])
        order = np.argsort(numbers, kind="stable")[: int(np.count_nonzero(~np.isnan(numbers)))]
        bins = {value: n for value, n in listed.items() if value != NONE}
        cuts = np.cumsum(list(bins.values()))
        fits = all(_QUANTILE.fullmatch(value) for value in bins) and cuts[-1] == len(order)
        ordered = numbers[order]
        if not fits or any(0 < cut < len(order) and ordered[cut - 1] == ordered[cut] for cut in cuts.tolist()):
            raise PlanError(
                f"the report does not tell which queries are in the segments of {attribute!r}: a column of the query "
                "table has the same name; rename that column"
            )
        members = {}
        for value, chosen in zip(bins, np.split(order, cuts[:-1]), strict=True):
            members[value] = np.zeros(len(raw), dtype=bool)
            members[value][chosen] = True
        if NONE in listed:
            members[NONE] = np.isnan(numbers)
        return members

    def segment_sizes(self, attribute: str) -> dict[str, int]:
        """Return the number of queries in every segment of an attribute; errors as in `segments`."""
        return {value: int(members.sum()) for value, members in self.segments(attribute).items()}

    def row(self, measure: str, pair: tuple[str, str], segment: tuple[str, str] | None) -> Row | None:
        """Return the report's row of differences of two systems, in either direction, or None."""
        return self._rows.get((measure, frozenset(pair), segment))

    @cached_property
    def _rows(self) -> dict[tuple[str, frozenset[str], tuple[str, str] | None], Row]:
        return {
            (row["measure"], frozenset((row["baseline"], row["system"])), segment_of(row)): row
            for row in self.report["differences"]
            if row["weighting"] == self.weights_name
        }


def _is_measure(text: str) -> bool:
    try:
        parse_measure(text)
    except RankstatsError:
        return False
    return True


def segment_of(row: Row) -> tuple[str, str] | None:
    """Return the segment of a row as attribute and value, or None for all queries."""
    segment = row["segment"]
    return None if segment is None else (segment["attribute"], segment["value"])


def _text(value: Any) -> str | None:
    """Return the segment that an attribute's value stands for, as segments are named; None for no value."""
    if value is None or value in ("", NONE) or (isinstance(value, float) and math.isnan(value)):
        return None
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _by_number(raw: Sequence[Any]) -> Any:
    """Return the key that sorts values as numbers where all of them are."""
    numeric = all(isinstance(value, int | float) for value in raw if _text(value) is not None)
    return (lambda text: (float(text), text)) if numeric else str


def _cluster_codes(labels: Sequence[Any]) -> NDArray[np.int64]:
    """Number clusters in the order of their labels; a query without a label is a cluster of its own."""
    known = [label is not None and not (isinstance(label, float) and math.isnan(label)) for label in labels]
    distinct = {label for label, has in zip(labels, known, strict=True) if has}
    numeric = all(isinstance(label, int | float) for label in distinct)
    place = {label: k for k, label in enumerate(sorted(distinct, key=None if numeric else str))}
    alone = iter(range(len(labels), 2 * len(labels)))
    return np.array([place[x] if has else next(alone) for x, has in zip(labels, known, strict=True)], dtype=np.int64)
