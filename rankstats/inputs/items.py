"""The item table: popularity, categories and vectors of documents, judged or not."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.inputs.audit import Read, ReadAudit
from rankstats.inputs.columns import DOCUMENT_NAMES, ColumnNames, folded, present
from rankstats.inputs.files import StoredFile
from rankstats.inputs.formats import read_table
from rankstats.inputs.frames import table_of
from rankstats.inputs.frequency import frequencies
from rankstats.inputs.origin import HandedIn
from rankstats.inputs.quoting import listed, plain, quoted
from rankstats.inputs.table_file import LARGEST, TableFile
from rankstats.tables.items import Categories, Items
from rankstats.tables.judgments import Source

ITEM_NAMES = (*DOCUMENT_NAMES, "item", "item_nr", "movie_id", "movieid", "sku", "_id", "id")
POPULARITY_NAMES = (
    *("popularity", "pop", "interactions", "n_interactions", "count", "frequency", "freq"),
    *("ratings", "n_ratings", "num_ratings", "views", "clicks", "sales", "orders", "purchases", "plays"),
)
CATEGORY_NAMES = ("category", "categories", "genre", "genres", "tags", "topics", "class")
VECTOR_NAMES = ("vector", "embedding", "vec", "features")
_SEPARATORS = re.compile(r"[\s,;|]+")
_CATEGORY_SEPARATORS = re.compile(r"[|;]")


def read_items(
    data: Any,
    *,
    id_column: str | None = None,
    popularity: str | None = None,
    category: str | None = None,
    vector: str | None = None,
) -> Read[Items]:
    r"""Read an item table from a file, or from data handed in.

    Files have named columns: TSV, CSV, JSON lines, JSON arrays or Parquet, plain or compressed. Data are a pandas,
    Polars or Arrow frame, or an iterable of named tuples, mappings or tuples (document, popularity); they are left as
    they are.

    The id is doc_id, item_id, product_id, movieId, id …, the popularity (how often an item was used: a number of 0 or
    more) popularity, count, clicks, ratings …, the categories category, genres …, the vector vector or embedding, or
    columns vector_1, vector_2 …: the first of each list that is there. Capitals, hyphens and spaces in names do not
    matter.

    Several categories in a cell are separated by ``|`` or ``;``, or are a JSON list; the numbers of a vector by spaces,
    commas or semicolons, or are a JSON list. Empty cells mean that nothing is known.

    Parameters
    ----------
    data : path, iterable, frame or Items
        The item table.
    id_column, popularity, category, vector : str, optional
        The columns, where they have other names; `vector` may also be what columns that end in a number begin with.

    Returns
    -------
    Read of Items
        The table in the order of the file, and the audit.

    Raises
    ------
    InputError
        With file and line: an empty id, an item listed twice, a popularity that is no number of 0 or more, a vector
        with something that is no number or with another length than the first. With the file: a named column that is
        not there, or no id column.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "items.csv"
    >>> _ = path.write_text("movieId,genres,popularity\n1,Comedy|Drama,12\n2,Drama,0\n")
    >>> items = read_items(path).table
    >>> items.doc_ids.to_pylist(), items.popularity.tolist(), items.categories.names
    (['1', '2'], [12.0, 0.0], ('Comedy', 'Drama'))
    """
    if isinstance(data, Items):
        return Read(data, ReadAudit((data.source,), len(data)))
    if isinstance(data, str | Path):
        table = read_table(StoredFile(data))
    else:
        table = table_of(data, HandedIn("items"), ("doc_id", "popularity"))
    names = ColumnNames(table)
    doc_id = names.optional(ITEM_NAMES, "--item-id", id_column, ())
    if doc_id is None:
        raise table.file.error(f"no item id column; name it with --item-id (there are {listed(table.names)})")
    popularity = _popularity_column(table, names, popularity, doc_id)
    category = names.optional(CATEGORY_NAMES, "--category", category, {doc_id})
    vectors = _vector_columns(table, names, vector, {doc_id, popularity or "", category or ""})
    ids = table.ids(doc_id)
    _check_distinct(table, ids)
    items = Items(
        ids,
        Source(table.file.path),
        table.names,
        None if popularity is None else frequencies(table, popularity),
        None if category is None else _categories(table, category),
        _vectors(table, vectors) if vectors else None,
    )
    # data handed in are digested as their columns are read
    items = replace(items, source=table.file.source())
    return Read(items, ReadAudit((items.source,), len(items), table.blank_lines))


def _popularity_column(table: TableFile, names: ColumnNames, named: str | None, doc_id: str) -> str | None:
    if named is not None:
        return names.named("--popularity", named)
    known = present(POPULARITY_NAMES, table.names, {doc_id})
    return next((name for name in known if table.has_number(name)), None)


def _vector_columns(table: TableFile, names: ColumnNames, named: str | None, taken: set[str]) -> list[str]:
    """Return the one column that holds vectors, or the columns of their numbers in order."""
    for prefix in (named,) if named else VECTOR_NAMES:
        whole = [name for name in table.names if name not in taken and _is_called(name, prefix, named)]
        if whole:
            return whole[:1]
        numbered = {
            int(match[1]): name
            for name in table.names
            if name not in taken and (match := re.fullmatch(re.escape(folded(prefix)) + r"[_.]?([0-9]+)", folded(name)))
        }
        if numbered:
            return [numbered[number] for number in sorted(numbered)]
    return [names.named("--vector", named)] if named else []


def _is_called(name: str, wanted: str, named: str | None) -> bool:
    return name == wanted if named else folded(name) == wanted


def _check_distinct(table: TableFile, ids: pa.Array[Any]) -> None:
    rows: dict[str, int] = {}
    for row, doc_id in enumerate(ids.to_pylist()):
        first = rows.setdefault(doc_id, row)
        if first != row:
            raise table.error(f"item {quoted(doc_id)} is listed twice, first in {table.place(first)}; remove one", row)


def _categories(table: TableFile, name: str) -> Categories:
    cells = [_categories_of(table, name, row, cell) for row, cell in enumerate(table.texts(name).to_pylist())]
    names = tuple(sorted({category for cell in cells for category in cell}))
    place = {category: i for i, category in enumerate(names)}
    codes = [sorted(place[category] for category in cell) for cell in cells]
    offsets = np.cumsum([0, *map(len, codes)]).astype(np.int64)
    return Categories(names, offsets, np.array([code for cell in codes for code in cell], dtype=np.int32))


def _categories_of(table: TableFile, name: str, row: int, cell: str | None) -> set[str]:
    if cell is None:
        return set()
    parts = _json_list(table, name, row, cell) if cell.lstrip().startswith("[") else _CATEGORY_SEPARATORS.split(cell)
    return {text for part in parts if (text := str(part).strip())}


def _json_list(table: TableFile, name: str, row: int, cell: str) -> list[Any]:
    try:
        parts = json.loads(cell)
    except (ValueError, RecursionError):
        parts = None
    if not isinstance(parts, list):
        raise table.error(f"{plain(name)} {quoted(cell)} is not a JSON list", row)
    return [part for part in parts if part is not None]


def _vectors(table: TableFile, names: list[str]) -> NDArray[np.float64]:
    """Return the vectors, shape (N, D); NaN in the row of an item without one."""
    if len(names) > 1:
        columns = np.stack([table.numbers(name) for name in names], axis=1)
        _check_range(table, names[0], columns)
        columns[np.isnan(columns).any(axis=1)] = np.nan
        return columns
    name = names[0]
    if not pa.types.is_string(table.columns[name].type):
        return table.numbers(name)[:, None]
    found = {
        row: _numbers_of(table, name, row, cell)
        for row, cell in enumerate(table.texts(name).to_pylist())
        if cell is not None
    }
    if not found:
        return np.full((len(table), 1), np.nan)
    first = min(found)
    vectors = np.full((len(table), len(found[first])), np.nan)
    for row, numbers in found.items():
        if len(numbers) != vectors.shape[1]:
            raise table.error(
                f"{plain(name)} has {len(numbers)} numbers, where {table.place(first)} has {vectors.shape[1]}", row
            )
        vectors[row] = numbers
    _check_range(table, name, vectors)
    return vectors


def _numbers_of(table: TableFile, name: str, row: int, cell: str) -> list[float]:
    texts = [text for text in _SEPARATORS.split(cell.strip().removeprefix("[").removesuffix("]")) if text]
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        raise table.error(f"{plain(name)} {quoted(cell)} is not a list of numbers", row) from None
    if not numbers or not np.isfinite(numbers).all():
        raise table.error(f"{plain(name)} {quoted(cell)} is not a list of finite numbers", row)
    return numbers


def _check_range(table: TableFile, name: str, vectors: NDArray[np.float64]) -> None:
    beyond = (np.abs(vectors) > LARGEST).any(axis=1)
    if beyond.any():
        raise table.error(f"{plain(name)} holds a number beyond {LARGEST:g}", int(np.argmax(beyond)))
