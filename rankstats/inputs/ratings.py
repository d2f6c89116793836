"""Ratings tables: several raters' grades of the same items, one row a rating or one column a rater."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.inputs.audit import Read, ReadAudit
from rankstats.inputs.columns import DOCUMENT_NAMES, GRADE_NAMES, ID_NAMES, TEXT_ID_NAMES, ColumnNames, present
from rankstats.inputs.files import StoredFile
from rankstats.inputs.formats import read_table
from rankstats.inputs.quoting import listed, plain, quoted
from rankstats.inputs.table_file import TableFile

ITEM_NAMES = ("item", "unit", "pair", "pair_id")
RATER_NAMES = ("rater", "rater_id", "assessor", "assessor_id", "annotator", "annotator_id", "judge", "worker", "coder")

_BETWEEN = "\N{INFORMATION SEPARATOR ONE}"
"""Stands between the parts of an item that several columns name."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Grades that raters gave to items.

    Attributes
    ----------
    values : ndarray of float64, shape (items, raters)
        Grades, NaN where a rater did not rate an item. Grades that are words stand as their place in `words`.
    raters : tuple of str
        In the order of the columns, or of first appearance.
    words : tuple of str
        The grades in order of code point where they are not numbers, which have no distance; else empty.
    clusters : tuple of str or None
        A label for every item, by which items are alike (its query); None without such a column.
    cluster_name : str or None
        The column of these labels.
    """

    values: NDArray[np.float64]
    raters: tuple[str, ...]
    words: tuple[str, ...]
    clusters: tuple[str, ...] | None
    cluster_name: str | None


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns of a ratings table; `rater` and `grade` are None in a wide one, `raters` is empty in a long one."""

    items: tuple[str, ...]
    rater: str | None
    grade: str | None
    raters: tuple[str, ...]
    cluster: str | None


def read_ratings(
    path: str | Path,
    *,
    items: Sequence[str] = (),
    rater: str | None = None,
    grade: str | None = None,
    raters: Sequence[str] = (),
    cluster: str | None = None,
) -> Read[Ratings]:
    r"""Read a ratings table, long (item, rater, grade) or wide (item, then one column a rater).

    CSV, TSV, JSON lines or Parquet, with a header. A table with a rater column (rater, assessor, annotator, judge …)
    and a grade column (grade, rating, label …) is long, every other one wide. The item is named by a column called
    item, or by query and document together (query_id, query, doc_id, product_id …), or by the first column. The raters
    of a wide table are the other columns that hold numbers or, where none does, all others. Empty cells are missing
    ratings.

    Parameters
    ----------
    path : str or Path
        The file.
    items : sequence of str, optional
        The columns that name an item together.
    rater, grade : str, optional
        The columns of a long table.
    raters : sequence of str, optional
        The columns of a wide table that hold ratings, of which there are at least two.
    cluster : str, optional
        A column by which items are alike; by default the query, where it is part of what names an item.

    Returns
    -------
    Read of Ratings
        Items in the order of the file, and the audit.

    Raises
    ------
    InputError
        With file and line: an item rated twice by one rater, an empty id. With the file: a column that is missing,
        fewer than two raters.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ratings.csv"
    >>> _ = path.write_text("item,rater,grade\na,ann,2\na,bob,1\nb,ann,0\n")
    >>> read = read_ratings(path)
    >>> read.table.raters, read.table.values.tolist()
    (('ann', 'bob'), [[2.0, 1.0], [0.0, nan]])
    """
    file = StoredFile(path)
    table = read_table(file)
    asked = _Columns(tuple(items), rater, grade, tuple(dict.fromkeys(raters)), cluster)
    named, notes = _completed(table, asked)
    keys = _keys(table, named.items)
    ratings = _long(table, named, keys) if named.rater else _wide(table, named, keys)
    if len(ratings.raters) < 2:
        raise file.error(f"holds the ratings of {plain(ratings.raters[0])} alone; agreement needs two raters")
    return Read(ratings, ReadAudit((file.source(),), len(table), table.blank_lines, notes=notes))


def _completed(table: TableFile, asked: _Columns) -> tuple[_Columns, tuple[str, ...]]:
    """Find the columns that were not named, and say which were passed over."""
    names = ColumnNames(table)
    options: dict[str, tuple[str | None, ...]] = {"--item": asked.items, "--raters": asked.raters}
    options |= {"--rater": (asked.rater,), "--grade": (asked.grade,), "--cluster": (asked.cluster,)}
    for option, columns in options.items():
        for column in columns:
            if column is not None:
                names.named(option, column)
    rater = None if asked.raters else asked.rater or _first(RATER_NAMES, table, set(asked.items))
    grade = None
    if rater:
        grade = asked.grade or _first(GRADE_NAMES, table, {*asked.items, rater})
        if grade is None:
            raise table.file.error(f"has a column {plain(rater)} but no grade column; name it with --grade")
    taken = {*asked.raters, *(name for name in (rater, grade) if name is not None)}
    items = asked.items or _item_columns(table, taken)
    cluster = asked.cluster
    if cluster is None and len(items) > 1:
        cluster = next(iter(present((*ID_NAMES, *TEXT_ID_NAMES), items)), None)
    if rater:
        return _Columns(items, rater, grade, (), cluster), ()
    raters, notes = _rater_columns(table, asked.raters, {*items, *([cluster] if cluster else [])})
    if len(raters) < 2:
        found = f"one column of ratings, {plain(raters[0])}" if raters else "no column of ratings"
        raise table.file.error(
            f"has {found}; agreement needs two raters: name their columns with --raters, or those of a table with one "
            "row a rating with --rater and --grade"
        )
    return _Columns(items, None, None, raters, cluster), notes


