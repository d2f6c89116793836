"""Reads out an interleaving log: settings and rows in, a finished InterleavingReadout out."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from rankstats import __version__, stats
from rankstats.comparison.result import Interval, Score, Segment, System, Verdict, Warning, defined
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.experiment.result import Design
from rankstats.interleaving.checks import log_warnings, make_log_checks
from rankstats.interleaving.effects import LEVELS, NAMES, Preferences, make_preferences, outcomes_of
from rankstats.interleaving.evidence import LogEvidence, read_evidence
from rankstats.interleaving.result import InterleavingReadout, LogCheck, PairCounts, Preference
from rankstats.interleaving.settings import InterleavingSettings, settings_from
from rankstats.interleaving.standings import (
    credited_interval,
    credited_mean,
    make_log_standings,
    ranker_mean,
    ranker_order,
)
from rankstats.interleaving.wording import has_too_few, preference_outcome, preference_sentence
from rankstats.tables import MeasureInfo
from rankstats.wording import p_statement

_LIBRARIES = ("numpy", "scipy", "duckdb", "pyarrow", "matplotlib", "jinja2")
_CREDIT = {
    "team-draft": "a click counts for the ranker whose team the result is in; for nobody in a shared prefix",
    "balanced": "clicks among the top k of each ranking, k as deep as the lowest click (Joachims 2002)",
    "probabilistic": "each click is shared by the probability that either ranker put the result there (Hofmann et al. "
    "2011)",
}
_MEANINGS = {
    "wins": "share of the impressions with clicks in which the ranker has more credited clicks; ties count half",
    "clicks": "credited clicks an impression with clicks",
}
_MANY = 100_000


def interleaving_readout(
    log: Any = None, *, queries: Any = None, settings: InterleavingSettings | None = None, **changes: Any
) -> InterleavingReadout:
    """Read out an interleaving log: which ranker users prefer, and by how much.

    Parameters
    ----------
    log : path, list of paths, frame, or sequence of mappings
        One row a result shown: query_id, unit_id, ranker_a, ranker_b, position, team, clicked, best also impression_id;
        for balanced and probabilistic interleaving rank_a and rank_b (rank in both rankings, empty where a ranking
        lacks the result) in the place of team. Frames may be of pandas, Polars, Arrow or DuckDB.
    queries : path, mapping or frame, optional
        Query table for segments.
    settings : InterleavingSettings, optional
        Settings to start from.
    **changes
        Settings by name: ``scheme="balanced"``, ``columns={"unit": "user"}``, ``baseline="prod"``,
        ``segments=["device"]``, ``alpha=0.01``, ``looks=(0.5, 1.0)`` …

    Returns
    -------
    InterleavingReadout

    Raises
    ------
    RankstatsError
        If something cannot be read, or settings and data do not fit together.

    Examples
    --------
    >>> def row(page, position):
    ...     team = ("prod", "new")[(page + position) % 2]
    ...     clicked = int(position < 3 and (team == "new") == (page % 8 > 0))
    ...     return {"impression_id": page, "query_id": page % 20, "user_id": page % 40, "position": position,
    ...             "team": team, "clicked": clicked}
    >>> rows = [row(page, position) for page in range(120) for position in (1, 2, 3, 4)]
    >>> readout = interleaving_readout(rows, baseline="prod")
    >>> readout.verdict[0].outcome, readout.differences[0].win_share
    ('better', 0.875)
    """
    if isinstance(log, list | tuple) and log and all(isinstance(path, str) for path in log):
        changes, log = {**changes, "logs": log}, None
    elif isinstance(log, str):
        changes, log = {**changes, "logs": (log,)}, None
    made = settings_from(settings, changes)
    return read_out_log(read_evidence(made, log=log, queries=queries), made)


def read_out_log(
    evidence: LogEvidence,
    settings: InterleavingSettings,
    *,
    argv: Sequence[str] = (),
    earlier: Sequence[Mapping[str, Any]] = (),
) -> InterleavingReadout:
    """Compare the rankers of a log that was read.

    Parameters
    ----------
    evidence : LogEvidence
        From `read_evidence`.
    settings : InterleavingSettings
        The settings that it was read with.
    argv : sequence of str
        The command, for the reproduction section.
    earlier : sequence of mapping
        Looks before this one, each with ``units``.
    """
    checks = make_log_checks(evidence, settings, earlier)
    found = make_preferences(evidence, settings, checks)
    order = ranker_order(evidence, found.claims, settings.alpha)
    return InterleavingReadout(
        title=settings.title or _title(evidence),
        baseline=evidence.baseline,
        primary=(NAMES[evidence.outcome],),
        alpha=settings.alpha,
        systems=tuple(System(name, ", ".join(settings.logs)) for name in evidence.rankers),
        measures=tuple(_measure(evidence, outcome) for outcome in outcomes_of(evidence)),
        segments=_segments(evidence),
        scores=tuple(_scores(evidence, found, order)),
        differences=found.differences,
        families=found.families,
        heterogeneity=found.heterogeneity,
        standings=make_log_standings(evidence, found.claims, order, settings.alpha),
        audit=_audit(evidence),
        warnings=_warnings(evidence, settings, found, checks, order),
        verdict=tuple(_verdict(row, evidence, settings.alpha) for row in found.claims),
        scheme=evidence.scheme,
        columns=evidence.columns,
        tested_at=evidence.tested_at,
        rows=evidence.rows,
        left_out={why: n for why, n in evidence.pages.left_out.items() if n},
        pairs=tuple(_counts(evidence, k) for k in range(len(evidence.pairs))),
        levels=found.levels,
        checks=checks,
        design=_design(settings, len(evidence.pairs), earlier),
        settings=settings.to_dict(),
        reproduction=_reproduction(evidence, settings, argv),
    )


def _title(evidence: LogEvidence) -> str:
    if len(evidence.rankers) == 2:
        return f"{evidence.rankers[1]} against {evidence.rankers[0]}, interleaved"
    return f"{len(evidence.rankers)} rankers, interleaved"


def _measure(evidence: LogEvidence, outcome: str) -> MeasureInfo:
    definition = {
        "meaning": _MEANINGS[outcome],
        "scheme": evidence.scheme,
        "credit": _CREDIT[evidence.scheme],
        "test": f"sign flips of {LEVELS[evidence.tested_at]}; the estimate is the mean over impressions",
        "undefined": "impressions without clicks decide nothing and are counted",
    }
    if len(evidence.rankers) > 2 and outcome == "wins" == evidence.outcome:
        definition["several rankers"] = "mean share against the others, by least squares over the pairs that met"
    if evidence.scheme == "probabilistic":
        settings = evidence.settings
        definition["drawing"] = f"from lists of {settings.list_length}, weights 1 / rank^{settings.tau:g}"
    return MeasureInfo(NAMES[outcome], NAMES[outcome], definition, higher_is_better=True)


def _segments(evidence: LogEvidence) -> tuple[Segment, ...]:
    clicked = evidence.clicked
    total = max(1, int(np.count_nonzero(clicked)))
    rows = []
    for cell in evidence.cells:
        if cell.attribute:
            n = int(np.count_nonzero(cell.members & clicked))
            few = n < SMALLEST_VERDICT_N
            rows.append(Segment(cell.attribute, cell.value, cell.label, n, n / total, "impressions", few))
    return tuple(rows)


def _scores(evidence: LogEvidence, found: Preferences, order: stats.RankerScores) -> list[Score]:
    rows = []
    for outcome in outcomes_of(evidence):
        for i, ranker in enumerate(evidence.rankers):
            pairs = [k for k, pair in enumerate(evidence.pairs) if ranker in pair]
            n = int(np.count_nonzero(np.isin(evidence.pair, pairs) & evidence.clicked))
            if outcome == evidence.outcome:
                mean = ranker_mean(evidence, order, i)
            else:
                mean = credited_mean(evidence, ranker) if outcome == "clicks" else np.nan
            own = _own(evidence, found, outcome, i)
            rows.append(Score(ranker, NAMES[outcome], None, n, defined(mean), None, own))
    return [row for row in rows if row.mean is not None]


def _own(evidence: LogEvidence, found: Preferences, outcome: str, i: int) -> Interval | None:
    """Return the interval of one of two rankers: of a win share it is that of Δ, from ½ on."""
    if len(evidence.rankers) != 2:
        return None
    if outcome == "clicks":
        return credited_interval(evidence, i, evidence.settings.alpha)
    row = next((row for row in found.claims if row.delta_interval is not None), None)
    if row is None or row.delta_interval is None:
        return None
    low, high = row.delta_interval.ends
    low, high = (low, high) if i else (-high, -low)
    return Interval.from_ends(max(0.0, 0.5 + low), min(1.0, 0.5 + high), row.delta_interval.level, "sign flips")


def _audit(evidence: LogEvidence) -> dict[str, Any]:
    return {
        "queries": {
            "judged": None,
            "scored": int(np.count_nonzero(evidence.clicked)),
            "without_relevant": None,
            "missing": {},
            "unknown": {},
        },
        "duplicates": {},
        "ties": {},
        "unjudged_at": {},
        "rows": {"log": evidence.rows, "repeated": evidence.pages.duplicates},
        "left_out": {why: n for why, n in evidence.pages.left_out.items() if n},
    }


def _warnings(
    evidence: LogEvidence,
    settings: InterleavingSettings,
    found: Preferences,
    checks: Sequence[LogCheck],
    order: stats.RankerScores,
) -> tuple[Warning, ...]:
    out = list(log_warnings(checks, evidence))
    if len(evidence.rankers) > 2 and np.any(order.rank == 0):
        text = "The rankers have no order: some never met, not even by way of others, or their verdicts are withheld."
        out.append(Warning("not_connected", "info", text, ""))
    for row in found.claims:
        place = f"{row.system} against {row.baseline}"
        shown = row.p_adjusted is not None and row.p_adjusted <= settings.alpha and not has_too_few(row)
        levels = {level.level: level for level in found.levels if (level.baseline, level.system) == _pair(row)}
        by_query = levels.get("query")
        if shown and evidence.tested_at == "unit" and by_query is not None and (by_query.p_value or 0) > settings.alpha:
            text = (
                f"Shown between whole units, not between whole queries ({p_statement(by_query.p_value)}): the result "
                "rests on the queries that were asked, and other queries may prefer the other ranker."
            )
            out.append(Warning("levels_disagree", "warning", text, place))
        if shown and row.n >= _MANY:
            text = "With so many impressions small preferences are shown too: read the size, not p."
            out.append(Warning("large_n", "info", text, place))
    return tuple(out)


def _pair(row: Preference) -> tuple[str, str]:
    return row.baseline, row.system


def _verdict(row: Preference, evidence: LogEvidence, alpha: float) -> Verdict:
    outcome = preference_outcome(row, alpha)
    said = preference_sentence(row, outcome, evidence.tested_at)
    return Verdict(row.id, row.baseline, row.system, row.measure, row.segment, outcome, said)


def _counts(evidence: LogEvidence, k: int) -> PairCounts:
    inside, pages = evidence.pair == k, evidence.pages
    a, b = evidence.pairs[k]
    known = evidence.scheme != "probabilistic" or "team" in evidence.columns
    return PairCounts(
        baseline=a,
        system=b,
        impressions=int(np.count_nonzero(inside)),
        without_clicks=int(np.count_nonzero(inside & ~evidence.clicked)),
        undecidable=int(np.count_nonzero(inside & pages.undecidable)),
        units=None if evidence.unit is None else len(np.unique(evidence.unit[inside])),
        queries=None if evidence.query is None else len(np.unique(evidence.query[inside])),
        clicks=int(evidence.credits.clicks[inside].sum()),
        went_first=int(np.count_nonzero(inside & (pages.went_first > 0))) if known else 0,
        first_known=int(np.count_nonzero(inside & (pages.went_first != 0))) if known else 0,
    )


def _design(settings: InterleavingSettings, claims: int, earlier: Sequence[Mapping[str, Any]]) -> Design:
    design, bound, nominal = settings.sequential, None, None
    if design.reads == "group-sequential":
        looks = np.asarray(settings.looks[: design.look_number])
        bounds = stats.sequential_bounds(looks, alpha=settings.alpha / claims, spending=settings.spending)
        bound, nominal = defined(bounds.bound[-1]), defined(bounds.nominal_p[-1])
    return Design(
        kind=design.reads,
        look=design.look_number,
        looks=settings.looks,
        spending=settings.spending if design.reads == "group-sequential" else None,
        bound=bound,
        nominal_p=nominal,
        planned_units=settings.planned_units,
        earlier=tuple(earlier),
    )


def _reproduction(evidence: LogEvidence, settings: InterleavingSettings, argv: Sequence[str]) -> dict[str, Any]:
    return {
        "argv": list(argv),
        "seed": settings.seed,
        "resamples": settings.resamples,
        "versions": {
            "rankstats": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in _LIBRARIES},
        },
        "inputs": [{"name": s.name, "sha256": s.sha256, "bytes": s.size} for s in evidence.sources],
        "plan": evidence.settings.to_plan(),
    }
