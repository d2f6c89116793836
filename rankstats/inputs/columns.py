"""Finds the columns of a headed table by the names that people give them, or by the option that names them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rankstats.errors import InputError, did_you_mean
from rankstats.inputs.quoting import listed, quoted

if TYPE_CHECKING:
    from rankstats.inputs.table_file import TableFile

ID_NAMES = ("query_id", "qid", "queryid", "_id", "id", "topic", "topic_id")
TEXT_ID_NAMES = ("query", "query_text", "q")
"""Columns of texts, which are the ids where there is no id column."""
DOCUMENT_NAMES = (
    *("doc_id", "docid", "docno", "document", "document_id", "doc"),
    *("product_id", "corpus_id", "pid", "item_id", "asin"),
)
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
    """

    def __init__(self, table: TableFile) -> None:
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
        return found

    def document(self, taken: Collection[str]) -> str:
        """Return the document column: the only one with a known name that is not taken."""
        found = self._known(DOCUMENT_NAMES, "document", None, taken)
        if found is None:
            raise self._error(f"no document column; call it doc_id (there are {self._list()})")
        return found

    def optional(self, names: Sequence[str], option: str, named: str | None, taken: Collection[str]) -> str | None:
        """Return the named column, or else the first of the known names that is there and not taken, or None."""
        if named is not None:
            return self.named(option, named)
        return next(iter(present(names, self._names, taken)), None)

    def named(self, option: str, name: str) -> str:
        """Return a column that must be there."""
        if name not in self._names:
            hint = did_you_mean(name, self._names)
            raise self._error(f"no column {name!r} ({option}){hint} (there are {self._list()})")
        return name

    def _known(self, known: Sequence[str], what: str, option: str | None, taken: Collection[str] = ()) -> str | None:
        found = [name for name in self._names if folded(name) in known and name not in taken]
        if len(found) > 1:
            way_out = f"choose one with {option}" if option else "rename the ones that are not"
            raise self._error(f"{' and '.join(map(quoted, found))} may each be the {what} column; {way_out}")
        return found[0] if found else None

    def _missing(self, what: str, option: str, named: str | None) -> InputError:
        unknown = f", nor one called {named!r}" if named else ""
        return self._error(f"no {what} column{unknown}; name it with {option} (there are {self._list()})")

    def _list(self) -> str:
        return listed(self._names)

    def _error(self, problem: str) -> InputError:
        return self._table.file.error(problem)
