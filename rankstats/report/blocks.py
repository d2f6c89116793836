"""What a page is made of: plain frozen dataclasses, no markup. Every renderer reads the same blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rankstats.report.drawings import Drawing, Forest, ForestRow

RULES_SHOWN = 6
"""Rules of a policy that are shown whatever they found."""


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
        One of the tones, 'quiet', or empty.
    mark : str
        A mark before the text (▲ ▼ ● ◆ ■ ○), or empty.
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

    def beside(self, row: ForestRow) -> str:
        """Return what a narrow page puts under the name of a row: what explains it, n, and of one panel the share."""
        counted = f"n {row.n}, {row.share}" if row.share and len(self.panels) == 1 else f"n {row.n}"
        return " · ".join(part for part in (row.cut.strip(" ()"), counted.replace(" ", "\N{NO-BREAK SPACE}")) if part)

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
