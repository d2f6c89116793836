"""How much memory there is, and sizes as users write them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from rankstats.errors import PlanError

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", re.IGNORECASE)
SMALLEST_LIMIT = 1 << 28
_GROUP_FILES = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def size_of(text: str) -> int:
    """Return the bytes of a size; units are powers of 1,024.

    Raises
    ------
    PlanError
        If the text is no size, or one below 256 MiB.

    Examples
    --------
    >>> size_of("4GiB"), size_of("512 mb")
    (4294967296, 536870912)
    """
    found = _SIZE.fullmatch(text)
    size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if size < SMALLEST_LIMIT:
        raise PlanError(f"memory limit {text!r}: a size of at least 256MiB is expected, such as 4GiB")
    return size


def machine_memory() -> int:
    """Return the bytes of memory that this machine, or the container, has.

    Examples
    --------
    >>> machine_memory() > 1 << 28
    True
    """
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no such call
        physical = 8 << 30
    for name in _GROUP_FILES:
        try:
            limit = int(Path(name).read_text(encoding="ascii"))
        except (OSError, ValueError):  # no such file, or 'max'
            continue
        return min(physical, limit)
    return physical


def readable_size(size: int) -> str:
    """Return a size in the unit that suits it.

    Examples
    --------
    >>> readable_size(3 << 30), readable_size(1 << 28)
    ('3.0 GiB', '256 MiB')
    """
    return f"{size / (1 << 30):,.1f} GiB" if size >= 1 << 30 else f"{size / (1 << 20):,.0f} MiB"