def _first(known: Sequence[str], table: TableFile, taken: set[str]) -> str | None:
    return next(iter(present(known, table.names, taken)), None)


def _item_columns(table: TableFile, taken: set[str]) -> tuple[str, ...]:
    item = present(ITEM_NAMES, table.names, taken)[:1]
    query = (present(ID_NAMES, table.names, taken) or present(TEXT_ID_NAMES, table.names, taken))[:1]
    document = present(DOCUMENT_NAMES, table.names, {*taken, *query})[:1]
    rest = [name for name in table.names if name not in taken][:1]
    if not item + query + document + rest:
        raise table.file.error("has no column that names the items; name it with --item")
    return tuple(item or [*query, *document] or rest)


def _rater_columns(
    table: TableFile, raters: tuple[str, ...], taken: set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if raters:
        return raters, ()
    others = [name for name in table.names if name not in taken]
    numeric = [name for name in others if table.numbers_or_texts(name).dtype != object]
    left_out = [name for name in others if name not in numeric] if numeric else []
    notes = (f"columns without numbers are not taken as raters: {listed(left_out)} (--raters names them)",)
    return tuple(numeric or others), notes if left_out else ()


def _keys(table: TableFile, names: Sequence[str]) -> list[str]:
    parts = [table.id_list(name) for name in names]
    return [_BETWEEN.join(part) for part in zip(*parts, strict=True)]


def _shown(key: str) -> str:
    return " and ".join(quoted(part) for part in key.split(_BETWEEN))


def _wide(table: TableFile, named: _Columns, keys: list[str]) -> Ratings:
    first: dict[str, int] = {}
    for row, key in enumerate(keys):
        if first.setdefault(key, row) != row:
            raise table.error(f"item {_shown(key)} is listed twice, first in {table.place(first[key])}", row)
    columns = [table.numbers_or_texts(name) for name in named.raters]
    values, words = _graded(columns)
    clusters = _clusters(table, named.cluster, list(range(len(keys))))
    return Ratings(np.column_stack(values), named.raters, words, clusters, named.cluster)


def _long(table: TableFile, named: _Columns, keys: list[str]) -> Ratings:
    assert named.rater is not None
    assert named.grade is not None
    by = table.id_list(named.rater)
    items: dict[str, int] = {}
    raters: dict[str, int] = {}
    first: dict[tuple[int, int], int] = {}
    for row, (key, rater) in enumerate(zip(keys, by, strict=True)):
        place = items.setdefault(key, len(items)), raters.setdefault(rater, len(raters))
        if first.setdefault(place, row) != row:
            where = table.place(first[place])
            raise table.error(f"{quoted(rater)} rates item {_shown(key)} twice, first in {where}; remove one", row)
    (grades,), words = _graded([table.numbers_or_texts(named.grade)])
    values = np.full((len(items), len(raters)), np.nan)
    values[tuple(np.array(list(first)).T)] = grades
    rows = [0] * len(items)
    for (item, _), row in reversed(first.items()):
        rows[item] = row
    clusters = _clusters(table, named.cluster, rows, keys)
    return Ratings(values, tuple(raters), words, clusters, named.cluster)


def _clusters(
    table: TableFile, name: str | None, rows: list[int], keys: list[str] | None = None
) -> tuple[str, ...] | None:
    """Return the label of each item, from its first row; the other rows of a long table must agree."""
    if name is None:
        return None
    labels = table.id_list(name)
    if keys is not None:
        of_item = {keys[row]: row for row in rows}
        for row, key in enumerate(keys):
            if labels[row] != labels[of_item[key]]:
                raise table.error(
                    f"{plain(name)} of item {_shown(key)} is {quoted(labels[row])}, but "
                    f"{quoted(labels[of_item[key]])} in {table.place(of_item[key])}",
                    row,
                )
    return tuple(labels[row] for row in rows)


def _graded(columns: list[NDArray[Any]]) -> tuple[list[NDArray[np.float64]], tuple[str, ...]]:
    """Return grades as numbers; where some are words all of them are, by their places among the words."""
    filled = [column for column in columns if column.dtype != object or any(cell is not None for cell in column)]
    if all(column.dtype != object for column in filled):
        empty = np.full(len(columns[0]), np.nan)
        return [column if column.dtype != object else empty for column in columns], ()
    texts = [[_text(cell) for cell in column.tolist()] for column in columns]
    words = tuple(sorted({text for column in texts for text in column if text is not None}))
    place = {word: float(i) for i, word in enumerate(words)}
    return [np.array([np.nan if text is None else place[text] for text in column]) for column in texts], words


def _text(cell: Any) -> str | None:
    if isinstance(cell, float):
        return None if np.isnan(cell) else f"{cell:g}"
    return None if cell is None else str(cell).strip()
