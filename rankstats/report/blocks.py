"""What a page is made of: plain frozen dataclasses, no markup. Every renderer reads the same blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

BETTER, WORSE, NOT_SHOWN, EQUIVALENT, TOO_FEW = "better", "worse", "not-shown", "equivalent", "too-few"
MARKS = {BETTER: "▲", WORSE: "▼", NOT_SHOWN: "●", EQUIVALENT: "◆", TOO_FEW: "○"}
RULES_SHOWN = 6
"""Rules of a policy that are shown whatever they found."""
WORDS = {
    BETTER: "better",
    WORSE: "worse",
    NOT_SHOWN: "not shown",
    EQUIVALENT: "equivalent",
    TOO_FEW: "too few",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table.

    Attributes
    ----------
    text : str
        What is shown.
    note : str
        A second, smaller line.
    tone : str
        One of the five tones, 'quiet', or empty.
    mark : str
        A mark before the text (▲ ▼ ● ◆ ○), or empty.
    badge : str
        A word before the text, such as 'highest', or empty.
    stars : int
        How many stars the number gets in a paper: 1 for a difference that is shown, more for smaller adjusted p.
    """

    text: str
    note: str = ""
    tone: str = ""
    mark: str = ""
    badge: str = ""
    stars: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, whether it holds numbers, and what it means in one line."""

    label: str
    number: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; the first cell of a row is its heading.

    Attributes
    ----------
    key : str
        Unique on the page; the element's id.
    sortable : bool
        Whether the script adds sorting.
    folded : bool
        Whether the table is shown behind its caption (a figure's twin).
    """

    kind: ClassVar[str] = "table"
    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sortable: bool = False
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; `small` for remarks."""

    kind: ClassVar[str] = "paragraph"
    text: str
    small: bool = False


@dataclass(frozen=True, slots=True)
class Subheading:
    """A heading within a section."""

    kind: ClassVar[str] = "subheading"
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Terms:
    """A list of terms and what they mean."""

    kind: ClassVar[str] = "terms"
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Program text, shown as it is."""

    kind: ClassVar[str] = "code"
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """The author's own words in Markdown; a renderer must let nothing of it run or fetch."""

    kind: ClassVar[str] = "prose"
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One estimate of a forest.

    Attributes
    ----------
    name, label, n, share, difference, interval, own_p, p : str
        The texts of the row; `label` is the name, short enough for a figure; `own_p` goes with `interval`, `p` is the
        adjusted one where there is one.
    spoken : str
        The row in words, for readers who do not see the marks.
    adjusted : bool
        Whether the p-value is an adjusted one.
    tone : str
        One of the five tones.
    value : float or None
        The estimate.
    inner : (float, float) or None
        The row's own interval; infinite ends are allowed.
    outer : (float, float) or None
        The simultaneous interval.
    first : bool
        Whether the row starts a group (a little space before it).
    cut : str
        The end of `label` that explains a built-in segment, which narrow pages leave out.
    """

    name: str
    label: str
    n: str
    share: str
    difference: str
    interval: str
    own_p: str
    p: str
    spoken: str
    adjusted: bool
    tone: str
    value: float | None
    inner: tuple[float, float] | None
    outer: tuple[float, float] | None
    first: bool = False
    cut: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """A horizontal axis of differences: its ends, and ticks with their labels."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class Forest:
    """Estimates with intervals on one axis.

    Attributes
    ----------
    p_label : str
        The heading of the p-values.
    margin : float or None
        Half the width of the band of equivalence.
    reference : float or None
        The overall effect, drawn as a dashed line.
    higher_is_better : bool
        Which side of zero is the better one.
    """

    shape: ClassVar[str] = "forest"
    rows: tuple[ForestRow, ...]
    axis: Axis
    axis_label: str
    p_label: str
    margin: float | None = None
    reference: float | None = None
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class OutcomeBar:
    """Better, equal and worse counts of one comparison."""

    label: str
    better: int
    equal: int
    worse: int


