"""Preferences: every pair × measure × segment tested, placed in its family, and the rankers in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.result import (
    Family,
    Heterogeneity,
    Interval,
    OtherCorrection,
    OtherTest,
    defined,
)
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.interleaving.checks import log_withheld
from rankstats.interleaving.evidence import Cell, LogEvidence
from rankstats.interleaving.result import Level, LogCheck, Preference
from rankstats.interleaving.settings import InterleavingSettings
from rankstats.stats import InterleavingResult
from rankstats.stats.arm_scales import critical_value

CONFIRMATORY, EXPLORATORY = "confirmatory", "exploratory"
NAMES = {"wins": "win share", "clicks": "credited clicks"}
"""Measures by outcome."""
LEVELS = {"unit": "whole units", "query": "whole queries", "impression": "single impressions"}
POWER = 0.8
LEAST_SEQUENCE_UNITS = 30
_ESTIMANDS = {
    "wins": "difference of shares of impressions with clicks that each ranker wins, ties half",
    "clicks": "difference of credited clicks an impression with clicks",
}

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Preferences:
    """The rows of a readout that are about preferences."""

    differences: tuple[Preference, ...]
    families: tuple[Family, ...]
    heterogeneity: tuple[Heterogeneity, ...]
    levels: tuple[Level, ...]

    @property
    def claims(self) -> tuple[Preference, ...]:
        """The members of the confirmatory family."""
        return tuple(row for row in self.differences if row.family == CONFIRMATORY)


@dataclass(frozen=True, slots=True)
class _Reading:
    """p-value and ends of a preference, alone and for the family, in the unit of the difference."""

    p_value: float
    low: float
    high: float
    p_adjusted: float
    adjusted_low: float
    adjusted_high: float
    test: str
    method: str


@dataclass(frozen=True, slots=True)
class _Found:
    """One pair's place in a result: which outcome, over which impressions.

    `at_look` holds the results at the level that a look may spend, alone and in the family, if looks are planned.
    """

    outcome: str
    cell: Cell
    result: InterleavingResult
    place: int
    at_look: tuple[InterleavingResult, ...] = ()

    @property
    def scale(self) -> float:
        """How many times the estimate the difference is: a win more for one is a win less for the other."""
        return 2.0 if self.outcome == "wins" else 1.0

    @property
    def n(self) -> int:
        """Impressions with clicks."""
        return int(self.result.impressions[self.place] - self.result.without_clicks[self.place])

    @property
    def tested(self) -> int:
        """What the test counts: units, queries or impressions with clicks."""
        counts = {"unit": self.result.units, "query": self.result.queries}
        of = counts.get(self.result.tested_at)
        return self.n if of is None else int(of[self.place])

    @property
    def estimate(self) -> float:
        """The difference."""
        return self.scale * float(self.result.estimate[self.place])

    @property
    def error(self) -> float:
        """Its standard error."""
        return self.scale * float(self.result.standard_error[self.place])

    def pair(self, evidence: LogEvidence) -> tuple[str, str]:
        """Return the rankers, the baseline first."""
        first, second = self.result.ranker_a[self.place], self.result.ranker_b[self.place]
        return evidence.rankers[int(first)], evidence.rankers[int(second)]

    def at(self, level: str, alpha: float) -> tuple[float, Interval | None]:
        """Return p and interval at a level: unit, query or impression."""
        p, low, high = (float(getattr(self.result, f"{part}_{level}")[self.place]) for part in ("p", "low", "high"))
        return p, Interval.from_ends(self.scale * low, self.scale * high, 1 - alpha, "sign flips")


def outcomes_of(evidence: LogEvidence) -> tuple[str, ...]:
    """Return the outcomes that are read, that of the verdict first."""
    if evidence.scheme == "probabilistic":
        return ("clicks",)
    return (evidence.outcome, *(name for name in NAMES if name != evidence.outcome))


def make_preferences(evidence: LogEvidence, settings: InterleavingSettings, checks: Sequence[LogCheck]) -> Preferences:
    """Test every pair over all impressions and in every segment.

    * confirmatory: the pairs over all impressions, on the outcome of the verdict, Bonferroni.
    * exploratory: the other outcome and all segments, by Benjamini and Hochberg's procedure.
    """
    rows: list[Preference] = []
    levels: list[Level] = []
    for outcome in outcomes_of(evidence):
        for cell in evidence.cells:
            result = _tested(evidence, settings, outcome, cell)
            if result is None:
                continue
            at_look = tuple(_at_look(evidence, settings, outcome, cell))
            found = [_Found(outcome, cell, result, place, at_look) for place in range(len(result.ranker_a))]
            rows += [_row(evidence, settings, checks, one) for one in found]
            if not cell.attribute and outcome == evidence.outcome:
                levels += [level for one in found for level in _levels(evidence, settings, one)]
    rows.sort(key=lambda row: evidence.pairs.index((row.baseline, row.system)))
    rows = [replace(row, id=f"d{place}") for place, row in enumerate(rows, 1)]
    rows = _adjusted_together(rows)
    return Preferences(tuple(rows), _families(rows, settings.alpha), _heterogeneity(evidence), tuple(levels))


def _at_look(
    evidence: LogEvidence, settings: InterleavingSettings, outcome: str, cell: Cell
) -> Iterator[InterleavingResult]:
    """Yield the tests of all impressions whose intervals have the level that this look may spend."""
    if settings.sequential.reads != "group-sequential" or cell.attribute:
        return
    looks = np.asarray(settings.looks[: settings.sequential.look_number])
    for claims in (1, len(evidence.pairs)):
        bounds = stats.sequential_bounds(looks, alpha=settings.alpha / claims, spending=settings.spending)
        # where nothing may be spent yet the interval has no ends
        nominal = max(float(bounds.nominal_p[-1]), float(np.finfo(np.float64).tiny))
        result = _tested(evidence, settings, outcome, cell, alpha=nominal)
        if result is not None:
            yield result


def _tested(
    evidence: LogEvidence, settings: InterleavingSettings, outcome: str, cell: Cell, *, alpha: float | None = None
) -> InterleavingResult | None:
    inside = cell.members
    if not inside.any():
        return None
    pair = evidence.pair[inside]
    # places, written so that they sort as the rankers do and the test keeps the pairs' sides
    places = [[f"{evidence.rankers.index(name):06d}" for name in side] for side in zip(*evidence.pairs, strict=True)]
    first, second = (np.array(side, dtype=object)[pair] for side in places)
    whole = not cell.attribute and outcome == evidence.outcome and alpha is None
    unit, query = (None if codes is None else codes[inside] for codes in (evidence.unit, evidence.query))
    return stats.interleaving_test(
        evidence.credits.select(inside),
        units=unit,
        queries=query if whole or unit is None else None,
        ranker_a=first,
        ranker_b=second,
        outcome=outcome,
        alpha=settings.alpha if alpha is None else alpha,
        resamples=settings.resamples,
        rng=settings.seed,
        beside=whole,
    )


def _row(
    evidence: LogEvidence, settings: InterleavingSettings, checks: Sequence[LogCheck], found: _Found
) -> Preference:
    result, place, cell, tested = found.result, found.place, found.cell, found.tested
    pair = found.pair(evidence)
    claim = not cell.attribute and found.outcome == evidence.outcome
    means = _means(evidence, pair, cell.members, found.outcome)
    return Preference(
        id="",
        measure=NAMES[found.outcome],
        baseline=pair[0],
        system=pair[1],
        segment=cell.segment,
        weighting=None,
        estimand=_ESTIMANDS[found.outcome],
        n=found.n,
        n_clusters=None if evidence.tested_at == "impression" else tested,
        n_baseline=tested,
        n_system=tested,
        impressions=int(result.impressions[place]),
        without_clicks=int(result.without_clicks[place]),
        mean_baseline=defined(means[0]),
        mean_system=defined(means[1]),
        difference=defined(found.estimate),
        standard_error=defined(found.error),
        relative_difference=None,
        relative_interval=None,
        margin=None,
        estimate=defined(found.estimate),
        alternative="two-sided",
        higher_is_better=True,
        withheld=log_withheld(checks, pair),
        also=_also(evidence, settings, found) if claim else (),
        **_tested_words(evidence, settings, found, claim=claim),
        **_won(evidence, found),
        **_sizes(settings, found, len(evidence.pairs) if claim else None),
    )


def _tested_words(
    evidence: LogEvidence, settings: InterleavingSettings, found: _Found, *, claim: bool
) -> dict[str, Any]:
    """Return the fields of a row that say what its test says, alone and in its family."""
    reading, level = _reading(settings, evidence, found), 1 - settings.alpha

    def ends(low: float, high: float) -> Interval | None:
        return Interval.from_ends(low, high, level, reading.method)

    of_family = CONFIRMATORY if claim else EXPLORATORY
    wins = found.outcome == "wins"
    return {
        "test": reading.test,
        "p_value": defined(reading.p_value),
        "interval": ends(reading.low, reading.high),
        "delta_interval": ends(reading.low / 2, reading.high / 2) if wins else None,
        "p_adjusted": defined(reading.p_adjusted if claim else reading.p_value),
        "adjusted_interval": ends(reading.adjusted_low, reading.adjusted_high) if claim else None,
        "family": of_family,
        "role": of_family,
        "correction": ("bonferroni" if len(evidence.pairs) > 1 else "none") if claim else "bh",
    }


def _won(evidence: LogEvidence, found: _Found) -> dict[str, Any]:
    """Return the fields of a row that count wins; None where shares of clicks have no wins that mean something."""
    result, place, wins = found.result, found.place, found.outcome == "wins"
    # those of the other outcome are the same, and said once
    counts = evidence.scheme != "probabilistic" and found.outcome == evidence.outcome
    return {
        "wins": int(result.wins_b[place]) if counts else None,
        "ties": int(result.ties[place]) if counts else None,
        "losses": int(result.wins_a[place]) if counts else None,
        "win_share": defined(float(result.win_share[place])) if wins else None,
        "delta": defined(float(result.estimate[place])) if wins else None,
    }


def _sizes(settings: InterleavingSettings, found: _Found, claims: int | None) -> dict[str, Any]:
    """Return the fields of a row that put its size against its noise; `claims` is the size of the family."""
    error, tested = found.error, found.tested
    return {
        "effect_size": defined(found.estimate / (error * np.sqrt(tested))) if error > 0 else None,
        "smallest_detectable": _detectable(error, tested, settings.alpha),
        "detectable_in_family": _detectable(error, tested, settings.alpha / claims) if claims else None,
    }


def _means(evidence: LogEvidence, pair: tuple[str, str], members: Flags, outcome: str) -> tuple[float, float]:
    """Return both rankers' win shares, or credited clicks an impression with clicks."""
    inside = members & (evidence.pair == evidence.pairs.index(pair)) & evidence.clicked
    if not inside.any():
        return np.nan, np.nan
    if outcome == "clicks":
        return float(evidence.credits.credit_a[inside].mean()), float(evidence.credits.credit_b[inside].mean())
    share = 0.5 + float(stats.impression_outcomes(evidence.credits.select(inside)).mean())
    return 1 - share, share


