"""The page model: everything that a report says, in the order in which it says it, without markup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankstats import wording
from rankstats.report.agreement import agreement
from rankstats.report.arms import in_words_of_experiments
from rankstats.report.blocks import Page, Section
from rankstats.report.comparisons import pairwise, segments
from rankstats.report.crossed import matrix
from rankstats.report.examples import examples
from rankstats.report.experiment_sections import experiment
from rankstats.report.health import health
from rankstats.report.interleaving_sections import in_words_of_interleaving, interleaving
from rankstats.report.means import scoreboard
from rankstats.report.method import method
from rankstats.report.notices import notices, unsaid
from rankstats.report.offline import offline
from rankstats.report.outcomes import outcomes
from rankstats.report.prose import notes
from rankstats.report.queries import query_table
from rankstats.report.rules import decision
from rankstats.report.source import Source
from rankstats.report.spread import distributions, spread
from rankstats.report.summaries import claims_told, summaries
from rankstats.report.texts import shown
from rankstats.report.verdict import (
    NOTICES_SHOWN,
    SINGLED_OUT,
    STATEMENTS_SHOWN,
    facts,
    statements,
    where,
)

SECTIONS = (
    notes,
    health,
    scoreboard,
    pairwise,
    segments,
    experiment,
    interleaving,
    offline,
    outcomes,
    spread,
    distributions,
    matrix,
    examples,
    query_table,
    agreement,
    method,
)


def page_model(report: Mapping[str, Any]) -> Page:
    """Return the page of a report, from the content of its report.json alone.

    Parameters
    ----------
    report : mapping
        The content of a report.json; it is not changed.

    Returns
    -------
    Page
        Sections without content are absent.

    Raises
    ------
    RankstatsError
        If a key of the contract is missing or the schema version is another one.
    """
    source = Source(report)
    decided, rules = decision(source)
    summed = summaries(source)
    room = SINGLED_OUT if summed else STATEMENTS_SHOWN
    said, warned = statements(source)[:room], unsaid(source, claims_told(source)[:room])
    more, unseen = len(report["verdict"]) - len(said), len(warned) - NOTICES_SHOWN
    every = len(notices(source))
    return Page(
        title=shown(str(report["title"])) or "Comparison",
        facts=facts(source),
        decision=decided,
        rules=rules,
        summaries=summed,
        statements=said,
        more_statements="" if more <= 0 else f"{wording.count(more, 'more claim')}: see “Every comparison”.",
        where=where(source),
        notices_heading=f"{wording.count(len(warned), 'thing' if len(warned) == every else 'more thing')} to know",
        notices=warned[:NOTICES_SHOWN] if unseen > 0 else warned,
        more_notices="" if unseen <= 0 else f"All {every:,} under “Data health”.",
        sections=_sections(source),
    )


def _sections(source: Source) -> tuple[Section, ...]:
    found = (section for make in SECTIONS if (section := make(source)).blocks)
    if source.report["kind"] == "interleaving":
        return tuple(map(in_words_of_interleaving, found))
    return tuple(in_words_of_experiments(section) if source.report["experiment"] else section for section in found)
