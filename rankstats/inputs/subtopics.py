"""Subtopics in judgments: TREC diversity qrels, which grade a document once for each subtopic of its query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.inputs.quoting import plain
from rankstats.tables.arrow_arrays import arrow_of
from rankstats.tables.judgments import Judgments, Subtopics

SUBTOPIC_NAMES = ("subtopic", "subtopic_id", "intent", "intent_id", "aspect", "iteration", "iter")
"""Columns of headed judgments that name the subtopic."""


@dataclass(frozen=True, slots=True)
class SubtopicColumn:
    """The second field of qrels, or the column of a table that names the subtopic.

    Attributes
    ----------
    name : str
        What the column is called, for messages.
    names : tuple of str
        The distinct texts, ascending by code point.
    code : ndarray of int32, shape (N,)
        Index into `names`, in the order of the file.
    """

    name: str
    names: tuple[str, ...]
    code: NDArray[np.int32]

    @classmethod
    def of(cls, name: str, texts: pa.Array[Any] | pa.ChunkedArray[Any]) -> SubtopicColumn:
        """Return the column of some texts, of which none is null.

        Examples
        --------
        >>> SubtopicColumn.of("subtopic", pa.array(["2", "10", "2"])).code.tolist()
        [1, 0, 1]
        """
        cells = [str(text) for text in texts.to_pylist()]
        names = tuple(sorted(set(cells)))
        place = {text: i for i, text in enumerate(names)}
        return cls(name, names, np.array([place[text] for text in cells], dtype=np.int32))


def holds_subtopics(
    judgments: Judgments,
    order: NDArray[np.int64],
    repeats: NDArray[np.bool_],
    column: SubtopicColumn,
    *,
    wanted: bool = False,
) -> bool:
    """Return whether a column names subtopics: some document has two of them.

    Where subtopics are `wanted`, it is enough that some query has two: the column holds something else in other qrels,
    such as the round in which a document was judged.

    Parameters
    ----------
    judgments : Judgments
        One row a line of the file.
    order : ndarray of int64, shape (N,)
        The line that stands at each row.
    repeats : ndarray of bool, shape (N,)
        Whether a row has query and document of the row before.
    column : SubtopicColumn
        In the order of lines.
    wanted : bool, optional
        Whether a measure needs subtopics.
    """
    if len(column.names) < 2:
        return False
    code = column.code[order]
    group = judgments.query if wanted else np.cumsum(~repeats)
    same = group[1:] == group[:-1]
    return bool((same & (code[1:] != code[:-1])).any())


def with_subtopics(
    judgments: Judgments,
    order: NDArray[np.int64],
    repeats: NDArray[np.bool_],
    column: SubtopicColumn,
    *,
    policy: str,
    refuse: Callable[[NDArray[np.int64], NDArray[np.bool_]], None],
) -> tuple[Judgments, str]:
    """Keep the grade of each subtopic, and the highest of them as the grade of the document.

    Parameters
    ----------
    judgments, order, repeats, column : Judgments, ndarray, ndarray, SubtopicColumn
        As in `holds_subtopics`.
    policy : {'error', 'max', 'mean'}
        What two grades for one document and subtopic come to.
    refuse : callable
        Raises the error for such grades, from the line at each row and which rows repeat the row before.

    Returns
    -------
    judgments : Judgments
        One row a document, with subtopics.
    note : str
        What was decided, as a sentence.
    """
    pair, code = np.cumsum(~repeats) - 1, column.code[order]
    sorting = np.lexsort((judgments.grade, code, pair))
    order, code, grade = order[sorting], code[sorting], judgments.grade[sorting]
    again = repeats.copy()
    again[1:] &= code[1:] == code[:-1]
    if again.any() and policy == "error":
        refuse(order, again)
    starts = np.flatnonzero(~again)
    lengths = np.diff(starts, append=len(again))
    grade = np.maximum.reduceat(grade, starts) if policy == "max" else np.add.reduceat(grade, starts) / lengths
    subtopics = Subtopics(column.names, pair[starts], code[starts], grade)
    first = np.flatnonzero(~repeats)
    query = judgments.query[first]
    merged = Judgments(
        judgments.query_ids,
        query,
        judgments.doc_ids.take(arrow_of(first)),
        np.maximum.reduceat(grade, np.searchsorted(subtopics.judgment, np.arange(len(first)))),
        np.searchsorted(query, np.arange(judgments.n_queries + 1)).astype(np.int64),
        judgments.source,
        int(np.count_nonzero(lengths > 1)),
        subtopics,
    )
    several = int(np.count_nonzero(np.bincount(subtopics.judgment) > 1))
    return merged, (
        f"{judgments.source.name} grades documents by subtopic ({plain(column.name)}; {several:,} documents have "
        "several grades); measures without subtopics take the highest"
    )