def _detectable(error: float, n: int, alpha: float) -> float | None:
    """Return the difference that a two-sided test at alpha shows with power .8, at this standard error."""
    if not error > 0 or n < 2:
        return None
    df = np.array([n - 1.0])
    return defined(float((critical_value(alpha / 2, df) + critical_value(1 - POWER, df))[0]) * error)


# ── readings ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _reading(settings: InterleavingSettings, evidence: LogEvidence, found: _Found) -> _Reading:
    """Return what the design says: sign flips, repeated intervals over all impressions, or a confidence sequence."""
    whole = not found.cell.attribute
    design, size = settings.sequential, len(evidence.pairs) if whole else 1
    estimate, error, level = found.estimate, found.error, LEVELS[evidence.tested_at]
    if design.reads == "confidence-sequence":
        alone, joint = (_sequence(estimate, error, found.tested, settings, settings.alpha / k) for k in (1, size))
        return _of_parts(alone, joint, size, "confidence-sequence", "confidence sequence")
    if found.at_look:
        alone, joint = (_repeated(found, of, settings, k) for of, k in zip(found.at_look, (1, size), strict=True))
        return _of_parts(alone, joint, size, f"sign flips of {level}, group-sequential", "repeated interval")
    result, place, scale = found.result, found.place, found.scale
    return _Reading(
        float(result.p_value[place]),
        scale * float(result.low[place]),
        scale * float(result.high[place]),
        float(result.p_adjusted[place]),
        scale * float(result.adjusted_low[place]),
        scale * float(result.adjusted_high[place]),
        f"sign flips of {level}",
        "sign flips",
    )


