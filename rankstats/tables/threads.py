"""Work that is split into pieces, done in threads: what NumPy and Arrow compute does not hold Python's lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import pyarrow as pa

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_AHEAD = 1
_KEPT_BYTES = 1 << 22


def keep_pieces() -> None:
    """Have the allocator keep the memory of arrays of up to 4 MiB for the arrays that follow.

    The GNU C library fetches every larger piece from the system, and gives it back, page by page, which takes longer
    than most work on it; what is larger, it learns from the pieces that are let go of. Elsewhere this does nothing.
    """
    np.empty(_KEPT_BYTES, np.uint8)


def in_threads(work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
    """Yield the results of `work` in the order of the pieces; all threads have ended when the iterator has.

    Parameters
    ----------
    work : callable
        Does one piece, without regard to the others.
    pieces : sequence
        What is to be done. As many are done at once as Arrow would use threads; few are done ahead of what is taken,
        so that few results wait.

    Examples
    --------
    >>> list(in_threads(len, ["a", "bcd", ""]))
    [1, 3, 0]
    """
    threads = min(pa.cpu_count(), len(pieces))
    if threads < 2:
        yield from map(work, pieces)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for piece in pieces:
                waiting.append(pool.submit(work, piece))
                if len(waiting) > _AHEAD * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
