"""Checks of an interleaving log, made before anything is claimed: sides, pages, clicks, heavy users, looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.result import Warning
from rankstats.interleaving.evidence import LogEvidence
from rankstats.interleaving.pages import GAPS
from rankstats.interleaving.result import LogCheck
from rankstats.interleaving.settings import InterleavingSettings
from rankstats.stats.sample_ratio import BLOCKS_BELOW, WARNS_BELOW
from rankstats.wording import count, interval, number, p_statement, percent, signed

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int64]

DOMINATES = 0.1
"""Share of a pair's impressions with clicks from which one unit, or one query, is named."""
MOST_LEFT_OUT = 0.01
"""Share of the impressions that cannot be right from which there is no verdict."""
MOST_WITHOUT_TEAM = 0.05
"""Share of the clicks without a team from which there is no verdict."""
MANY_UNDECIDABLE = 0.5
FEW_UNITS = 10
_SHUFFLES = 20
_ROWS_SHUFFLED = 2_000_000
_UNITS_FLIPPED = 2_000
_BLOCKING = {
    "first_pick": "the rankers did not go first equally often",
    "random_clicks": "clicks at random places would favour the same ranker as much",
    "impossible_impressions": "too many impressions cannot be right",
    "missing_team": "too many clicks have no team",
    "row_order": "rows of different pages may be mixed up",
}


def make_log_checks(
    evidence: LogEvidence, settings: InterleavingSettings, earlier: Sequence[Mapping[str, Any]] = ()
) -> tuple[LogCheck, ...]:
    """Return all checks that apply, in the order in which they are to be read."""
    pairs = range(len(evidence.pairs))
    random = _random_outcomes(evidence, settings.seed)
    found = [check for k in pairs if (check := _first_pick(evidence, k)) is not None]
    found += [check for k in pairs if (check := _random_clicks(evidence, k, random, settings)) is not None]
    found.append(_impossible(evidence))
    found += [_missing_team(evidence)] if evidence.scheme == "team-draft" and evidence.pages.without_team else []
    found += [] if evidence.pages.labelled else [_row_order(evidence)]
    found += [_duplicates(evidence), _gaps(evidence), _without_clicks(evidence), _undecidable(evidence)]
    found += [check for k in pairs if (check := _one_sided(evidence, k)) is not None]
    found += [check for k in pairs for check in _dominant(evidence, k)]
    found += [_unit_of_analysis(evidence), _looks(settings, earlier)]
    return tuple(found)


def log_withheld(checks: Sequence[LogCheck], pair: tuple[str, str]) -> str | None:
    """Say why there is no verdict on a pair, or None."""
    for check in checks:
        if check.outcome == "blocks" and (check.baseline is None or (check.baseline, check.system) == pair):
            reason = _BLOCKING[check.code]
            return f"{reason} ({p_statement(check.p_value)})" if check.p_value is not None else reason
    return None


def log_warnings(checks: Sequence[LogCheck], evidence: LogEvidence) -> Iterator[Warning]:
    """Yield a warning for each check that found something, and for what was decided."""
    for check in checks:
        if check.outcome != "ok":
            severity = "serious" if check.outcome == "blocks" else "warning"
            place = "" if check.baseline is None else f"{check.system} against {check.baseline}"
            yield Warning(check.code, severity, check.found, place)
    if evidence.notes:
        yield Warning("decided", "info", " ".join(evidence.notes), "")


# ── sides ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _first_pick(evidence: LogEvidence, k: int) -> LogCheck | None:
    """Test whether each ranker of a pair puts the first result of its own in half of the impressions."""
    if evidence.scheme == "probabilistic" and "team" not in evidence.columns:
        return None
    a, b = evidence.pairs[k]
    inside = (evidence.pair == k) & (evidence.pages.went_first != 0)
    first = evidence.pages.went_first[inside]
    if not len(first):
        return None
    share = float(np.mean(first > 0))
    p = _p_of_mean(first / 2, evidence.tested_labels[inside])
    outcome = _by_p(p)
    parts = f"{b} {np.count_nonzero(first > 0):,}, {a} {np.count_nonzero(first < 0):,} of {len(first):,} impressions"
    found = f"Each ranker goes first about half the time: {parts} ({percent(share, 1)}; {p_statement(p)})."
    if outcome != "ok":
        found = (
            f"The rankers do not go first equally often: {parts} ({percent(share, 1)}; {p_statement(p)}). The top of "
            "the page gets most clicks, so the one that goes first is favoured: look for a fault in the coin or the "
            "log."
        )
    return LogCheck(
        "first_pick", "Does each ranker go first half the time?", share, p, WARNS_BELOW, outcome, found, a, b
    )