def _of_parts(
    alone: tuple[float, float, float], joint: tuple[float, float, float], size: int, test: str, method: str
) -> _Reading:
    return _Reading(*alone, min(1.0, joint[0] * size), *joint[1:], test, method)


def _sequence(
    estimate: float, error: float, n: int, settings: InterleavingSettings, alpha: float
) -> tuple[float, float, float]:
    found = stats.confidence_sequence(
        estimate,
        error if np.isfinite(error) else 0.0,
        n,
        n_star=settings.planned_units or 1,
        alpha=alpha,
        least_n=LEAST_SEQUENCE_UNITS,
    )
    return float(found.p_value[0]), float(found.low[0]), float(found.high[0])


def _repeated(
    found: _Found, at_look: InterleavingResult, settings: InterleavingSettings, claims: int
) -> tuple[float, float, float]:
    """Return the repeated p-value and interval of the last look; earlier looks have no say in them.

    The bound is met where the flips' p is no more than the level that the look may spend (Jennison & Turnbull 2000,
    section 3.8): errors between few units of unequal size are too small for a normal bound.
    """
    p = float(found.result.p_value[found.place])
    if np.isnan(p):
        return np.nan, np.nan, np.nan
    looks = np.asarray(settings.looks[: settings.sequential.look_number])
    z = float(critical_value(p / 2, np.array([np.inf]))[0])
    seen = np.where(np.arange(len(looks)) == len(looks) - 1, z, 0.0)
    read = stats.sequential_test(seen, 1.0, looks, alpha=settings.alpha / claims, spending=settings.spending)
    low, high = (found.scale * float(end[found.place]) for end in (at_look.low, at_look.high))
    return float(read.p_repeated[-1]), low, high


