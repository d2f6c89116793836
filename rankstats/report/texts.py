"""Text from outside, made fit to be shown: query texts, titles and names are data, never markup."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from rankstats import wording

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
LONGEST_TEXT = 240
LONGEST_LABEL = 40

# Control characters, lone surrogates, non-characters, and the marks that turn the direction of what follows them.
_UNSHOWABLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
_ISOLATED = re.compile("^\N{FIRST STRONG ISOLATE}(.*)\N{POP DIRECTIONAL ISOLATE}$", re.DOTALL)
_NEVER = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\u202a-\u202e]")
_SPACE = re.compile(r"[\t\n\x0b\x0c\r\x20\u2028\u2029]+")
_DIGITS = re.compile("[0-9]+")


def shown(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text for one line of a page: characters that no font shows replaced, spaces joined, the rest cut.

    Parameters
    ----------
    text : str
        Any text.
    longest : int
        The number of characters after which the text is cut; the cut names the full length.

    Examples
    --------
    >>> shown("red  shoes")
    'red shoes'
    >>> shown("x" * 300, 10)
    'xxxxxxxxxx… (300 characters in all)'
    """
    line = _clean(text)
    cut = line if len(line) <= longest else f"{line[:longest].rstrip()}… ({len(line):,} characters in all)"
    return _isolated(cut)


def beginning(text: str, longest: int) -> str:
    """Return a text as `shown` does, its cut marked by nothing but "…": for cells whose whole text is elsewhere.

    Examples
    --------
    >>> beginning("winter jackets for kids", 14)
    'winter jackets…'
    """
    line = _clean(text)
    return _isolated(line if len(line) <= longest else f"{line[:longest].rstrip()}…")


def attribute_text(value: Any) -> str:
    """Return the value of an attribute as text for a cell.

    Examples
    --------
    >>> attribute_text(19.0), attribute_text(-0.5), attribute_text(True), attribute_text(None)
    ('19', '−0.5', 'yes', '—')
    """
    if value is None:
        return wording.UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and not value.is_integer():
        return re.sub("^-", wording.MINUS, f"{value:g}")
    return wording.number(value, 0) if isinstance(value, (int, float)) else beginning(str(value), 80)


def natural_key(text: str) -> bytes:
    """Return the key by which ids are put in order: without accents and capitals, numbers by their size.

    It is the key of the page's script, which compares texts by their UTF-16 units.

    Examples
    --------
    >>> sorted(["q10", "Q2", "q1"], key=natural_key)
    ['q1', 'Q2', 'q10']
    """
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.category(c).startswith("M"))
    padded = _DIGITS.sub(lambda digits: digits[0].rjust(15, "0"), text.lower())
    return padded.encode("utf-16-be", "surrogatepass")


def showable(value: object) -> object:
    """Return a text with the characters replaced that no font shows, anything else as it is: a renderer's last net."""
    return _NEVER.sub(REPLACEMENT, value) if isinstance(value, str) and _NEVER.search(value) else value


def multiline(text: str) -> str:
    r"""Return a text of several lines with the characters replaced that no font shows; its lines stay.

    Examples
    --------
    >>> multiline("one\r\ntwo\x00\tthree")
    'one\ntwo�\tthree'
    """
    return "\n".join(_UNSHOWABLE.sub(REPLACEMENT, line) for line in text.splitlines())


def _clean(text: str) -> str:
    # what is shown once may be shortened later: its own isolation is no part of it
    bare = _ISOLATED.sub(r"\1", text)
    return _SPACE.sub(" ", _UNSHOWABLE.sub(REPLACEMENT, bare)).strip()


def _isolated(line: str) -> str:
    """Keep a right-to-left text from turning the numbers and words around it."""
    if not line.isascii() and any(unicodedata.bidirectional(c) in {"R", "AL", "AN"} for c in line):
        return f"\N{FIRST STRONG ISOLATE}{line}\N{POP DIRECTIONAL ISOLATE}"
    return line


def whole(text: str) -> str:
    r"""Return a text for one line, uncut and without marks of direction, for a terminal or a pipe.

    Examples
    --------
    >>> whole("a\tb")
    'a b'
    """
    return "".join(c for c in _clean(text) if unicodedata.category(c) != "Cf")


def label(text: str, longest: int = LONGEST_LABEL) -> str:
    """Return a name for a figure or a narrow column, cut in the middle when it is long.

    Examples
    --------
    >>> label("system-" + "x" * 50, 12)
    'system…xxxxx'
    """
    line = _clean(text)
    if len(line) > longest:
        tail = (longest - 1) // 2
        line = f"{line[: longest - 1 - tail]}…{line[-tail:]}"
    return _isolated(line)


def width(text: str) -> int:
    """Return about how many Latin characters wide a text is; East Asian wide characters count twice.

    Examples
    --------
    >>> width("abc"), width("日本")
    (3, 4)
    """
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


def capital(text: str) -> str:
    """Return a text with its first letter as a capital.

    Examples
    --------
    >>> capital("by kind")
    'By kind'
    """
    return text[:1].upper() + text[1:]


def sentence_list(items: list[str]) -> str:
    """Return items as a list in words.

    Examples
    --------
    >>> sentence_list(["a", "b", "c"])
    'a, b and c'
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""
