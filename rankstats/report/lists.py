"""Ranked lists of a query: grades as dots, moves against the other system, what each document brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rankstats import wording
from rankstats.report.blocks import Document, ResultList
from rankstats.report.source import Pair, Row, Source
from rankstats.report.texts import shown
from rankstats.report.tones import BETTER, WORSE

MOST_DOTS = 5
LONGEST_ID = 80
LONGEST_TITLE = 160


@dataclass(frozen=True)
class Lists:
    """The lists of the report by query and system, and the best grade in them."""

    docs: Mapping[tuple[str, str], Sequence[Row]]
    best_grade: float

    @classmethod
    def of(cls, source: Source) -> Lists:
        """Return the lists of a report."""
        docs = {(row["query_id"], row["system"]): row["docs"] for row in source.report["lists"]}
        grades = [doc["grade"] for listed in docs.values() for doc in listed if doc["grade"] is not None]
        return cls(docs, max(grades, default=0))

    @cached_property
    def titles(self) -> dict[str, str]:
        """Titles of the documents that have one."""
        return {doc["doc_id"]: str(doc["title"]) for docs in self.docs.values() for doc in docs if doc.get("title")}

    def legend(self, measure: str) -> str:
        """Explain the marks and words of the lists; empty where there are none."""
        depth = max((len(docs) for docs in self.docs.values()), default=0)
        if not depth:
            return ""
        told = (
            "● is one grade step, “?” a document that nobody judged. “new” and “gone”: not among the first "
            f"{depth:,} of the other list. Only moves of relevant documents are coloured."
        )
        if any("contribution" in doc for docs in self.docs.values() for doc in docs):
            told += f" The small number is what the document brings to {measure}."
        return told

    def beside(self, source: Source, measure: str, query_id: str, pair: Pair) -> tuple[ResultList, ...]:
        """Return the two lists of a query, the baseline's first; empty where the report lacks one of them."""
        docs = [self.docs[query_id, system] for system in pair if (query_id, system) in self.docs]
        if len(docs) < len(pair):
            return ()
        return tuple(
            ResultList(shown(system, 60), self._documents(source, measure, docs[side], docs[1 - side], after=side == 1))
            for side, system in enumerate(pair)
        )

    def _documents(
        self, source: Source, measure: str, docs: Sequence[Row], other: Sequence[Row], *, after: bool
    ) -> tuple[Document, ...]:
        ranks = {doc["doc_id"]: doc["rank"] for doc in other}
        out = []
        for doc in docs:
            dots, spoken = grade_marks(doc["grade"], self.best_grade)
            elsewhere = ranks.get(doc["doc_id"])
            out.append(
                Document(
                    rank=str(doc["rank"]),
                    doc_id=shown(doc["doc_id"], LONGEST_ID),
                    title=shown(str(doc.get("title") or ""), LONGEST_TITLE),
                    grade=dots,
                    spoken_grade=spoken,
                    move=move(doc["rank"], elsewhere, after=after),
                    tone=_tone(doc, elsewhere) if after else "",
                    contribution=contribution(source, measure, doc),
                )
            )
        return tuple(out)


def move(rank: int, elsewhere: int | None, *, after: bool) -> str:
    """Return where the other list has a document: for the system's list where it was, for the baseline's if it is gone.

    Examples
    --------
    >>> move(2, 5, after=True), move(2, 2, after=True), move(2, None, after=True), move(2, None, after=False)
    ('↑ was 5', '= same', 'new', 'gone')
    """
    if not after:
        return "" if elsewhere is not None else "gone"
    if elsewhere is None:
        return "new"
    return "= same" if elsewhere == rank else f"{'↑' if elsewhere > rank else '↓'} was {elsewhere}"


def is_relevant(grade: float | None) -> bool:
    """Return whether a rise of the document is good: of one that is not relevant, or not judged, it is no gain."""
    return grade is not None and grade > 0


def _tone(doc: Row, before: int | None) -> str:
    if before is None or before == doc["rank"] or not is_relevant(doc["grade"]):
        return ""
    return BETTER if doc["rank"] < before else WORSE


def contribution(source: Source, measure: str, doc: Row) -> str:
    """Return what a document brings to the value of the measure, empty where the report does not say."""
    brought = doc.get("contribution")
    if brought is None:
        return ""
    return "0" if brought == 0 else wording.number(brought, source.decimals(measure))


def grade_marks(grade: float | None, best: float) -> tuple[str, str]:
    """Return a grade as dots and in words.

    Examples
    --------
    >>> grade_marks(2, 3)
    ('●●○', 'grade 2 of 3')
    >>> grade_marks(None, 3)
    ('?', 'not judged')
    """
    if grade is None:
        return "?", "not judged"
    if grade != int(grade) or not 0 < best <= MOST_DOTS or grade < 0:
        return f"{grade:g}".replace("-", wording.MINUS), f"grade {grade:g}"
    return "●" * int(grade) + "○" * (int(best) - int(grade)), f"grade {int(grade)} of {int(best)}"