def _levels(evidence: LogEvidence, settings: InterleavingSettings, found: _Found) -> Iterator[Level]:
    """Yield the tests of a pair at all levels, the coarsest first."""
    result, place, pair, measure = found.result, found.place, found.pair(evidence), NAMES[found.outcome]
    counts = {"unit": int(result.units[place]), "query": int(result.queries[place]), "impression": found.n}
    for level, of in counts.items():
        p, shown = found.at(level, settings.alpha)
        if of:
            yield Level(measure, pair[0], pair[1], level, of, defined(p), shown, level == evidence.tested_at)
    if found.outcome == "wins":
        decided, p = int(result.wins_a[place] + result.wins_b[place]), float(result.p_binomial[place])
        yield Level(measure, pair[0], pair[1], "decided", decided, defined(p), None, used=False)


def _also(evidence: LogEvidence, settings: InterleavingSettings, found: _Found) -> tuple[OtherTest, ...]:
    """Return what the other levels say, and the test of one look where looks are allowed for."""
    out = []
    for name, words in LEVELS.items():
        p, shown = found.at(name, settings.alpha)
        used = name == evidence.tested_at and settings.sequential.reads == "fixed"
        if not np.isnan(p) and not used:
            out.append(OtherTest(f"sign flips of {words}", defined(p), shown))
    if evidence.outcome == "wins":
        p = float(found.result.p_binomial[found.place])
        out.append(OtherTest("sign test of single impressions without ties", defined(p), None))
    return tuple(out)


