"""The demonstration, made once for all tests of it."""

from __future__ import annotations

from functools import cache

from rankstats.demo import Demo, demo_files, make_demo


@cache
def demo() -> Demo:
    return make_demo()


@cache
def files() -> dict[str, str]:
    return demo_files(demo())
