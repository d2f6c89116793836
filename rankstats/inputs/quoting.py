"""What messages quote of a file: short, and printable."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

LONGEST = 40
_NAMES_SHOWN = 12


def quoted(content: object) -> str:
    r"""Return text, bytes or a number in quotes as Python writes them, cut to about 40 characters.

    Examples
    --------
    >>> quoted("a\x1b[31m")
    "'a\\x1b[31m'"
    >>> quoted("x" * 1000) == repr("x" * 40 + "…")
    True
    """
    if isinstance(content, bytes):
        return repr(content[:LONGEST]) + "…" * (len(content) > LONGEST)
    if isinstance(content, str):
        return repr(content[:LONGEST] + "…" * (len(content) > LONGEST))
    try:
        shown = repr(content)
    except ValueError:  # a whole number of thousands of digits
        return "a number of thousands of digits"
    if " object at 0x" in shown:  # an address tells nothing
        return f"a value of type {type(content).__name__}"
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"


def plain(name: str) -> str:
    r"""Return a name without quotes where it needs none, else quoted.

    Examples
    --------
    >>> plain("doc id"), plain("\a")
    ('doc id', "'\\x07'")
    """
    return name if name and name.isprintable() and len(name) <= LONGEST else quoted(name)


def printable(path: str | Path) -> str:
    r"""Return a path as text; bytes that are not UTF-8, and NUL, are escaped.

    Examples
    --------
    >>> printable("x\udcff.run")
    'x\\xff.run'
    """
    name = str(path)
    try:
        stored = os.fsencode(name)
    except UnicodeEncodeError:  # half a surrogate pair that stands for no byte
        stored = name.encode("utf-8", "backslashreplace")
    return stored.decode("utf-8", "backslashreplace").replace("\0", "\\0")


def listed(names: Iterable[str]) -> str:
    """Return names with commas between, the first dozen of them.

    Examples
    --------
    >>> listed(["query_id", "text"])
    'query_id, text'
    >>> listed(map(str, range(14)))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more'
    """
    shown = [plain(name) for name in names]
    rest = len(shown) - _NAMES_SHOWN
    return ", ".join(shown[:_NAMES_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