# ── families, segments, order ───────────────────────────────────────────────────────────────────────────────────────


def _adjusted_together(rows: list[Preference]) -> list[Preference]:
    """Fill in the adjusted p-values of the exploratory family, and Holm's beside those of the claims."""
    out = list(rows)
    exploratory = [place for place, row in enumerate(rows) if row.family == EXPLORATORY]
    for place, p in zip(exploratory, _adjusted([rows[i].p_value for i in exploratory], "bh"), strict=True):
        out[place] = replace(rows[place], p_adjusted=p)
    claims = [place for place, row in enumerate(rows) if row.family == CONFIRMATORY]
    if len(claims) > 1:
        for place, p in zip(claims, _adjusted([rows[i].p_value for i in claims], "holm"), strict=True):
            out[place] = replace(out[place], also_adjusted=(OtherCorrection("holm", p, None),))
    return out


def _adjusted(p_values: Sequence[float | None], correction: str) -> list[float | None]:
    known = np.array([np.nan if p is None else p for p in p_values], dtype=np.float64)
    found = np.full(len(known), np.nan)
    there = ~np.isnan(known)
    if there.any():
        found[there] = stats.adjust(known[there], correction)
    return [defined(p) for p in found.tolist()]


def _families(rows: Sequence[Preference], alpha: float) -> tuple[Family, ...]:
    out = []
    for name in (CONFIRMATORY, EXPLORATORY):
        members = [row for row in rows if row.family == name]
        if members:
            ids = tuple(row.id for row in members)
            out.append(Family(name, name, members[0].correction, alpha, ids, len(members)))
    return tuple(out)


def _heterogeneity(evidence: LogEvidence) -> tuple[Heterogeneity, ...]:
    values = stats.impression_outcomes(evidence.credits, evidence.outcome)
    attributes = dict.fromkeys(cell.attribute for cell in evidence.cells if cell.attribute)
    rows = [
        row
        for k in range(len(evidence.pairs))
        for attribute in attributes
        if (row := _changes(evidence, values, k, attribute)) is not None
    ]
    adjusted = _adjusted([row.p_value for row in rows], "bh")
    return tuple(replace(row, p_adjusted=p if len(rows) > 1 else None) for row, p in zip(rows, adjusted, strict=True))


def _changes(evidence: LogEvidence, values: Floats, k: int, attribute: str) -> Heterogeneity | None:
    """Test whether a pair's outcome changes with an attribute; None with fewer than two segments that are enough."""
    inside = evidence.pair == k
    cells = [cell for cell in evidence.cells if cell.attribute == attribute]
    codes = np.select([cell.members for cell in cells], list(range(len(cells))), -1)
    here = inside & (codes >= 0)
    found = stats.segment_preferences(
        values[here],
        codes[here],
        evidence.tested_labels[here],
        least_n=SMALLEST_VERDICT_N,
        resamples=evidence.settings.resamples,
        rng=evidence.settings.seed,
    )
    if len(found.n) < 2:
        return None
    whole = float(np.nanmean(values[inside]))
    opposite = tuple(
        cells[int(code)].label
        for code, estimate in zip(found.segment, found.estimate, strict=True)
        if estimate * whole < 0
    )
    return Heterogeneity(
        measure=NAMES[evidence.outcome],
        baseline=evidence.pairs[k][0],
        system=evidence.pairs[k][1],
        attribute=attribute,
        label=cells[0].heading,
        weighting=None,
        segments=len(found.n),
        n=int(found.n.sum()),
        statistic=defined(found.statistic),
        p_value=defined(found.p_value),
        p_adjusted=None,
        q=defined(found.q),
        i_squared=defined(found.i_squared),
        reversal=bool(opposite),
        opposite=opposite,
    )