def _random_outcomes(evidence: LogEvidence, seed: int) -> Floats:
    """Return each page's mean outcome if clicks fell on it at random places, shape (m,).

    Every page gets a number of clicked results as some page with clicks has it, whether it was clicked or not: which
    pages are clicked depends on what is on them, and would favour the better ranker.
    """
    pages, total = evidence.pages, np.zeros(evidence.pages.count)
    numbers = np.bincount(pages.impression, weights=pages.clicks > 0, minlength=pages.count)
    numbers = numbers[numbers > 0]
    if not len(numbers):
        return np.full(pages.count, np.nan)
    rng = np.random.default_rng(seed)
    shuffles = int(np.clip(_ROWS_SHUFFLED // len(pages.row), 1, _SHUFFLES))
    place = (np.arange(len(pages.row)) - pages.first_row[pages.impression]).astype(np.int32)
    for _ in range(shuffles):
        order = np.lexsort((rng.random(len(pages.row)), pages.impression))
        clicks = np.empty(len(order))
        clicks[order] = place < rng.choice(numbers, pages.count)[pages.impression]
        total += stats.impression_outcomes(evidence.credited(clicks), evidence.outcome)
    return total / shuffles


def _random_clicks(evidence: LogEvidence, k: int, random: Floats, settings: InterleavingSettings) -> LogCheck | None:
    """Test whether clicks that look at neither ranker nor position would favour one of a pair."""
    a, b = evidence.pairs[k]
    of_pair = evidence.pair == k
    inside = of_pair & evidence.clicked
    if not inside.any():
        return None
    bias, p = float(np.mean(random[of_pair])), _p_of_mean(random[of_pair], evidence.tested_labels[of_pair])
    outcome = _by_p(p)
    scale = 2 if evidence.outcome == "wins" else 1
    question = "Would clicks at random places favour a ranker?"
    size = signed(scale * bias, 3)
    found = f"As many clicks at random places of these pages would favour no ranker ({size}; {p_statement(p)})."
    if outcome != "ok":
        values = stats.impression_outcomes(evidence.credits.select(inside), evidence.outcome)
        whole = stats.cluster_sums(
            stats.paired_differences(np.zeros(len(values)), values), evidence.tested_labels[inside]
        )
        seen = stats.sign_flip_test(whole, alpha=settings.alpha, resamples=settings.resamples, rng=settings.seed)
        low, high = float(seen.low[0]), float(seen.high[0])
        beyond = low > bias if bias > 0 else high < bias
        against = low > 0 > bias or high < 0 < bias
        outcome = "warns" if beyond or against or outcome == "warns" else "blocks"
        ends = interval(scale * low, scale * high, 3)
        why = "; balanced interleaving is known for that" if evidence.scheme == "balanced" else ""
        found = (
            f"As many clicks at random places of these pages would favour {b if bias > 0 else a} "
            f"({size}; {p_statement(p)}){why}. What was seen is {ends}: "
            f"{'more than that' if beyond else 'on the other side' if against else 'no more than that'}."
        )
    return LogCheck("random_clicks", question, bias, p, WARNS_BELOW, outcome, found, a, b)


def _by_p(p: float) -> str:
    return "blocks" if p < BLOCKS_BELOW else "warns" if p < WARNS_BELOW else "ok"


def _p_of_mean(values: Floats, labels: Codes) -> float:
    """Return p of a mean of 0 between whole units: by sign flips, by t where units are many."""
    whole = stats.cluster_sums(stats.paired_differences(np.zeros(len(values)), values), labels)
    if not whole.standard_error[0] > 0:
        return _flips_without_spread(whole)
    test = stats.sign_flip_test if whole.n[0] <= _UNITS_FLIPPED else stats.paired_t
    return float(test(whole).p_value[0])


def _flips_without_spread(whole: stats.Differences) -> float:
    """Return p where every unit says the same: 2 of 2^n patterns, or 1 where all are 0."""
    n, mean = int(whole.n[0]), float(whole.mean[0])
    return 1.0 if mean == 0 else max(2.0 ** (1 - min(n, 1000)), float(np.finfo(np.float64).tiny))


# ── pages and rows ──────────────────────────────────────────────────────────────────────────────────────────────────


def _impossible(evidence: LogEvidence) -> LogCheck:
    left_out = {why: n for why, n in evidence.pages.left_out.items() if n}
    n = sum(left_out.values())
    share = n / (n + evidence.pages.count)
    outcome = "ok" if not n else "blocks" if share > MOST_LEFT_OUT else "warns"
    found = "Every impression has one query, one unit, one pair of rankers and one result a position."
    if n:
        parts = "; ".join(f"{number:,} {why}" for why, number in left_out.items())
        found = f"{count(n, 'impression')} ({percent(share, 2)}) cannot be right and are left out: {parts}."
        found += " That is too many for a verdict." if outcome == "blocks" else ""
    return LogCheck("impossible_impressions", "Is every impression possible?", float(n), None, None, outcome, found)


def _missing_team(evidence: LogEvidence) -> LogCheck:
    pages = evidence.pages
    clicks = float(pages.clicks.sum())
    share = pages.clicks_without_team / clicks if clicks else 0.0
    outcome = "blocks" if share > MOST_WITHOUT_TEAM else "warns"
    found = (
        f"{count(pages.without_team, 'result')} below the first one of a team have no team; "
        f"{count(int(pages.clicks_without_team), 'click')} on them ({percent(share, 2)} of all) count for nobody."
    )
    found += " That is too many for a verdict." if outcome == "blocks" else ""
    return LogCheck("missing_team", "Does every result belong to a team?", share, None, None, outcome, found)


def _duplicates(evidence: LogEvidence) -> LogCheck:
    n, question = evidence.pages.duplicates, "Is every row there once?"
    if not evidence.pages.labelled:
        found = (
            "The log does not name its impressions: rows of one query and unit are one page until a position comes "
            "again, in the order of the rows. Rows logged twice cannot be told from a page shown twice; name the "
            "column of the impression (--impression)."
        )
        return LogCheck("duplicate_rows", question, None, None, None, "warns", found)
    found = f"{count(n, 'row')} repeat another one in everything and count once." if n else "No row is there twice."
    return LogCheck("duplicate_rows", question, float(n), None, None, "warns" if n else "ok", found)


def _row_order(evidence: LogEvidence) -> LogCheck:
    n, total = evidence.pages.mixed_up, evidence.pages.count
    share = n / total
    outcome = "ok" if not n else "blocks" if share > MOST_LEFT_OUT else "warns"
    found = "The rows of every page stand together as far as can be told."
    if n:
        found = (
            f"{count(n, 'impression')} ({percent(share, 1)}) have rows out of order, and their query and unit come "
            "again: rows of several pages may be taken for one. Sort the log by time and position, or name the column "
            "of the impression (--impression)."
        )
    return LogCheck("row_order", "Can pages be told apart?", float(n), None, None, outcome, found)


def _gaps(evidence: LogEvidence) -> LogCheck:
    n, total = evidence.pages.gaps, evidence.pages.count
    question, dropped = "Does every page count its positions from 1 without gaps?", evidence.pages.left_out.get(GAPS, 0)
    found = "Every page has its positions from 1 without gaps."
    if n:
        found = (
            f"{count(n, 'impression')} ({percent(n / total, 1)}) lack positions: are results without clicks not "
            "logged? Credits rest on the results that are there; impressions without clicks may be missing altogether."
        )
    elif dropped:
        found = f"{count(dropped, 'impression')} with missing positions are left out."
    return LogCheck("position_gaps", question, float(n), None, None, "warns" if n or dropped else "ok", found)


def _without_clicks(evidence: LogEvidence) -> LogCheck:
    n, total = int(np.count_nonzero(~evidence.clicked)), evidence.pages.count
    question = "How many impressions decide something?"
    found = f"{count(n, 'impression')} of {total:,} ({percent(n / total, 1)}) have no click: they decide nothing."
    if n == total:
        found = f"None of {total:,} impressions has a click: nothing can be said."
    return LogCheck("without_clicks", question, n / total, None, None, "warns" if n == total else "ok", found)


def _one_sided(evidence: LogEvidence, k: int) -> LogCheck | None:
    """Warn where one ranker of a pair has no credit at all: that is a fault of the log more often than not."""
    a, b = evidence.pairs[k]
    inside = (evidence.pair == k) & evidence.clicked
    n = int(np.count_nonzero(inside))
    credits = [float(side[inside].sum()) for side in (evidence.credits.credit_a, evidence.credits.credit_b)]
    if n < FEW_UNITS or not any(credits) or all(credits):
        return None
    never, other = (a, b) if not credits[0] else (b, a)
    found = (
        f"{never} has no credit in {count(n, 'impression')} with clicks, {other} has all of it. Are clicks on results "
        f"of {never} logged? Where every unit says the same the interval has no width, which is not certainty."
    )
    return LogCheck("one_sided", "Are clicks on both rankers logged?", float(n), None, None, "warns", found, a, b)


def _undecidable(evidence: LogEvidence) -> LogCheck:
    n, total = int(np.count_nonzero(evidence.pages.undecidable)), evidence.pages.count
    question = "Do the rankers show different results?"
    share = n / total
    found = "Every page has results that tell the rankers apart."
    if n:
        found = (
            f"{count(n, 'impression')} of {total:,} ({percent(share, 1)}) show nothing that tells the rankers apart: "
            "clicks on them are ties."
        )
    if share >= MANY_UNDECIDABLE:
        found += " Most pages cannot show a preference; the differences are those of the few others, watered down."
    outcome = "warns" if share >= MANY_UNDECIDABLE else "ok"
    return LogCheck("same_lists", question, share, None, None, outcome, found)


# ── units and queries ───────────────────────────────────────────────────────────────────────────────────────────────


def _dominant(evidence: LogEvidence, k: int) -> Iterator[LogCheck]:
    """Name the unit, and the query, with much of a pair's impressions, and say what is found without it."""
    a, b = evidence.pairs[k]
    inside = (evidence.pair == k) & evidence.clicked
    total = int(np.count_nonzero(inside))
    kinds = (("unit", evidence.unit, evidence.unit_names), ("query", evidence.query, evidence.query_names))
    for kind, codes, names in kinds:
        if codes is None or total < FEW_UNITS:
            continue
        sizes = np.bincount(codes[inside], minlength=len(names))
        heaviest = int(np.argmax(sizes))
        share = float(sizes[heaviest]) / total
        if share < DOMINATES or np.count_nonzero(sizes) < FEW_UNITS:
            continue
        told = [_mean_words(evidence, inside), _mean_words(evidence, inside & (codes != heaviest))]
        many = "units" if kind == "unit" else "queries"
        found = (
            f"One {kind} has {percent(share, 1)} of the impressions with clicks: {names[heaviest]} with "
            f"{sizes[heaviest]:,} (difference with it {told[0]}, without it {told[1]}). "
        )
        found += "Is it a person?" if kind == "unit" else f"The result is that of this query more than of {many}."
        yield LogCheck(
            f"dominant_{kind}", f"Does one {kind} carry the result?", share, None, None, "warns", found, a, b
        )


def _mean_words(evidence: LogEvidence, inside: Flags) -> str:
    values = stats.impression_outcomes(evidence.credits.select(inside), evidence.outcome)
    scale = 2 if evidence.outcome == "wins" else 1
    return number(None) if not len(values) else signed(scale * float(values.mean()), 3)


def _unit_of_analysis(evidence: LogEvidence) -> LogCheck:
    question = "Is what is independent what is counted?"
    if evidence.unit is None:
        flipped = "whole queries" if evidence.query is not None else "single impressions"
        found = (
            f"No column names the unit (user, session): signs of {flipped} are flipped, and p is too small where users "
            "have several impressions. Name it with --unit."
        )
        return LogCheck("unit_of_analysis", question, None, None, None, "warns", found)
    units = len(np.unique(evidence.unit))
    most = int(np.bincount(evidence.unit).max())
    found = (
        f"Signs of whole units are flipped: {evidence.pages.count:,} impressions of {count(units, 'unit')} "
        f"({evidence.columns['unit']}), {most:,} at most of one."
    )
    return LogCheck("unit_of_analysis", question, float(units), None, None, "ok", found)


def _looks(settings: InterleavingSettings, earlier: Sequence[Mapping[str, Any]]) -> LogCheck:
    question, design = "Is every look at the data allowed for?", settings.sequential
    looks = max(design.look_number, len(earlier) + 1)
    outcome, found = "ok", "One look, at the end: p-values and intervals do not allow for looking before."
    if design.reads == "confidence-sequence":
        found = "A confidence sequence holds at every look."
    elif design.reads == "group-sequential":
        planned = len(settings.looks)
        found = f"Look {design.look_number} of {planned} planned; bounds by {settings.spending} spending."
        if len(earlier) >= planned:
            outcome = "warns"
            found = f"This is a look more than the {planned} that were planned: the level does not hold."
    elif looks > 1:
        outcome = "warns"
        found = (
            f"This is look {looks} at a log read as if there were one: with every look the chance of a false claim "
            "grows. Plan the looks (--looks), or read a confidence sequence (--design confidence-sequence)."
        )
    return LogCheck("looks", question, float(looks), None, None, outcome, found)
