"""Impressions of an interleaving log: what can be used of it, who gets the credit, and which segments there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.comparison.segments import SegmentData, make_attributes
from rankstats.errors import InputError, PlanError, did_you_mean
from rankstats.experiment.segments import Attribute, attribute_codes, attribute_of
from rankstats.inputs import read_queries
from rankstats.inputs.row_tables import RowTables
from rankstats.interleaving.pages import Pages, clean_pages
from rankstats.interleaving.rows import LogRows, Texts, read_log
from rankstats.interleaving.settings import TAU, InterleavingSettings
from rankstats.stats import Credits, balanced_credits, probabilistic_credits, team_draft_credits
from rankstats.tables import Queries
from rankstats.tables.judgments import Source
from rankstats.wording import count

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Cell:
    """A segment, or all impressions where the attribute is empty, and who is in it (shape (m,))."""

    attribute: str
    value: str
    label: str
    members: Flags
    heading: str = ""
    """Words for the attribute."""

    @property
    def segment(self) -> dict[str, str] | None:
        """The segment of report.json."""
        return {"attribute": self.attribute, "value": self.value} if self.attribute else None


@dataclass(frozen=True, slots=True)
class LogEvidence:
    """What a readout rests on; arrays have one entry an impression (m), in the order of their ids.

    Attributes
    ----------
    scheme, outcome : str
        How pages were made, and what the verdict is about.
    rankers : tuple of str
        Names, the baseline first, the others sorted.
    baseline : str or None
        The ranker that all others are compared with; None where pairs have no ranker in common.
    pairs : tuple of (str, str)
        Ranker a and ranker b of each pair.
    pair : ndarray of int, shape (m,)
        Pair of each impression.
    pages : Pages
        The rows, with sides turned so that ranker a is the pair's.
    credits : Credits
        Of each impression.
    unit, query : ndarray of int or None
        Unit and query of each impression, as places among the names.
    unit_names, query_names : tuple of str
        Sorted names.
    cells : tuple of Cell
        All impressions, then segments.
    columns : mapping of str to str
        Column of the log by role.
    rows : int
        Rows read.
    sources, notes
        Files with digests; what was decided and could surprise.
    """

    scheme: str
    outcome: str
    rankers: tuple[str, ...]
    baseline: str | None
    pairs: tuple[tuple[str, str], ...]
    pair: Codes
    pages: Pages
    credits: Credits
    unit: Codes | None
    query: Codes | None
    unit_names: tuple[str, ...]
    query_names: tuple[str, ...]
    cells: tuple[Cell, ...]
    columns: Mapping[str, str]
    rows: int
    sources: tuple[Source, ...]
    notes: tuple[str, ...]
    settings: InterleavingSettings = field(default_factory=InterleavingSettings)

    @property
    def clicked(self) -> Flags:
        """Which impressions have clicks, shape (m,)."""
        return np.asarray(self.credits.clicks > 0)

    @property
    def tested_at(self) -> str:
        """The level of the tests: 'unit', 'query' or 'impression'."""
        return "unit" if self.unit is not None else "query" if self.query is not None else "impression"

    @property
    def tested_labels(self) -> Codes:
        """Labels of that level, shape (m,)."""
        labels = self.unit if self.unit is not None else self.query
        return np.arange(len(self.pair)) if labels is None else labels

    def credited(self, clicks: Floats) -> Credits:
        """Return the credits that the pages would give for other clicks, shape (rows,)."""
        return make_credits(self.pages, clicks, self.scheme, self.settings)


def read_evidence(settings: InterleavingSettings, *, log: Any = None, queries: Any = None) -> LogEvidence:
    """Read what the settings name, or a log handed in.

    Raises
    ------
    InputError
        If something cannot be read, or nothing can be used.
    PlanError
        If settings and data do not fit together.
    """
    named = queries if queries is not None else settings.queries
    read = None
    if named is not None:
        read = read_queries(named, id_column=settings.id_column, text=settings.text, frequency=settings.frequency)
    table = None if read is None else read.table
    of_log, of_queries = _sorted_segments(settings.segments, table)
    columns = tuple(dict.fromkeys(c for attribute in of_log for c in attribute.columns))
    with RowTables() as tables:
        rows = read_log(tables, log, settings, columns)
    scheme, outcome, notes = _design(rows, settings)
    pages = clean_pages(rows, scheme, settings.list_length)
    if not pages.count:
        reasons = ", ".join(f"{n:,} {why}" for why, n in pages.left_out.items() if n)
        raise InputError(f"no impression can be used: {reasons}", rows.name)
    rankers, baseline, pairs, said = _pairs(pages, rows, settings)
    pages, pair = _turned(pages, rankers, pairs)
    credits = make_credits(pages, pages.clicks, scheme, settings)
    everyone = Cell("", "", "", np.ones(pages.count, dtype=bool))
    cells = [*_log_cells(of_log, pages, rows), *_query_cells(of_queries, table, pages, rows)]
    sources = rows.sources if read is None else (*rows.sources, *read.audit.sources)
    return LogEvidence(
        scheme=scheme,
        outcome=outcome,
        rankers=rankers,
        baseline=baseline,
        pairs=pairs,
        pair=pair,
        pages=pages,
        credits=credits,
        unit=pages.unit,
        query=pages.query,
        unit_names=rows.texts["unit"].names if "unit" in rows.texts else (),
        query_names=rows.texts["query"].names if "query" in rows.texts else (),
        cells=(everyone, *cells),
        columns=rows.columns,
        rows=rows.count,
        sources=sources,
        notes=(*notes, *said, *rows.notes, *_one_value(of_log, of_queries, cells)),
        settings=settings,
    )


def _design(rows: LogRows, settings: InterleavingSettings) -> tuple[str, str, list[str]]:
    """Return scheme and outcome: those asked for, or those that the columns allow."""
    has_teams, has_ranks = rows.team is not None, rows.rank_a is not None
    scheme, notes = settings.scheme, []
    if scheme is None:
        if not has_teams and has_ranks:
            raise PlanError(
                f"{rows.name}: there are ranks in both rankings and no teams: balanced or probabilistic interleaving? "
                "Say which one: --scheme balanced, or --scheme probabilistic"
            )
        scheme = "team-draft"
        notes.append(
            "The log does not say how the two lists were mixed; team-draft is assumed. Balanced or probabilistic "
            "mixing credits clicks otherwise: say so with --scheme."
        )
    if scheme == "team-draft" and not has_teams:
        raise PlanError(f"{rows.name}: team-draft interleaving needs the team of each result; name its column (--team)")
    if scheme != "team-draft" and not has_ranks:
        raise PlanError(
            f"{rows.name}: {scheme} interleaving needs the rank of each result in both rankings; name the columns "
            "(--rank-a, --rank-b)"
        )
    if scheme != "probabilistic" and (settings.list_length is not None or settings.tau != TAU):
        raise PlanError(
            f"list_length and tau say how probabilistic pages were drawn; these are {scheme} pages: leave out "
            "--list-length and --tau, or give --scheme probabilistic"
        )
    if scheme == "probabilistic" and settings.list_length is None:
        largest = int(np.nanmax([np.nanmax(rank) for rank in (rows.rank_a, rows.rank_b) if rank is not None]))
        raise PlanError(
            "probabilistic interleaving draws from whole lists: give their length with --list-length (the largest rank "
            f"in the log is {largest})"
        )
    outcome = settings.outcome or ("clicks" if scheme == "probabilistic" else "wins")
    if scheme == "probabilistic" and outcome == "wins":
        raise PlanError(
            "probabilistic interleaving shares each click between the rankers, and random clicks do not split the wins "
            "of shares evenly; leave --outcome out, or give --outcome clicks"
        )
    return scheme, outcome, notes


def make_credits(pages: Pages, clicks: Floats, scheme: str, settings: InterleavingSettings) -> Credits:
    """Return the credits of pages for clicks, shape (rows,)."""
    if scheme == "team-draft":
        return team_draft_credits(pages.impression, pages.team, clicks)
    ranks = (pages.rank_a, pages.rank_b)
    if scheme == "balanced":
        return balanced_credits(pages.impression, *ranks, clicks)
    length = settings.list_length or 1
    return probabilistic_credits(pages.impression, pages.position, *ranks, clicks, list_length=length, tau=settings.tau)


# ── rankers and pairs ───────────────────────────────────────────────────────────────────────────────────────────────


def _pairs(
    pages: Pages, rows: LogRows, settings: InterleavingSettings
) -> tuple[tuple[str, ...], str | None, tuple[tuple[str, str], ...], list[str]]:
    names, wanted = rows.texts["ranker_a"].names, settings.baseline
    found = {frozenset(pair) for pair in zip(pages.ranker_a.tolist(), pages.ranker_b.tolist(), strict=True)}
    there = sorted({names[code] for pair in found for code in pair})
    if wanted is not None and wanted not in there:
        raise PlanError(
            f"baseline {wanted!r} is no ranker of the log ({', '.join(there)})" + did_you_mean(wanted, there)
        )
    common = set.intersection(*map(set, found))
    has_sides = "ranker_a" in rows.columns or bool(settings.rankers)
    always_first = {names[code] for code in common if has_sides and np.all(pages.ranker_a == code)}
    notes: list[str] = []
    baseline = wanted
    if baseline is None and common:
        baseline = sorted(always_first or {names[code] for code in common})[0]
        why = "it is ranker_a everywhere" if always_first else "its name is the first"
        if len(common) == 1:
            why = "all others were interleaved with it"
        notes.append(f"The baseline is {baseline}, because {why}: nobody named one (--baseline).")
    ordered = sorted(there, key=lambda name: (name != baseline, name))
    place = {name: i for i, name in enumerate(ordered)}
    pairs = sorted(tuple(sorted((names[code] for code in pair), key=place.__getitem__)) for pair in found)
    pairs.sort(key=lambda pair: (place[pair[0]], place[pair[1]]))
    return tuple(ordered), baseline, tuple((pair[0], pair[1]) for pair in pairs), notes


def _turned(pages: Pages, rankers: tuple[str, ...], pairs: Sequence[tuple[str, str]]) -> tuple[Pages, Codes]:
    """Turn the sides of pages so that ranker a is the first of the pair, and return the pair of each impression."""
    place = {name: i for i, name in enumerate(rankers)}
    at = np.array([place.get(name, -1) for name in pages.ranker_names], dtype=np.int64)
    first, second = at[pages.ranker_a], at[pages.ranker_b]
    turned = pages.turned(first > second)
    low, high = np.minimum(first, second), np.maximum(first, second)
    number = np.full(len(rankers) ** 2, -1, dtype=np.int64)
    for i, (a, b) in enumerate(pairs):
        number[place[a] * len(rankers) + place[b]] = i
    return turned, number[low * len(rankers) + high]


# ── segments ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _sorted_segments(specifications: Sequence[str], table: Queries | None) -> tuple[list[Attribute], list[str]]:
    """Part the specifications into those of columns of the log and those of the query table."""
    of_log, of_queries = [], []
    for text in dict.fromkeys(specifications):
        attribute = attribute_of(text)
        names = [part.split(":")[0].strip() for part in text.replace("column:", "").split("+")]
        if table is not None and all(n in table.columns or n in ("length", "popularity") for n in names):
            of_queries.append(text)
        else:
            of_log.append(attribute)
    return of_log, of_queries


def _log_cells(attributes: Sequence[Attribute], pages: Pages, rows: LogRows) -> list[Cell]:
    cells = []
    for attribute in attributes:
        columns = {column: _of_impressions(column, pages, rows) for column in attribute.columns}
        values, codes = attribute_codes(attribute, columns)
        if len(values) > 1:
            cells += [Cell(attribute.name, value, value, codes == k, attribute.name) for k, value in enumerate(values)]
    return cells


def _of_impressions(column: str, pages: Pages, rows: LogRows) -> NDArray[Any]:
    texts: Texts = rows.texts[f"segment {column}"]
    codes = texts.codes[pages.row]
    first = codes[pages.first_row]
    differing = np.unique(pages.impression[codes != first[pages.impression]])
    if len(differing):
        raise PlanError(
            f"segment {column!r} changes between the rows of {count(len(differing), 'impression')}: it is known before "
            "the page is shown, one value an impression"
        )
    names = np.array([*texts.names, None], dtype=object)
    return np.asarray(names[first])


def _query_cells(specifications: Sequence[str], table: Queries | None, pages: Pages, rows: LogRows) -> list[Cell]:
    if not specifications:
        return []
    if pages.query is None:
        raise PlanError(
            f"{rows.name}: segments of the query table need the query of each row; name its column (--query)"
        )
    data = SegmentData.align(rows.texts["query"].names, table, None)
    cells = []
    for attribute in make_attributes(specifications, data):
        of_impression = attribute.code[pages.query]
        there = [k for k in range(len(attribute.values)) if np.any(of_impression == k)]
        if len(there) > 1:
            cells += [
                Cell(attribute.name, attribute.values[k], attribute.labels[attribute.values[k]], of_impression == k,
                     attribute.specification)
                for k in there
            ]  # fmt: skip
    return cells


def _one_value(of_log: Sequence[Attribute], of_queries: Sequence[str], cells: Sequence[Cell]) -> list[str]:
    found = {cell.heading for cell in cells}
    asked = [*(attribute.name for attribute in of_log), *of_queries]
    return [f"All impressions have one value of {name}: it makes no segments." for name in asked if name not in found]
