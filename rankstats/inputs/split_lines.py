"""Lines whose fields are separated by one space or one tab each, split with array operations.

A block of lines is looked at as a whole: where its white space is, whether every line has its fields, and what stands
in them. Texts are moved and compared eight bytes at a time. What is not plain, such as letters beyond ASCII or a
missing field, is refused, for readers that know more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.inputs.files import Room
from rankstats.inputs.layout import NEWLINE, SPACE, Block, Layout
from rankstats.tables.arrow_arrays import values_of
from rankstats.tables.arrow_functions import cast, encoded
from rankstats.tables.text_hashes import LOWEST_BYTES, hashes_of_words

_WORD = 8
_LONGEST = 512
"""Bytes of a text: longer ones would be moved in too many steps."""
_BYTE = np.uint64(8)
_HIGHEST_BYTES = ~LOWEST_BYTES[::-1]
_POINT, _MINUS = 46, 45
_ZEROS = np.uint64(0x3030303030303030)
_ABOVE_NINE = np.uint64(0x7676767676767676)
_TOP_BITS = np.uint64(0x8080808080808080)
_JOINS = (
    (np.uint64(10 << 8 | 1), np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
    (np.uint64(100 << 16 | 1), np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
    (np.uint64(10000 << 32 | 1), np.uint64(32), np.uint64(0x00000000FFFFFFFF)),
)
"""Factors, shifts and masks by which neighbouring numbers of 1, 2 and 4 digits become one of twice as many."""


def split_block(room: Room, separator: int, layout: Layout) -> Block | None:
    """Return the columns of the lines in a room; None where they are not plain, or something in them is wrong.

    Plain are whole lines of ASCII, each with a newline and with the fields of `layout`, between which there is the
    `separator` once and no other white space.

    Parameters
    ----------
    room : Room
        Holds the lines.
    separator : int
        The byte between fields.
    layout : Layout
        The fields.
    """
    ends = _ends_of_fields(room, separator, len(layout.names))
    if ends is None:
        return None
    queried, documents = _Field.of(room, ends, layout.query), _Field.of(room, ends, layout.document)
    counted = [_Field.of(room, ends, position) for position in layout.numbers]
    if max(field.longest for field in (queried, documents, *counted)) > _LONGEST:
        return None
    numbers = [_numbers(field) for field in counted]
    read = [column for column in numbers if column is not None]
    if len(read) < len(numbers):
        return None
    queries, query = _runs(queried)
    first = documents.words()
    hashes = None
    if layout.is_hashed:
        last = documents.last_words() if documents.longest > _WORD else None
        hashes = hashes_of_words(first, last, documents.lengths)
    return Block(queries, query, documents.texts(first), read, hashes)


def _ends_of_fields(room: Room, separator: int, width: int) -> NDArray[np.int64] | None:
    """Return where the fields of plain lines end, shape (fields of a line, lines), or None."""
    text = room.windows("u1", 0)
    # as signed numbers, bytes beyond ASCII are below the space too, and then there are too many
    white = text.view(np.int8) <= SPACE
    if white[0] or text[-1] != NEWLINE or np.any(white[1:] & white[:-1]):
        return None
    ends = np.flatnonzero(white)
    rows, over = divmod(len(ends), width)
    if over or np.count_nonzero(text == NEWLINE) != rows or np.count_nonzero(text == separator) != len(ends) - rows:
        return None
    ends = np.ascontiguousarray(ends.reshape(rows, width).T)
    return ends if np.all(text[ends[-1]] == NEWLINE) else None


class _Field:
    """One field of some lines in a room: where its texts start and end, and how long they are."""

    def __init__(self, room: Room, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        self._room = room
        self.starts = starts
        self.ends = ends
        self.lengths = ends - starts
        self.longest = int(self.lengths.max())

    @classmethod
    def of(cls, room: Room, ends: NDArray[np.int64], position: int) -> _Field:
        """Return a field of all lines."""
        if position:
            return cls(room, ends[position - 1] + 1, ends[position])
        starts = np.zeros_like(ends[0])
        np.add(ends[-1, :-1], 1, out=starts[1:])
        return cls(room, starts, ends[0])

    def at(self, rows: NDArray[np.int64]) -> _Field:
        """Return the field of some lines."""
        return _Field(self._room, self.starts[rows], self.ends[rows])

    def first_text(self) -> bytes:
        """Return the text of the first line."""
        return bytes(self._room.windows("u1", 0)[self.starts[0] : self.ends[0]])

    def byte(self, shift: int, *, of_end: bool) -> NDArray[np.uint8]:
        """Return the byte `shift` after the start or the end of each text."""
        found: NDArray[np.uint8] = self._room.windows("u1", shift)[self.ends if of_end else self.starts]
        return found

    def words(self, at: int = 0) -> NDArray[np.uint64]:
        """Return eight bytes of each text, from the byte `at` on, 0 for those beyond its end."""
        windows = self._room.windows("<u8", 0)
        words: NDArray[np.uint64]
        if not at:
            words = windows[self.starts]
            words &= LOWEST_BYTES[np.minimum(self.lengths, _WORD)]
            return words
        words = np.zeros(len(self.starts), np.uint64)
        rows = np.flatnonzero(self.lengths > at)
        words[rows] = windows[self.starts[rows] + at] & LOWEST_BYTES[np.minimum(self.lengths[rows] - at, _WORD)]
        return words

    def last_words(self) -> NDArray[np.uint64]:
        """Return the eight bytes before each end, those of a shorter text with what stands before it."""
        words: NDArray[np.uint64] = self._room.windows("<u8", -_WORD)[self.ends]
        return words

    def texts(self, first: NDArray[np.uint64]) -> pa.Array[Any]:
        """Return the texts, whose first words are at hand."""
        offsets = np.zeros(len(self.lengths) + 1, np.int32)
        np.cumsum(self.lengths, out=offsets[1:])
        content = np.empty(int(offsets[-1]) + _WORD, np.uint8)
        windows: NDArray[np.uint64] = np.ndarray((len(content) - _WORD + 1,), "<u8", content, strides=(1,))
        # what a word writes behind its text is overwritten by the first words of the texts that follow, written last
        for at in range((self.longest - 1) // _WORD * _WORD, 0, -_WORD):
            rows = np.flatnonzero(self.lengths > at)
            windows[offsets[rows] + at] = self._room.windows("<u8", 0)[self.starts[rows] + at]
        windows[offsets[:-1]] = first
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
        return pa.Array.from_buffers(pa.string(), len(self.lengths), buffers)


def _runs(field: _Field) -> tuple[list[str], NDArray[np.int32]]:
    """Return the distinct texts of a field, and which one each line has.

    Lines of a text mostly stand together: the first one of each run of lines says all.
    """
    differs = field.lengths[1:] != field.lengths[:-1]
    for at in range(0, field.longest, _WORD):
        words = field.words(at)
        differs |= words[1:] != words[:-1]
    starts = np.concatenate([np.zeros(1, np.int64), np.flatnonzero(differs) + 1])
    of_runs = field.at(starts)
    codes = encoded(of_runs.texts(of_runs.words()))
    return codes.dictionary.to_pylist(), np.repeat(values_of(codes.indices), np.diff(starts, append=len(field.starts)))


def _numbers(field: _Field) -> NDArray[np.float64] | None:
    """Return the numbers of a field; None where one is none, or not finite."""
    numbers = _short_numbers(field)
    if numbers is None:
        try:
            numbers = values_of(cast(field.texts(field.words()), pa.float64()))
        except pa.ArrowInvalid:
            return None
    return numbers if np.all(np.isfinite(numbers)) else None


def _short_numbers(field: _Field) -> NDArray[np.float64] | None:
    """Return numbers of at most eight digits, all with the same number of decimals; None where they are not that.

    The digits make a whole number, which a float holds exactly, as it does the power of ten: the quotient is rounded
    once, to what any right reader makes of the text.
    """
    _, point, decimals = field.first_text().partition(b".")
    is_negative = field.byte(0, of_end=False) == _MINUS
    n_digits = field.lengths - is_negative
    n_digits -= len(point)
    if len(decimals) > _WORD or n_digits.min() < max(len(decimals), 1) or n_digits.max() > _WORD:
        return None
    digits = field.last_words()
    if point:
        if not np.all(field.byte(-1 - len(decimals), of_end=True) == _POINT):
            return None
        whole = digits << _BYTE
        whole |= field.byte(-1 - _WORD, of_end=True)
        behind_point = _HIGHEST_BYTES[len(decimals)]
        digits &= behind_point
        digits |= whole & ~behind_point
    kept = _HIGHEST_BYTES[n_digits]
    digits &= kept
    digits |= _ZEROS & ~kept
    values = _values_of_digits(digits)
    if values is None:
        return None
    if decimals:
        values /= 10.0 ** len(decimals)
    return np.negative(values, out=values, where=is_negative)


def _values_of_digits(digits: NDArray[np.uint64]) -> NDArray[np.float64] | None:
    """Return the numbers that eight digits each are, the first one the lowest byte; None where one is no digit."""
    digits -= _ZEROS
    if np.any(((digits + _ABOVE_NINE) | digits) & _TOP_BITS):
        return None
    for factor, shift, mask in _JOINS:
        digits *= factor
        digits >>= shift
        digits &= mask
    return digits.astype(np.float64)
