"""Numbers as words: one way to write p-values, differences, intervals and counts, wherever a reader meets them.

Machine files hold exact numbers; these forms are for people. They use the minus sign, the multiplication sign and a
thin choice of digits: as many decimals as the standard error supports.
"""

from __future__ import annotations

import math

MINUS = "\N{MINUS SIGN}"
UNDEFINED = "\N{EM DASH}"
_USUAL_LEVEL = 0.05


def decimals_for(standard_error: float | None, *, least: int = 2, most: int = 9) -> int:
    """Return the number of decimals that a standard error supports: about two of its digits.

    Examples
    --------
    >>> decimals_for(0.0097), decimals_for(0.12), decimals_for(None)
    (3, 2, 3)
    """
    if standard_error is None or not math.isfinite(standard_error) or standard_error <= 0:
        return 3
    return min(most, max(least, -math.floor(math.log10(standard_error / 5))))


def number(value: float | None, decimals: int = 3) -> str:
    """Return a number with a fixed count of decimals and a real minus sign.

    Examples
    --------
    >>> number(-0.5, 2), number(None), number(-0.0001, 2)
    ('−0.50', '—', '0.00')
    """
    if value is None or math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        return "\N{INFINITY}" if value > 0 else MINUS + "\N{INFINITY}"
    size = abs(value)
    if size >= 1e12 or (size > 0 and decimals >= 6 and round(size, decimals) == 0):
        # a fixed number of decimals would show nothing, or nothing but zeros
        return (MINUS if value < 0 else "") + f"{size:.3g}".replace("-", MINUS)
    text = f"{size:,.{decimals}f}"
    negative = value < 0 and any(digit in "123456789" for digit in text)
    return MINUS + text if negative else text


def signed(value: float | None, decimals: int = 3) -> str:
    """Return a difference with its sign always shown.

    Examples
    --------
    >>> signed(0.031), signed(-0.031), signed(0.0)
    ('+0.031', '−0.031', '0.000')
    """
    text = number(value, decimals)
    positive = value is not None and value > 0 and any(digit in "123456789\N{INFINITY}" for digit in text)
    return "+" + text if positive else text


def percent(share: float | None, decimals: int = 0, *, sign: bool = False) -> str:
    """Return a share as a percentage, its sign held by a no-break space.

    Examples
    --------
    >>> percent(0.5) == "50\N{NO-BREAK SPACE}%", percent(0.079, 1, sign=True)[:4]
    (True, '+7.9')
    """
    if share is None or math.isnan(share):
        return UNDEFINED
    return f"{(signed if sign else number)(share * 100, decimals)}\N{NO-BREAK SPACE}%"


def p_value(p: float | None) -> str:
    """Return a p-value without its letter: three digits, never 0 and never 1.

    Just above the usual level it is rounded up: .050 always means that p is at most .05.

    Examples
    --------
    >>> p_value(0.00005), p_value(0.0381), p_value(1.0), p_value(0.0499), p_value(0.0501)
    ('< .001', '.038', '> .999', '.050', '.051')
    """
    if p is None or math.isnan(p):
        return UNDEFINED
    if p < 0.001:
        return "< .001"
    if p >= 0.9995:
        return "> .999"
    shown = round(p, 3)
    return f"{shown + 0.001 if shown == _USUAL_LEVEL < p else shown:.3f}"[1:]


def p_statement(p: float | None, letter: str = "p") -> str:
    """Return a p-value as a statement.

    Examples
    --------
    >>> p_statement(0.0381, "adjusted p"), p_statement(0.0)
    ('adjusted p = .038', 'p < .001')
    """
    text = p_value(p)
    return f"{letter} {text}" if text[0] in "<>" else f"{letter} = {text}"


def interval(low: float | None, high: float | None, decimals: int = 3) -> str:
    """Return the two ends of an interval of differences in words; an absent end is unbounded.

    An end so close to 0 that it would be written as 0 gets more decimals: its side of 0 is what the reader looks for.

    Examples
    --------
    >>> interval(0.012, 0.05), interval(None, 0.05), interval(-0.0003, 0.041)
    ('+0.012 to +0.050', '−∞ to +0.050', '−0.0003 to +0.041')
    """
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    return " to ".join(signed(end, _decimals_of_end(end, decimals)) for end in ends)


def _decimals_of_end(end: float, decimals: int) -> int:
    while decimals < 9 and end != 0 and round(end, decimals) == 0:
        decimals += 1
    return decimals


def count(n: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> count(1, "query", "queries"), count(1200, "query", "queries"), count(3, "system")
    ('1 query', '1,200 queries', '3 systems')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"
