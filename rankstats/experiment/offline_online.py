"""Offline against online: differences of a comparison and of an experiment side by side, and whether they agree.

Three questions. For one launch: do the differences of all queries and of all units point the same way? Over the
segments that both reports hold: do their differences agree? Over several launches: does the offline measure tell what
the online metric will do? Everything is read from two report.json, as they were written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankstats.comparison.agreement_rows import AgreementAnswer, AgreementRow, with_interval
from rankstats.comparison.result import Interval, defined, plain
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.errors import PlanError, RankstatsError, did_you_mean
from rankstats.experiment.reported_effects import Effect, Row, effects_of, measure_of, mirrored, query_effects
from rankstats.stats import EffectAgreement, effect_agreement
from rankstats.wording import count, decimals_for, interval, signed

_ALL = "all"
_QUERY_ATTRIBUTES = ("query", "query_id")
_MOST_NAMED = 8
_ONLINE = ("experiment", "interleaving")


@dataclass(frozen=True, slots=True)
class Launch:
    """The two reports of a launch.

    Attributes
    ----------
    name : str
        What it is called.
    offline : mapping
        The content of the report.json of a comparison.
    online : mapping
        The content of the report.json of an experiment or an interleaving.
    """

    name: str
    offline: Row
    online: Row


@dataclass(frozen=True, slots=True)
class SideBySide:
    """An effect offline and online, over all (segment empty) or in a segment, of a pair of systems in a launch."""

    launch: str
    pair: str
    segment: str
    attribute: str
    offline: Effect
    online: Effect

    @property
    def direction(self) -> int | None:
        """1 where both point the same way, −1 where not, 0 where one is 0; None where one is undefined."""
        product = self.offline.improvement * self.online.improvement
        return None if math.isnan(product) else int(math.copysign(1, product)) if product else 0


@dataclass(slots=True)
class _Notes:
    """What there is to say, each once."""

    said: dict[str, None] = field(default_factory=dict)

    def say(self, text: str) -> None:
        self.said[text] = None


def agree_offline_online(
    launches: Sequence[Launch],
    *,
    measure: str | None = None,
    metric: str | None = None,
    aliases: Mapping[str, str] | None = None,
    alpha: float = 0.05,
) -> AgreementAnswer:
    """Compare offline and online differences of one launch or several.

    1. The pairs of systems that both reports of a launch hold are matched by name, also where the baseline of one is
       the system of the other: the online difference is then mirrored. Two reports of one pair each without a common
       name are taken as the same pair, which is said.
    2. Differences of all queries and all units, and of the segments of the same attribute and value, stand side by side
       with the intervals of their reports. What is in one report only is listed.
    3. Agreement is about improvements: a difference of a measure of which lower is better counts with the other sign.
    4. Over the segments of an attribute, and over launches: how often signs agree, Kendall's τ_b, Spearman's ρ and
       Pearson's r (`rankstats.stats.effect_agreement`). No verdict from fewer than 10 launches.

    Parameters
    ----------
    launches : sequence of Launch
        At least one; each counts as one launch.
    measure, metric : str, optional
        Offline measure and online metric; the first primary ones of the first launch if not given.
    aliases : mapping of str to str, optional
        Offline names of systems or segment attributes to online ones: ``{"keyword": "A"}``.
    alpha : float
        1 − level of the agreement's intervals.

    Returns
    -------
    AgreementAnswer
        Rows of kind 'side_by_side' (first: launch, second: pair, about: segment), 'online_segments' and 'launches'.

    Raises
    ------
    RankstatsError
        If a report is of another kind.
    PlanError
        If no pair of systems is in both, or a measure is missing.

    Examples
    --------
    >>> def report(kind, name, difference):
    ...     row = {"measure": name, "baseline": "old", "system": "new", "segment": None, "weighting": None, "n": 100}
    ...     ends = {"low": difference - 0.01, "high": difference + 0.01, "level": 0.95, "method": "t"}
    ...     row |= {"difference": difference, "interval": ends}
    ...     measures = [{"name": name, "higher_is_better": True}]
    ...     return {"kind": kind, "primary": [name], "measures": measures, "differences": [row]}
    >>> launch = Launch("may", report("comparison", "AP", 0.03), report("experiment", "ctr", 0.02))
    >>> print(agree_offline_online([launch]).answer.replace(chr(160), " "))
    AP offline and ctr online both show new better than old: +0.030 (+0.020 to +0.040) and +0.020 (+0.010 to +0.030).
    """
    if not launches:
        raise PlanError("give the reports of at least one launch: --offline REPORT.json --online REPORT.json")
    notes, names = _Notes(), dict(aliases or {})
    for launch in launches:
        _check_kinds(launch)
    _check_repeated(launches)
    _check_aliases(launches, names)
    measure = measure_of(launches[0].offline, measure, "offline measure")
    metric = measure_of(launches[0].online, metric, "online metric")
    rows = [row for launch in launches for row in _joined(launch, (measure, metric), names, notes)]
    whole = [row for row in rows if not row.segment]
    agreement = [*_over_segments(rows, alpha)]
    if agreement:
        notes.say(
            "over segments, directions agree already where all differences have one sign; correlations tell whether "
            "they are large in the same segments"
        )
    if len(launches) > 1:
        over = _agreement(whole, alpha)
        agreement += _rows("launches", measure, metric, "", over)
        _note_launches(launches, whole, notes)
        known = {row.launch for row in whole if row.direction is not None}
        answer = _launch_answer(measure, metric, over, len(known))
    else:
        answer = " ".join(_answer(measure, metric, row, rows) for row in whole)
    return AgreementAnswer(answer, (*_side_rows(rows), *agreement), tuple(notes.said))


# ── what the reports hold ─────────────────────────────────────────────────────────────────────────────────────────────


def _check_kinds(launch: Launch) -> None:
    for report, side, wanted in ((launch.offline, "offline", ("comparison",)), (launch.online, "online", _ONLINE)):
        kind = report.get("kind")
        missing = [key for key in ("kind", "measures", "differences") if key not in report]
        if missing:
            raise RankstatsError(
                f"{launch.name}: the {side} report lacks the keys {', '.join(missing)}; was it written by rankstats?"
            )
        if kind not in wanted:
            raise RankstatsError(
                f"{launch.name}: the {side} report is of kind {kind!r}; {' or '.join(map(repr, wanted))} is expected"
                + (" (offline and online are exchanged)" if kind in ("comparison", *_ONLINE) else "")
            )


def _check_repeated(launches: Sequence[Launch]) -> None:
    for place, launch in enumerate(launches):
        for other in launches[:place]:
            if launch.online == other.online and launch.offline == other.offline:
                raise PlanError(
                    f"{other.name} and {launch.name} are the same two reports; a launch counts once, so leave one out"
                )


def _check_aliases(launches: Sequence[Launch], names: Mapping[str, str]) -> None:
    for side, asked in (("offline", names.keys()), ("online", names.values())):
        known = set(_QUERY_ATTRIBUTES)
        for launch in launches:
            for row in getattr(launch, side)["differences"]:
                known |= {row["baseline"], row["system"], (row.get("segment") or {}).get("attribute", "")}
        for name in asked:
            if name not in known:
                raise PlanError(
                    f"alias {name!r}: no {side} report has a system or segment attribute of that name"
                    + did_you_mean(name, sorted(known - {""}))
                )


# ── joining ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _joined(launch: Launch, asked: tuple[str, str], names: Mapping[str, str], notes: _Notes) -> Iterator[SideBySide]:
    offline = effects_of(launch.offline, asked[0], f"{launch.name} offline")
    online = effects_of(launch.online, asked[1], f"{launch.name} online")
    for pair, online_pair, turned in _pairs(launch.name, offline, online, names, notes):
        here, there = offline[pair], online[online_pair]
        if turned:
            there = {segment: mirrored(effect) for segment, effect in there.items()}
        cells = _with_queries(launch.offline, asked[0], pair, (here, there), names)
        label = f"{pair[1]} against {pair[0]}"
        for text in _unmatched(cells, there, names):
            notes.say(f"{launch.name}, {label}: {text}")
        _note_withheld(launch, asked[1], online_pair, notes)
        for (attribute, value), effect in cells.items():
            other = there.get((names.get(attribute, attribute), value))
            if other is not None:
                segment = f"{attribute} = {value}" if attribute else ""
                yield SideBySide(launch.name, label, segment, attribute, effect, other)


def _pairs(
    launch: str,
    offline: Mapping[tuple[str, str], Any],
    online: Mapping[tuple[str, str], Any],
    names: Mapping[str, str],
    notes: _Notes,
) -> list[tuple[tuple[str, str], tuple[str, str], bool]]:
    """Return the pairs of systems that both reports hold, and whether the online one is mirrored."""
    found = []
    for pair in offline:
        there = names.get(pair[0], pair[0]), names.get(pair[1], pair[1])
        if there in online:
            found.append((pair, there, False))
        elif there[::-1] in online:
            found.append((pair, there[::-1], True))
            notes.say(f"{launch}: the online baseline is {there[1]}; the online differences are mirrored")
    if not found and len(offline) == len(online) == 1:
        (pair,), (there,) = offline, online
        common = {names.get(name, name) for name in pair} & set(there)
        if not common:
            notes.say(
                f"{launch}: {pair[1]} against {pair[0]} offline is taken as {there[1]} against {there[0]} online; the "
                "names differ (--alias OFFLINE=ONLINE)"
            )
            return [(pair, there, False)]
    lists = [", ".join(f"{system} against {baseline}" for baseline, system in pairs) for pairs in (offline, online)]
    if not found:
        raise PlanError(
            f"{launch}: no pair of systems is in both reports (offline: {lists[0] or 'none'}; online: "
            f"{lists[1] or 'none'}); say which names are the same with --alias OFFLINE=ONLINE"
        )
    used = {pair for pair, _, _ in found}, {pair for _, pair, _ in found}
    for side, pairs, matched in (("offline", offline, used[0]), ("online", online, used[1])):
        alone = [f"{system} against {baseline}" for baseline, system in pairs if (baseline, system) not in matched]
        if alone:
            notes.say(f"{launch}: {side} only: {_listed(alone)}")
    return found


def _with_queries(
    report: Row,
    measure: str,
    pair: tuple[str, str],
    sides: tuple[Mapping[tuple[str, str], Effect], Mapping[tuple[str, str], Effect]],
    names: Mapping[str, str],
) -> dict[tuple[str, str], Effect]:
    """Return the offline effects, with those of single queries where the online segments are queries."""
    here, there = sides
    attribute = next((name for name in _QUERY_ATTRIBUTES if any(names.get(name, name) == a for a, _ in there)), None)
    if attribute is None or any(own == attribute for own, _ in here):
        return dict(here)
    queries = query_effects(report, measure, pair, here["", ""].better)
    online = {value for own, value in there if own == names.get(attribute, attribute)}
    return {**here, **{(attribute, query): effect for query, effect in queries.items() if query in online}}


def _unmatched(
    here: Mapping[tuple[str, str], Effect], there: Mapping[tuple[str, str], Effect], names: Mapping[str, str]
) -> Iterator[str]:
    """Yield the segments that one report alone holds."""
    renamed = {(names.get(attribute, attribute), value): (attribute, value) for attribute, value in here}
    alone = (
        ("offline", [own for renamed_to, own in renamed.items() if renamed_to not in there]),
        ("online", [own for own in there if own not in renamed]),
    )
    for side, segments in alone:
        if segments:
            listed = _listed([f"{attribute} = {value}" for attribute, value in segments])
            yield f"segments {side} only: {listed}"


def _note_withheld(launch: Launch, metric: str, pair: tuple[str, str], notes: _Notes) -> None:
    for row in launch.online["differences"]:
        whole = row["measure"] == metric and (row["baseline"], row["system"]) == pair and not row.get("segment")
        if whole and row.get("withheld"):
            notes.say(f"{launch.name}: the online verdict is withheld ({row['withheld']}); its difference says little")


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _MOST_NAMED
    return ", ".join(texts[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


# ── agreement ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _agreement(rows: Sequence[SideBySide], alpha: float) -> EffectAgreement:
    sides = [np.array([getattr(row, side).improvement for row in rows]) for side in ("offline", "online")]
    return effect_agreement(sides[0], sides[1], alpha=alpha)


def _over_segments(rows: Sequence[SideBySide], alpha: float) -> Iterator[AgreementRow]:
    """Yield the agreement over the segments of each attribute: those of two attributes share their queries."""
    keys = dict.fromkeys((row.launch, row.pair, row.attribute) for row in rows if row.attribute)
    for launch, pair, attribute in keys:
        own = [row for row in rows if (row.launch, row.pair, row.attribute) == (launch, pair, attribute)]
        if len(own) > 1:
            yield from _rows("online_segments", launch, pair, attribute, _agreement(own, alpha))


def _rows(kind: str, first: str, second: str, about: str, found: EffectAgreement) -> list[AgreementRow]:
    level, decided = 1 - found.alpha, found.same + found.opposite
    signs = Interval.from_ends(found.same_low, found.same_high, level, "Clopper-Pearson")
    share = defined(found.same_share)
    out = [AgreementRow(kind, first, second, about, _ALL, "same_direction_share", share, signs, decided)]
    for name, correlation in found.correlations.items():
        ends = None
        if not math.isnan(correlation.low):
            ends = Interval.from_ends(correlation.low, correlation.high, level, "Fisher z")
        out.append(AgreementRow(kind, first, second, about, _ALL, name, defined(correlation.value), ends, found.n))
    return out


def _side_rows(rows: Sequence[SideBySide]) -> Iterator[AgreementRow]:
    for row in rows:
        key = ("side_by_side", row.launch, row.pair, row.segment or _ALL, _ALL)
        for side, effect in (("offline", row.offline), ("online", row.online)):
            yield AgreementRow(*key, f"{side}_difference", effect.difference, effect.interval, effect.n)
        n = min(row.offline.n, row.online.n)
        yield AgreementRow(*key, "same_direction", None if row.direction is None else float(row.direction), None, n)


# ── in words ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _note_launches(launches: Sequence[Launch], whole: Sequence[SideBySide], notes: _Notes) -> None:
    several = [launch.name for launch in launches if sum(row.launch == launch.name for row in whole) > 1]
    if several:
        notes.say(f"{_listed(several)}: several pairs of one launch share a baseline and are no independent launches")
    notes.say(
        "errors of the differences pull correlations to 0, and launches that were chosen because they looked good "
        "offline tell less about the rest"
    )


def _words(effect: Effect) -> str:
    """Return a difference with its interval."""
    ends = effect.interval
    if effect.difference is None:
        return "undefined"
    if ends is None or ends.low is None or ends.high is None:
        return signed(effect.difference, decimals_for(None))
    decimals = decimals_for((ends.high - ends.low) / 4)
    return f"{signed(effect.difference, decimals)} ({interval(ends.low, ends.high, decimals)})"


def _answer(measure: str, metric: str, whole: SideBySide, rows: Sequence[SideBySide]) -> str:
    """Return the sentence about one launch."""
    system, _, baseline = whole.pair.partition(" against ")
    numbers = f"{_words(whole.offline)} and {_words(whole.online)}"
    shown, words = (whole.offline.shown, whole.online.shown), {1: "better", -1: "worse"}
    if shown[0] and shown[0] == shown[1]:
        text = f"{measure} offline and {metric} online both show {system} {words[shown[0]]} than {baseline}: {numbers}"
    elif shown[0] and shown[1]:
        text = (
            f"{measure} offline shows {system} {words[shown[0]]} than {baseline}, {metric} online shows it "
            f"{words[shown[1]]}: {numbers}"
        )
    else:
        unclear = " and ".join(
            name for name, of in ((f"{measure} offline", shown[0]), (f"{metric} online", shown[1])) if not of
        )
        text = (
            f"{measure} offline and {metric} online are not shown to agree on {system} against {baseline}, as "
            f"{unclear} may be 0: {numbers}"
        )
    inside = [row for row in rows if row.segment and row.pair == whole.pair and row.direction]
    if inside:
        same = sum(row.direction == 1 for row in inside)
        text += f"; {same} of {count(len(inside), 'common segment')} point the same way"
    return text + "."


def _launch_answer(measure: str, metric: str, found: EffectAgreement, n: int) -> str:
    """Return the sentence about several launches."""
    decided = found.same + found.opposite
    signs = f"both point the same way in {found.same} of {decided}"
    launches = count(n, "launch", "launches") + (f" ({count(found.n, 'pair')} of systems)" if found.n > n else "")
    if n < SMALLEST_VERDICT_N:
        return (
            f"{launches}: too few to say whether {measure} offline predicts {metric} online ({SMALLEST_VERDICT_N} are "
            f"needed); {signs}."
        )
    tau = _rows("launches", "", "", "", found)[1]
    if tau.value is None or tau.interval is None:
        return f"Over {launches} {measure} offline or {metric} online is the same everywhere; {signs}."
    if found.n > n:
        return (
            f"Over {launches} {measure} offline and {metric} online: Kendall's τ {with_interval(tau)}; {signs}. Pairs "
            "of one launch share a baseline, so the intervals are too narrow for a verdict."
        )
    low, high = tau.interval.low or 0.0, tau.interval.high or 0.0
    said = "is not shown to predict"
    if low > 0:
        said = "predicts the order of"
    elif high < 0:
        said = "runs against"
    return f"Over {launches} {measure} offline {said} {metric} online: Kendall's τ {with_interval(tau)}; {signs}."


def offline_to_dict(answer: AgreementAnswer) -> dict[str, Any]:
    """Return an answer as report.json of an experiment holds it under ``offline``."""
    rows = [
        {
            "kind": row.kind,
            "launch": row.first,
            "pair": row.second,
            "segment": row.about,
            "statistic": row.statistic,
            "value": row.value,
            "interval": plain(row.interval),
            "n": row.n,
        }
        for row in answer.rows
    ]
    return {"answer": answer.answer, "notes": list(answer.notes), "rows": rows}
