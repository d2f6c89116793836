"""Random choices that come out the same on every platform and Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """Choices drawn from `random.Random.random`, the one method whose sequence Python guarantees for a seed.

    Parameters
    ----------
    seed : int
        The seed; equal seeds give equal choices.

    Examples
    --------
    >>> Dice(7).below(100) == Dice(7).below(100)
    True
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n − 1."""
        return int(self._random.random() * n)

    def percent(self, chance: int) -> bool:
        """Return True in `chance` of 100 cases."""
        return self.below(100) < chance

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one item."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in random order (Fisher and Yates)."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """Return `count` different items (fewer if there are fewer), in the order in which they were given."""
        chosen = sorted(self.shuffled(range(len(items)))[:count])
        return [items[index] for index in chosen]