@dataclass(frozen=True, slots=True)
class OutcomeBars:
    """Stacked bars of counts, one a comparison."""

    shape: ClassVar[str] = "outcomes"
    rows: tuple[OutcomeBar, ...]
    unit: str


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Per-query differences, sorted from best to worst."""

    shape: ClassVar[str] = "waterfall"
    differences: tuple[float, ...]
    axis_label: str
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class Scatter:
    """Per-query values of one system against another."""

    shape: ClassVar[str] = "scatter"
    x: tuple[float, ...]
    y: tuple[float, ...]
    x_label: str
    y_label: str
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class Distribution:
    """Counts of resampled differences, with the observed one and its interval."""

    shape: ClassVar[str] = "distribution"
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    observed: float
    interval: tuple[float, float] | None
    tone: str
    axis_label: str


@dataclass(frozen=True, slots=True)
class Crossed:
    """Every system against every other, the best mean first.

    Attributes
    ----------
    labels : tuple of str
        Names of the systems, short enough for a figure.
    tones : tuple of tuple of str
        What the row's system is shown to be against the column's: one of the five tones, empty where they are not
        compared.
    texts : tuple of tuple of str
        Differences, row less column; empty where there is no room for them.
    """

    shape: ClassVar[str] = "crossed"
    labels: tuple[str, ...]
    tones: tuple[tuple[str, ...], ...]
    texts: tuple[tuple[str, ...], ...] = ()


Drawing = Forest | OutcomeBars | Waterfall | Scatter | Distribution | Crossed


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing, what it says in words, and the table that holds the same numbers."""

    kind: ClassVar[str] = "figure"
    key: str
    title: str
    description: str
    drawing: Drawing
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A document in a list: its rank, its grade in dots and words, where the other system has it, what it brings."""

    rank: str
    doc_id: str
    grade: str
    spoken_grade: str
    move: str
    tone: str = ""
    title: str = ""
    contribution: str = ""


@dataclass(frozen=True, slots=True)
class ResultList:
    """The top of one system's list for a query."""

    system: str
    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A query at which two systems differ most; `index` is its place in the report."""

    key: str
    index: int
    query_id: str
    text: str
    baseline: str
    system: str
    difference: str
    tone: str
    mark: str
    facts: str
    lists: tuple[ResultList, ...]


@dataclass(frozen=True, slots=True)
class Examples:
    """Queries with the largest differences, largest first; `level` is that of the heading."""

    kind: ClassVar[str] = "examples"
    key: str
    level: int
    heading: str
    baseline: str
    system: str
    measure: str
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class QueryTable:
    """The table of all queries.

    Attributes
    ----------
    rows : tuple of tuple of Cell
        The rows that are in the page itself: all of them, or the ends.
    remark : str
        Which rows these are, and where the others are; empty where all are there.
    data : mapping
        All queries, for the script; see `query_data.query_data`.
    """

    kind: ClassVar[str] = "queries"
    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    remark: str
    data: Mapping[str, Any]


Block = Table | Paragraph | Subheading | Terms | Code | Prose | Figure | Examples | QueryTable


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page; sections without blocks are left out."""

    key: str
    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that answers, with the lines that support it."""

    mark: str
    tone: str
    word: str
    headline: str
    details: tuple[str, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning: ⚠ and a word, what it means, and where."""

    mark: str
    word: str
    severity: str
    message: str
    where: str

    @property
    def full(self) -> str:
        """The message, with the comparison it is about where it is about one."""
        if " against " not in self.where:
            return self.message
        return f"{self.message.removesuffix('.')} ({self.where})."


@dataclass(frozen=True, slots=True)
class Panel:
    """One comparison of the strip: its heading and its forest."""

    heading: str
    forest: Forest


@dataclass(frozen=True, slots=True)
class Where:
    """The strip on the first screen: the same segments for one comparison or two, on one scale."""

    caption: str
    key: str
    panels: tuple[Panel, ...]
    remarks: tuple[str, ...]
    share: str
    more: str = ""

    @property
    def lines(self) -> tuple[tuple[ForestRow, ...], ...]:
        """The rows of the table: for each segment, the row of every panel."""
        return tuple(zip(*(panel.forest.rows for panel in self.panels), strict=True))


@dataclass(frozen=True, slots=True)
class Page:
    """The whole page; `summaries` sum up more comparisons than a first screen holds.

    Of many `rules` those that hold are `rules_folded`, so that the claim stays in sight; `rules_shown` has the rest.
    """

    title: str
    facts: tuple[str, ...]
    decision: Statement | None
    rules: Table | None
    summaries: tuple[Statement, ...]
    statements: tuple[Statement, ...]
    more_statements: str
    where: Where | None
    notices_heading: str
    notices: tuple[Notice, ...]
    more_notices: str
    sections: tuple[Section, ...]

    @property
    def rules_shown(self) -> Table | None:
        """The rules that stand under the decision: all of a few, of many those that do not hold."""
        return self._rules(folded=False)

    @property
    def rules_folded(self) -> Table | None:
        """The rules that hold, of a policy of many."""
        return self._rules(folded=True)

    def _rules(self, *, folded: bool) -> Table | None:
        if self.rules is None:
            return None
        holding = [row[1].text == "holds" for row in self.rules.rows]
        fold = len(holding) > RULES_SHOWN and sum(holding) > 1
        rows = tuple(row for row, holds in zip(self.rules.rows, holding, strict=True) if (fold and holds) == folded)
        if not rows:
            return None
        if not folded:
            return replace(self.rules, rows=rows)
        n = len(rows)
        caption = f"The {n:,} rules and what was found" if all(holding) else f"The {n:,} rules that hold"
        return replace(self.rules, key="rules-held", caption=caption, rows=rows)
