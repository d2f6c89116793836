"""Finds the columns of a headed table by the names that people give them, or by the option that names them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rankstats.errors import InputError, did_you_mean
from rankstats.inputs.origin import HandedIn
from rankstats.inputs.quoting import listed, plain, quoted

if TYPE_CHECKING:
    from rankstats.inputs.table_file import TableFile

ID_NAMES = ("query_id", "qid", "q_id", "queryid", "_id", "id", "topic", "topic_id")
TEXT_ID_NAMES = ("query", "query_text", "q")
"""Columns of texts, which are the ids where there is no id column."""
DOCUMENT_NAMES = (
    *("doc_id", "docid", "docno", "document", "document_id", "doc"),
    *("product_id", "corpus_id", "pid", "item_id", "itemid", "asin"),
)
SCORE_NAMES = ("score", "similarity", "prediction", "pred", "rsv", "relevance_score", "model_score")
RANK_NAMES = ("rank", "ranking", "position", "pos")
SYSTEM_NAMES = ("system", "run", "run_id", "runid", "model")
GRADE_NAMES = ("grade", "relevance", "rating", "label", "score", "rel", "judgment", "judgement", "gain")
TEXT_NAMES = ("query", "text", "query_text", "title", "question")
FREQUENCY_NAMES = ("frequency", "freq", "count", "clicks", "total_clicks", "searches", "traffic", "volume")


def folded(name: str) -> str:
    """Return a column name without regard to case, hyphens, spaces and underscores at its ends.

    Examples
    --------
    >>> folded("Query-ID ")
    'query_id'
    """
    return re.sub(r"[-\s]+", "_", name.strip().casefold())


def present(known: Sequence[str], columns: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Return the columns that have one of the known names and are not taken, in the order of the known names.

    Examples
    --------
    >>> present(("query", "text"), ["Text", "query ", "kind"])
    ['query ', 'Text']
    """
    by_folded = {folded(column): column for column in reversed(columns) if column not in taken}
    return [by_folded[name] for name in known if name in by_folded]


class ColumnNames:
    """The columns of a table by what they mean.

    Parameters
    ----------
    table : TableFile
        The table; errors name its file.

    Attributes
    ----------
    notes : list of str
        What was decided and could surprise.
    """

    def __init__(self, table: TableFile) -> None:
        self.notes: list[str] = []
        self._table = table
        self._names = table.names

    def query_id(self, named: str | None) -> str:
        """Return the query id column: the named one where the table has it, else a known id, else the text."""
        if named is not None and named in self._names:
            return named
        found = self._known(ID_NAMES, "query id", "--id") or self._known(TEXT_ID_NAMES, "query id", "--id")
        if found is None:
            raise self._missing("query id", "--id", named)
        return found

    def grade(self, named: str | None) -> str:
        """Return the grade column: the named one, or the only one with a known name."""
        if named is not None:
            return self.named("--grade", named)
        found = self._known(GRADE_NAMES, "grade", "--grade")
        if found is None:
            raise self._missing("grade", "--grade", None)
        ranks = present(RANK_NAMES, self._names)
        if folded(found) == "score" and ranks:
            raise self._error(
                f"columns {plain(found)} and {plain(ranks[0])} are those of a run; are --qrels and the run swapped? "
                f"If {plain(found)} is the grade, say so with {self._option('--grade')}"
            )
        return found

    def document(self, taken: Collection[str], named: str | None = None) -> str:
        """Return the document column: the named one, or the only one with a known name that is not taken.

        Where docno and docid stand side by side, as in PyTerrier's frames, docid is a number of the index.
        """
        if named is not None:
            return self.named("--document", named)
        by_folded = {folded(name): name for name in self._names}
        if {"docno", "docid"} <= by_folded.keys():
            taken = {*taken, by_folded["docid"]}
            names = f"{plain(by_folded['docno'])} and {plain(by_folded['docid'])}"
            self.notes.append(f"{self._table.file.path} has columns {names}; the first is read as the document")
        found = self._known(DOCUMENT_NAMES, "document", "--document", taken)
        if found is None:
            raise self._missing("document", "--document", None)
        return found

    def score_or_rank(self, taken: Collection[str], named: str | None) -> tuple[str | None, str | None]:
        """Return the score column, the named one or the only one with a known name, and the rank column.

        One of the two may be absent.
        """
        rank = next(iter(present(RANK_NAMES, self._names, taken)), None)
        if named is not None:
            return self.named("--score", named), rank
        score = self._known(SCORE_NAMES, "score", "--score", taken)
        if score is None and rank is None:
            judged = present(GRADE_NAMES, self._names, taken)
            hint = f"; {plain(judged[0])} is a column of judgments: are --qrels and the run swapped?" if judged else ""
            option = self._option("--score")
            raise self._error(f"no score or rank column; name it with {option} (there are {self._list()}){hint}")
        return score, rank

    def optional(self, names: Sequence[str], option: str, named: str | None, taken: Collection[str]) -> str | None:
        """Return the named column, or else the first of the known names that is there and not taken, or None."""
        if named is not None:
            return self.named(option, named)
        return next(iter(present(names, self._names, taken)), None)

    def named(self, option: str, name: str) -> str:
        """Return a column that must be there."""
        if name not in self._names:
            hint = did_you_mean(name, self._names)
            raise self._error(f"no column {name!r} ({self._option(option)}){hint} (there are {self._list()})")
        return name

    def _known(self, known: Sequence[str], what: str, option: str, taken: Collection[str] = ()) -> str | None:
        found = [name for name in self._names if folded(name) in known and name not in taken]
        if len(found) > 1:
            names = " and ".join(map(quoted, found))
            raise self._error(f"{names} may each be the {what} column; choose one with {self._option(option)}")
        return found[0] if found else None

    def _missing(self, what: str, option: str, named: str | None) -> InputError:
        unknown = f", nor one called {named!r}" if named else ""
        way_out = f"name it with {self._option(option)}"
        return self._error(f"no {what} column{unknown}; {way_out} (there are {self._list()})")

    def _option(self, flag: str) -> str:
        """Return an option as it is given: on the command line, or for data handed in as a setting of `columns`."""
        if not isinstance(self._table.file, HandedIn):
            return flag
        key = {"id": "query_id"}.get(flag[2:], flag[2:])
        return f"columns={{'{key}': …}}"

    def _list(self) -> str:
        return listed(self._names)

    def _error(self, problem: str) -> InputError:
        return self._table.file.error(problem)
