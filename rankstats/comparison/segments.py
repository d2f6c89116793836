"""Segments: groups of queries by length, popularity, relevant documents or any column of the query table."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.errors import PlanError, did_you_mean
from rankstats.tables import Queries

NONE = "(none)"
"""The segment of judged queries without a value."""

_BUILT_IN = ("length", "popularity", "relevant")
_LENGTH_CUTS = (3.0,)
_POPULARITY_CUTS = (0.5, 0.9)
_RELEVANT_CUTS = (1.0, 10.0)
_BIN_NAMES = {1: ("all",), 2: ("short", "long"), 3: ("short", "medium", "long")}
_SHARE_NAMES = {2: ("head", "tail"), 3: ("head", "torso", "tail")}


@dataclass(frozen=True, slots=True)
class Attribute:
    """One way to split the queries.

    Attributes
    ----------
    name : str
        Name in report and policy, such as ``length`` or ``length+popularity``.
    specification : str
        What was asked for, such as ``length:6``.
    values : tuple of str
        Segment values in display order.
    labels : mapping of str to str
        Value to the words shown.
    code : ndarray of int64, shape (Q,)
        Index into `values` for each scored query.
    share : ndarray of float64, shape (K,)
        Share of traffic (or of queries) of each value.
    share_of : {'traffic', 'queries'}
        What the shares are of.
    """

    name: str
    specification: str
    values: tuple[str, ...]
    labels: Mapping[str, str]
    code: NDArray[np.int64]
    share: NDArray[np.float64]
    share_of: str

    def members(self, value: str) -> NDArray[np.bool_]:
        """Return which scored queries belong to a value, shape (Q,)."""
        return np.asarray(self.code == self.values.index(value), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class SegmentData:
    """What segments are made from.

    Attributes
    ----------
    query_ids : tuple of str, length Q
        The scored queries.
    queries : Queries or None
        The query table.
    row : ndarray of int64, shape (Q,)
        Row of the query table for each scored query, -1 where it has none.
    relevant : ndarray of int64, shape (Q,), or None
        Number of relevant documents of each scored query.
    """

    query_ids: tuple[str, ...]
    queries: Queries | None
    row: NDArray[np.int64]
    relevant: NDArray[np.int64] | None

    @classmethod
    def align(
        cls, query_ids: tuple[str, ...], queries: Queries | None, relevant: NDArray[np.int64] | None
    ) -> SegmentData:
        """Match scored queries with the query table by id."""
        row = np.full(len(query_ids), -1, dtype=np.int64) if queries is None else queries.rows_of(query_ids)
        return cls(query_ids, queries, row, relevant)


@dataclass(frozen=True, slots=True)
class _Split:
    """Codes for every row of the query table, or for the scored queries alone; -1 means no value."""

    name: str
    values: tuple[str, ...]
    labels: tuple[str, ...]
    table_code: NDArray[np.int64] | None
    scored_code: NDArray[np.int64]


def split_specifications(texts: Sequence[str]) -> tuple[str, ...]:
    """Split comma-separated specifications; a comma between numbers belongs to the cuts.

    Examples
    --------
    >>> split_specifications(["length:2,5,popularity", "clicks:q4"])
    ('length:2,5', 'popularity', 'clicks:q4')
    """
    parts = [part.strip() for text in texts for part in re.split(r",(?!\s*[\d.]+\s*(?:,|\+|$))", text)]
    return tuple(part for part in parts if part)


def make_attributes(specifications: Sequence[str], data: SegmentData) -> tuple[Attribute, ...]:
    """Return the attributes that the specifications ask for.

    Parameters
    ----------
    specifications : sequence of str
        ``length``, ``length:2,5``, ``popularity``, ``popularity:0.5,0.9``, ``relevant``, ``COLUMN``,
        ``column:NAME``, ``COLUMN:q4``, or several joined by ``+``.
    data : SegmentData
        The scored queries and what is known of them.

    Raises
    ------
    PlanError
        If a specification is unknown, repeated, or needs a column that is not there.
    """
    for text in specifications:
        if not all(part.strip() for part in text.split("+")):
            raise PlanError(f"--segment {text}: a part is empty")
        kinds = [_short_name(part) for part in text.split("+")]
        twice = next((kind for kind in kinds if kinds.count(kind) > 1), None)
        if twice is not None:
            raise PlanError(f"--segment {text}: {twice!r} stands there twice; join different attributes")
    names = [_short_name(text) for text in specifications]
    attributes = []
    for text, name in zip(specifications, names, strict=True):
        if list(specifications).count(text) > 1:
            raise PlanError(f"--segment {text} is given twice")
        full = text if names.count(name) > 1 else name
        attributes.append(_attribute(full, text, [_split(part.strip(), data) for part in text.split("+")], data))
    return tuple(attributes)


def _short_name(text: str) -> str:
    def one(part: str) -> str:
        part = part.strip()
        if part.startswith("column:"):
            return part.removeprefix("column:")
        return part.split(":")[0] if re.search(r":(?:[\d.,\s]+|q\d+)$", part) else part

    return "+".join(one(part) for part in text.split("+"))


def _attribute(name: str, specification: str, splits: Sequence[_Split], data: SegmentData) -> Attribute:
    combined = splits[0]
    for split in splits[1:]:
        combined = _cross(combined, split)
    if not combined.values:
        raise PlanError(f"--segment {name}: no query has a value")
    values, labels = list(combined.values), list(combined.labels)
    code = combined.scored_code
    if (code < 0).any():
        code = np.where(code < 0, len(values), code)
        values.append(NONE)
        labels.append("no value")
    share, share_of = _shares(combined, code, len(values), data)
    kept = [k for k in range(len(values)) if (code == k).any() or share[k] > 0]
    place = np.full(len(values), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    return Attribute(
        name=name,
        specification=specification,
        values=tuple(values[k] for k in kept),
        labels={values[k]: labels[k] for k in kept},
        code=place[code],
        share=share[kept],
        share_of=share_of,
    )


def _joined(value: str) -> str:
    """A value as part of a combined one; a plus sign of its own is held by brackets, so that values stay apart."""
    return f"({value})" if "+" in value else value


def _cross(first: _Split, second: _Split) -> _Split:
    width = len(second.values)

    def codes(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where((a < 0) | (b < 0), -1, a * width + b)

    both = first.table_code is not None and second.table_code is not None
    return _Split(
        name=f"{first.name}+{second.name}",
        values=tuple(f"{_joined(a)}+{_joined(b)}" for a in first.values for b in second.values),
        labels=tuple(f"{a}, {b}" for a in first.labels for b in second.labels),
        table_code=codes(first.table_code, second.table_code)  # type: ignore[arg-type]  # both are arrays here
        if both
        else None,
        scored_code=codes(first.scored_code, second.scored_code),
    )


def _shares(split: _Split, code: NDArray[np.int64], count: int, data: SegmentData) -> tuple[NDArray[np.float64], str]:
    """Share of the whole query table's traffic, of the scored queries' traffic, or of the scored queries."""
    frequency = frequencies(data.queries)
    if frequency is None:
        return np.bincount(code, minlength=count) / max(1, len(code)), "queries"
    asked = np.nan_to_num(frequency)
    if split.table_code is not None:
        known = split.table_code >= 0
        counted = np.bincount(split.table_code[known], weights=asked[known], minlength=count)
        total = asked.sum()
    else:
        scored = np.where(data.row >= 0, asked[data.row], 0.0)
        counted = np.bincount(code, weights=scored, minlength=count)
        total = scored.sum()
    return np.asarray(counted / total if total > 0 else counted, dtype=np.float64), "traffic"


def frequencies(queries: Queries | None) -> NDArray[np.float64] | None:
    """Return how often each query of the table is asked, or None where the table has no such column."""
    if queries is None or queries.frequency is None:
        return None
    return np.asarray(queries.columns[queries.frequency], dtype=np.float64)


def _split(part: str, data: SegmentData) -> _Split:
    name, _, argument = part.partition(":")
    columns = () if data.queries is None else tuple(data.queries.columns)
    if name == "column" and argument:
        return _by_value(argument, part, data)
    if part in columns and part not in _BUILT_IN:
        return _by_value(part, part, data)
    if name == "length":
        return _by_length(part, argument, data)
    if name == "popularity":
        return _by_popularity(part, argument, data)
    if name == "relevant":
        return _by_relevant(part, argument, data)
    if re.fullmatch(r"q\d+", argument):
        return _by_quantile(name, part, int(argument[1:]), data)
    if argument and name in columns:
        raise PlanError(f"--segment {part}: {argument!r} is not understood; quantiles are written {name}:q4")
    return _by_value(part, part, data)


def _cuts(part: str, argument: str, default: tuple[float, ...]) -> tuple[float, ...]:
    if not argument:
        return default
    try:
        cuts = tuple(float(cut) for cut in argument.split(","))
    except ValueError:
        raise PlanError(f"--segment {part}: cuts are numbers, such as {part.split(':', maxsplit=1)[0]}:2,5") from None
    if not all(math.isfinite(cut) for cut in cuts):
        raise PlanError(f"--segment {part}: cuts are finite numbers")
    if cuts[0] < 0:
        raise PlanError(f"--segment {part}: no query lies at or below {cuts[0]:g}; cuts are 0 or more")
    if any(b <= a for a, b in pairwise(cuts)):
        raise PlanError(f"--segment {part}: cuts must rise")
    return cuts


def _table(part: str, data: SegmentData) -> Queries:
    if data.queries is None:
        raise PlanError(f"--segment {part} needs a query table; give one with --queries FILE")
    return data.queries


def _to_scored(table_code: NDArray[np.int64], data: SegmentData) -> NDArray[np.int64]:
    return np.where(data.row >= 0, table_code[data.row], -1)


def _by_length(part: str, argument: str, data: SegmentData) -> _Split:
    queries = _table(part, data)
    if queries.text is None:
        raise PlanError(f"--segment {part} needs the query text; name its column with --text COLUMN")
    cuts = _cuts(part, argument, _LENGTH_CUTS)
    texts = queries.columns[queries.text]
    words = np.array([np.nan if text is None else len(str(text).split()) for text in texts.tolist()])
    code = _binned(words, cuts)
    names = _BIN_NAMES.get(len(cuts) + 1) or tuple(_bin_labels(cuts))
    labels = [
        f"{name} ({label} words)" if name != label else f"{label} words"
        for name, label in zip(names, _bin_labels(cuts), strict=True)
    ]
    return _Split(part, names, tuple(labels), code, _to_scored(code, data))


def _binned(amount: NDArray[np.float64], cuts: Sequence[float]) -> NDArray[np.int64]:
    """Bin 0 holds amounts up to and including the first cut; NaN has no bin."""
    code = np.searchsorted(np.asarray(cuts), amount, side="left").astype(np.int64)
    return np.where(np.isnan(amount), -1, code)


def _bin_labels(cuts: Sequence[float]) -> list[str]:
    middle = []
    for a, b in pairwise(cuts):
        whole = float(a).is_integer() and float(b).is_integer()
        middle.append((f"{a + 1:g}" if b == a + 1 else f"{a + 1:g}–{b:g}") if whole else f"> {a:g} to {b:g}")
    return [f"≤ {cuts[0]:g}", *middle, f"> {cuts[-1]:g}"]


def _by_popularity(part: str, argument: str, data: SegmentData) -> _Split:
    frequency = frequencies(_table(part, data))
    if frequency is None:
        raise PlanError(f"--segment {part} needs how often queries are asked; name the column with --frequency COLUMN")
    cuts = _cuts(part, argument, _POPULARITY_CUTS)
    if not all(0 < cut < 1 for cut in cuts):
        raise PlanError(f"--segment {part}: cuts are shares of the traffic between 0 and 1")
    code = popularity_codes(frequency, cuts)
    names = _SHARE_NAMES.get(len(cuts) + 1) or tuple(f"share {k + 1}" for k in range(len(cuts) + 1))
    starts = ["0", *(f"{cut * 100:g}" for cut in cuts)]
    ends = [*(f"{cut * 100:g}" for cut in cuts), "100"]
    labels = [f"{n} ({a}–{b} % of traffic)" for n, a, b in zip(names, starts, ends, strict=True)]
    return _Split(part, names, tuple(labels), code, _to_scored(code, data))


def popularity_codes(frequency: NDArray[np.float64], cuts: Sequence[float] = _POPULARITY_CUTS) -> NDArray[np.int64]:
    """Return 0 for head, 1 for torso … of each query, -1 where the frequency is unknown.

    A query belongs to the head while the share of traffic asked more often than it is below the first cut. Queries
    of equal frequency stay together.

    Examples
    --------
    >>> popularity_codes(np.array([60.0, 30.0, 5.0, 5.0])).tolist()
    [0, 1, 2, 2]
    """
    if (frequency < 0).any():
        raise PlanError("a query's frequency is below 0")
    if not np.nansum(frequency) > 0:
        raise PlanError("no query's frequency is above 0, so there is no head and no tail")
    known = ~np.isnan(frequency)
    distinct, inverse, times = np.unique(frequency[known], return_inverse=True, return_counts=True)
    traffic = distinct * times
    total = traffic.sum()
    above = total - np.cumsum(traffic)
    before = above / total if total > 0 else np.zeros_like(above)
    level = np.searchsorted(np.asarray(cuts), before, side="right")
    code = np.full(frequency.shape, -1, dtype=np.int64)
    code[known] = level[inverse]
    return code


def _by_relevant(part: str, argument: str, data: SegmentData) -> _Split:
    if data.relevant is None:
        raise PlanError(f"--segment {part} needs judgments; ready-made scores have none")
    cuts = _cuts(part, argument, _RELEVANT_CUTS)
    code = _binned(data.relevant.astype(np.float64), cuts)
    labels = _bin_labels(cuts)
    return _Split(part, tuple(labels), tuple(f"{label} relevant documents" for label in labels), None, code)


def _column(name: str, part: str, data: SegmentData) -> NDArray[np.generic]:
    queries = _table(part, data)
    if name not in queries.columns:
        known = [*queries.columns, *_BUILT_IN]
        listed = ", ".join(queries.columns)
        raise PlanError(
            f"--segment {part}: the query table has no column {name!r} ({listed})" + did_you_mean(name, known)
        )
    return queries.columns[name]


def _by_value(name: str, part: str, data: SegmentData) -> _Split:
    column = _column(name, part, data)
    texts = [_value_text(item) for item in column.tolist()]
    numeric = column.dtype.kind == "f"
    values = sorted({text for text in texts if text is not None}, key=(lambda t: (float(t), t)) if numeric else None)
    if len(values) > 100:
        raise PlanError(
            f"--segment {part}: {len(values)} different values; use quantiles ({name}:q4) or another column"
        )
    place = {value: k for k, value in enumerate(values)}
    code = np.array([-1 if text is None else place[text] for text in texts], dtype=np.int64)
    return _Split(part, tuple(values), tuple(values), code, _to_scored(code, data))


def _value_text(item: object) -> str | None:
    # tables that rankstats wrote hold the word itself
    if item is None or item in ("", NONE) or (isinstance(item, float) and np.isnan(item)):
        return None
    return f"{item:.15g}" if isinstance(item, float) else str(item)


def _by_quantile(name: str, part: str, count: int, data: SegmentData) -> _Split:
    column = _column(name, part, data)
    if column.dtype.kind != "f":
        raise PlanError(f"--segment {part}: column {name!r} does not hold numbers only")
    if not 2 <= count <= 20:
        raise PlanError(f"--segment {part}: from 2 to 20 quantiles")
    amount = np.asarray(column, dtype=np.float64)
    scored = amount[data.row[data.row >= 0]]
    scored = scored[~np.isnan(scored)]
    if not len(scored):
        raise PlanError(f"--segment {part}: no scored query has a value")
    cuts = np.unique(np.quantile(scored, np.arange(1, count) / count))
    cuts = cuts[cuts < scored.max()]
    code = _binned(amount, cuts) if len(cuts) else np.where(np.isnan(amount), -1, 0)
    ends = (
        [
            f"≤ {cuts[0]:.6g}",
            *(f"> {a:.6g} to {b:.6g}" for a, b in pairwise(cuts)),
            f"> {cuts[-1]:.6g}",
        ]
        if len(cuts)
        else ["all"]
    )
    values = tuple(f"q{k + 1}" for k in range(len(ends)))
    labels = tuple(f"{value} ({end})" for value, end in zip(values, ends, strict=True))
    return _Split(part, values, labels, code, _to_scored(code, data))


def too_few(n: int) -> bool:
    """Whether a segment has too few queries for a verdict."""
    return n < SMALLEST_VERDICT_N
