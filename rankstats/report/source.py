"""The report mapping, indexed: look-ups and formats that every section shares."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from rankstats import wording
from rankstats.conventions import RANK_TESTS, SMALLEST_VERDICT_N
from rankstats.errors import RankstatsError
from rankstats.report import tones
from rankstats.report.texts import LONGEST_LABEL, label, shown

Row = Mapping[str, Any]
Pair = tuple[str, str]
Segment = tuple[str, str] | None

SCHEMA_VERSION = "1"
BUILT_IN = ("length", "popularity", "relevant")
"""Attributes that rankstats makes; the labels of their segments explain themselves."""
STAR_LEVELS = (0.01, 0.001)
"""Adjusted p-values at which a difference that is shown gets a further star."""
REQUIRED = (
    *("schema_version", "kind", "title", "systems", "measures", "queries", "values", "lists", "scores"),
    *("differences", "families", "distributions", "heterogeneity", "agreement", "audit", "warnings"),
    *("verdict", "decision", "experiment", "reproduction"),
)


def segment_of(row: Row) -> Segment:
    """Return the segment of a row as a pair of attribute and value, or None for all queries."""
    segment = row["segment"]
    return None if segment is None else (segment["attribute"], segment["value"])


def ends(interval: Row | None) -> tuple[float, float] | None:
    """Return the two ends of an interval; an unbounded end is infinite.

    Examples
    --------
    >>> ends({"low": None, "high": 0.5, "level": 0.95, "method": "t", "unbounded": "low"})
    (-inf, 0.5)
    """
    if interval is None:
        return None
    low, high = interval["low"], interval["high"]
    return (-math.inf if low is None else float(low), math.inf if high is None else float(high))


class Source:
    """A report mapping and its indexes.

    Parameters
    ----------
    report : mapping
        The content of a report.json.

    Raises
    ------
    RankstatsError
        If a key is missing or the version is another one.
    """

    def __init__(self, report: Mapping[str, Any]) -> None:
        missing = [key for key in REQUIRED if key not in report]
        if missing:
            raise RankstatsError(f"report.json lacks the keys {', '.join(missing)}; was it written by rankstats?")
        if str(report["schema_version"]) != SCHEMA_VERSION:
            raise RankstatsError(
                f"report.json has schema_version {report['schema_version']!r}; "
                f"this version of rankstats reads {SCHEMA_VERSION!r}"
            )
        self.report = report

    # ── what is compared ────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in their order."""
        return tuple(system["name"] for system in self.report["systems"])

    @cached_property
    def measures(self) -> dict[str, Row]:
        """Measures by name, in their order."""
        return {measure["name"]: measure for measure in self.report["measures"]}

    @cached_property
    def primary(self) -> tuple[str, ...]:
        """Names of the primary measures."""
        named = self.report.get("primary") or [row["measure"] for row in self.report["verdict"]]
        return tuple(dict.fromkeys(named)) or tuple(self.measures)[:1]

    @cached_property
    def baseline(self) -> str | None:
        """The system that the others are compared with, if there is one."""
        named = self.report.get("baseline")
        baselines = dict.fromkeys(pair[0] for pair in self.pairs)
        return named if named is not None else next(iter(baselines)) if len(baselines) == 1 else None

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Pairs of baseline and system, in the order of the differences."""
        return tuple(dict.fromkeys((row["baseline"], row["system"]) for row in self.report["differences"]))

    @cached_property
    def alpha(self) -> float:
        """The level of the tests."""
        return float(self.report.get("alpha", 0.05))

    @cached_property
    def planned_weighting(self) -> str | None:
        """The weights column of the planned claims, or None."""
        by_id = {row["id"]: row for row in self.report["differences"]}
        for row in self.report["verdict"]:
            weighting: str | None = by_id[row["difference_id"]]["weighting"]
            return weighting
        return None

    @cached_property
    def weightings(self) -> tuple[str | None, ...]:
        """The weights columns that occur in the differences; None is the plain mean."""
        return tuple(dict.fromkeys(row["weighting"] for row in self.report["differences"]))

    @cached_property
    def segments(self) -> tuple[Row, ...]:
        """The segments in display order; made from the differences where the report lists none."""
        listed = self.report.get("segments")
        if listed:
            return tuple(listed)
        found: dict[tuple[str, str], Row] = {}
        for row in self.report["differences"]:
            key = segment_of(row)
            if key is not None and key not in found:
                found[key] = {"attribute": key[0], "value": key[1], "label": key[1], "n": row["n"], "share": None,
                              "share_of": "queries", "too_few": row["n"] < SMALLEST_VERDICT_N}  # fmt: skip
        return tuple(found.values())

    @cached_property
    def attributes(self) -> dict[str, str]:
        """Segment attributes and their labels, in display order."""
        tested = {row["attribute"]: str(row.get("label") or row["attribute"]) for row in self.report["heterogeneity"]}
        named = {attribute: shown(text, 80) for attribute, text in tested.items()}
        found = dict.fromkeys(segment["attribute"] for segment in self.segments)
        return {attribute: named.get(attribute, shown(attribute, 80)) for attribute in found}

    @cached_property
    def trigger(self) -> str | None:
        """The attribute that divides the units of an experiment by its trigger, or None."""
        if not (self.report["experiment"] or {}).get("trigger"):
            return None
        values: dict[str, set[str]] = {}
        for segment in self.segments:
            values.setdefault(segment["attribute"], set()).add(str(segment["value"]))
        return next((name for name, found in values.items() if found <= {"triggered", "not triggered"}), None)

    @cached_property
    def segment_labels(self) -> dict[tuple[str, str], str]:
        """Labels of the segments by attribute and value; the first of a column of the data names the column."""
        labels: dict[tuple[str, str], str] = {}
        before = None
        for segment in self.segments:
            attribute, text = segment["attribute"], shown(str(segment["label"]), 80)
            explained = attribute == self.trigger or all(part in BUILT_IN for part in str(attribute).split("+"))
            named = attribute != before and not explained
            labels[attribute, segment["value"]] = f"{self.attributes[attribute]}: {text}" if named else text
            before = attribute
        return labels

    @cached_property
    def outcome_measures(self) -> tuple[str, ...]:
        """The measures that systems are compared on: without those that only say how far others can be trusted."""
        return tuple(m for m, row in self.measures.items() if m in self.primary or not row.get("diagnostic"))

    @cached_property
    def unit(self) -> tuple[str, str]:
        """What is counted, one and many."""
        counted = {"experiment": ("unit", "units"), "interleaving": ("impression", "impressions")}
        return counted.get(self.report["kind"], ("query", "queries"))

    # ── look-ups ────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def by_id(self) -> dict[str, Row]:
        """Differences by their ids."""
        return {row["id"]: row for row in self.report["differences"]}

    @cached_property
    def _differences(self) -> dict[tuple[str, Pair, Segment, str | None], Row]:
        return {
            (row["measure"], (row["baseline"], row["system"]), segment_of(row), row["weighting"]): row
            for row in self.report["differences"]
        }

    def difference(self, measure: str, pair: Pair, segment: Segment = None, weighting: str | None = None) -> Row | None:
        """Return the row of differences of a measure, a pair, a segment and a weighting, or None."""
        return self._differences.get((measure, pair, segment, weighting))

    def planned(self, measure: str, pair: Pair, segment: Segment = None) -> Row | None:
        """Return the row of differences as planned, with weights if the claims are weighted."""
        return self.difference(measure, pair, segment, self.planned_weighting)

    def planned_pairs(self, measure: str) -> Iterator[tuple[Pair, Row]]:
        """Yield the pairs that are compared on a measure over all queries, with their rows."""
        for pair in self.pairs:
            row = self.planned(measure, pair)
            if row is not None:
                yield pair, row

    @cached_property
    def outcomes(self) -> dict[str, str]:
        """Verdicts by the id of their difference, as tones."""
        return {row["difference_id"]: row["outcome"].replace("_", "-") for row in self.report["verdict"]}

    @cached_property
    def _families(self) -> dict[str, Row]:
        return {family["id"]: family for family in self.report["families"]}

    def family(self, row: Row) -> Row | None:
        """Return the family of a difference, or None."""
        return self._families.get(row["family"]) if row["family"] is not None else None

    def correction(self, row: Row) -> str:
        """Return the correction of a difference, 'none' where nothing is adjusted."""
        family = self.family(row)
        named = row.get("correction") or (family["correction"] if family else None)
        return str(named or "none")

    def tone(self, row: Row) -> str:
        """Return what a difference shows: its verdict, or its adjusted p-value and the side of zero.

        The one place that decides it: a verdict that is withheld, and what rests on the same evidence, is `WITHHELD`
        wherever it is drawn, listed or counted.
        """
        # an arm of an experiment needs as many units as a comparison needs queries
        if min(row["n"], row.get("n_baseline", row["n"]), row.get("n_system", row["n"])) < SMALLEST_VERDICT_N:
            return tones.TOO_FEW
        if self.withheld(row):
            return tones.WITHHELD
        found = self.outcomes[row["id"]] if row["id"] in self.outcomes else self._read_off(row)
        return self.directed(row["measure"], found)

    def directed(self, measure: str, tone: str) -> str:
        """Return a tone, or what it is called on a measure whose direction is only assumed: higher and lower."""
        return tones.ASSUMED.get(tone, tone) if measure in self.assumed else tone

    @cached_property
    def assumed(self) -> frozenset[str]:
        """Measures that are warned of: nobody said that higher is better, and their names speak against it."""
        return frozenset(row["where"] for row in self.report["warnings"] if row["code"] == "assumed_direction")

    def claim_tone(self, found: Row) -> str:
        """Return the tone of the claim that a row of coverage, condensed lists, ties or robustness is about."""
        return self.tone(self.by_id[found["difference_id"]])

    def withheld(self, row: Row) -> str:
        """Return why no verdict is given on a difference; empty where one is given.

        The reason of a claim over all queries holds for its segments, and without weights: they rest on the same lists.
        A check that blocks a whole experiment holds for every metric.
        """
        if self.measures[row["measure"]].get("diagnostic") and row["id"] not in self.outcomes:
            return ""
        own = row.get("withheld") or self._withheld.get((row["measure"], row["baseline"], row["system"]))
        return str(own or self._blocked)

    @cached_property
    def _withheld(self) -> dict[tuple[str, str, str], str]:
        return {
            (row["measure"], row["baseline"], row["system"]): row["withheld"]
            for row in self.report["differences"]
            if row.get("withheld")
        }

    @cached_property
    def _blocked(self) -> str:
        """Why nothing of an experiment can be believed, such as arms of other sizes than designed."""
        checks = (self.report["experiment"] or {}).get("checks") or []
        if not any(check["outcome"] == "blocks" and not check.get("measure") for check in checks):
            return ""
        return next(iter(self._withheld.values()), "")

    def _read_off(self, row: Row) -> str:
        family = self.family(row)
        p = row["p_value"] if row["p_adjusted"] is None else row["p_adjusted"]
        alpha = self.alpha if family is None else family["alpha"]
        size = effect_of(row)
        if p is None or not size or p > alpha or self.measures[row["measure"]].get("diagnostic"):
            return tones.NOT_SHOWN
        if row["test"] in RANK_TESTS and not _leaves_out_zero(row["interval"]):
            return tones.NOT_SHOWN
        higher = self.measures[row["measure"]]["higher_is_better"]
        return tones.BETTER if (size > 0) == higher else tones.WORSE

    def stars(self, row: Row) -> int:
        """Return the stars of a difference in a paper: none where it is not shown, else one, more at .01 and .001."""
        if self.tone(row) not in tones.SHOWN:
            return 0
        p = row["p_value"] if row["p_adjusted"] is None else row["p_adjusted"]
        return 1 + sum(1 for level in STAR_LEVELS if p <= level < self.alpha)

    @cached_property
    def chosen(self) -> dict[str, Any]:
        """What is drawn of each measure, kept for the sections that ask again."""
        return {}

    @cached_property
    def ranks(self) -> dict[tuple[str, str], Row]:
        """Where systems stand on the primary measures, by measure and system; empty where that is not known."""
        return {(row["measure"], row["system"]): row for row in self.report.get("ranks") or ()}

    @cached_property
    def overall(self) -> dict[tuple[str, str], Row]:
        """Scores over all queries, by system and measure."""
        return {(row["system"], row["measure"]): row for row in self.report["scores"] if row["segment"] is None}

    def by_mean(self, measure: str) -> tuple[str, ...]:
        """Return the systems from the best mean on a measure to the worst; equal ones keep their order."""
        sign = 1 if self.measures[measure]["higher_is_better"] else -1

        def key(system: str) -> float:
            row = self.overall.get((system, measure))
            mean = None if row is None else self.lead_mean(row)
            return math.inf if mean is None else -sign * mean

        return tuple(sorted(self.systems, key=key))

    def heterogeneity(self, measure: str, pair: Pair) -> tuple[Row, ...]:
        """Return the tests of heterogeneity of a measure and a pair: those with the claims' weights, else the plain."""
        rows = [
            row
            for row in self.report["heterogeneity"]
            if row["measure"] == measure and (row["baseline"], row["system"]) == pair
        ]
        planned = [row for row in rows if row.get("weighting", self.planned_weighting) == self.planned_weighting]
        return tuple(planned or rows)

    @cached_property
    def _used(self) -> dict[str, frozenset[int]]:
        return {}

    def used_queries(self, measure: str) -> frozenset[int]:
        """Return the queries that a measure's statistics rest on: defined for all, and counted by the weights."""
        if measure not in self._used:
            columns = [values[measure] for values in self.report["values"].values() if measure in values]
            counted = [self.planned_weighting is None or q["weight"] > 0 for q in self.report["queries"]]
            self._used[measure] = frozenset(
                i for i, keep in enumerate(counted) if keep and all(column[i] is not None for column in columns)
            )
        return self._used[measure]

    def lead_mean(self, row: Row) -> float | None:
        """Return the mean of a row of scores that the claims are about: the weighted one where they are weighted."""
        mean: float | None = row["mean"] if self.planned_weighting is None else row["weighted_mean"]
        return mean

    # ── formats ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _decimals(self) -> dict[str, int]:
        """The middle of what the differences over all queries support: one tiny standard error does not rule a page."""
        found: dict[str, list[int]] = {}
        for row in self.report["differences"]:
            if row["segment"] is None:
                found.setdefault(row["measure"], []).append(wording.decimals_for(row.get("standard_error")))
        return {measure: sorted(decimals)[len(decimals) // 2] for measure, decimals in found.items()}

    def decimals(self, measure: str) -> int:
        """Return the decimals of a measure, one number for the whole page so that columns align."""
        return self._decimals.get(measure, 3)

    def mean(self, measure: str, value: float | None) -> str:
        """Return a mean or a per-query value as text."""
        return wording.number(value, self.decimals(measure))

    def signed(self, measure: str, value: float | None) -> str:
        """Return a difference as text, with its sign."""
        return wording.signed(value, self.decimals(measure))

    def range(self, measure: str, interval: Row | None, *, sign: bool = True) -> str:
        """Return an interval in words: '+0.012 to +0.050', with signs for differences."""
        both = ends(interval)
        if both is None or says_nothing(interval):
            return wording.UNDEFINED
        text = wording.interval(*both, self.decimals(measure))
        return text if sign else text.replace("+", "")

    def measure_label(self, measure: str) -> str:
        """Return the short label of a measure."""
        row = self.measures.get(measure)
        return shown(str(row["label"]) if row else measure, 80)

    def n_text(self, n: int) -> str:
        """Return a count of queries (or units) with its noun."""
        return wording.count(n, *self.unit)


def effect_of(row: Row) -> float | None:
    """Return what the test of a difference is about: its own estimate, or the mean difference."""
    size: float | None = row.get("estimate") if row["test"] in RANK_TESTS else row["difference"]
    return size


def says_nothing(interval: Row | None) -> bool:
    """Return whether an interval is open on both sides: too few values to say anything."""
    return all(map(math.isinf, ends(interval) or (0.0,)))


def _leaves_out_zero(interval: Row | None) -> bool:
    both = ends(interval)
    return both is not None and (both[0] > 0 or both[1] < 0)


def pair_label(pair: Sequence[str], longest: int = LONGEST_LABEL) -> str:
    """Return a pair as a heading: 'hybrid against keyword'."""
    return f"{label(pair[1], longest)} against {label(pair[0], longest)}"


def level(interval: Row | None) -> str:
    r"""Return the level of an interval: '95 % interval'.

    Examples
    --------
    >>> level({"low": 0, "high": 1, "level": 0.95, "method": "t", "unbounded": None})
    '95\xa0% interval'
    """
    if interval is None:
        return "interval"
    share = interval["level"] * 100
    decimals = 0 if abs(share - round(share)) < 1e-9 else 1 if abs(share * 10 - round(share * 10)) < 1e-9 else 2
    return f"{wording.percent(interval['level'], decimals)} interval"
