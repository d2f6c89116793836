"""Finds the shared collections beside the checkout; tests that need them skip with a reason where they are absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


def shared(relative: str) -> Path:
    """Return the path of a shared file or folder, or skip the calling test."""
    path = SHARED / relative
    if not path.exists():
        if os.environ.get("CI") and SHARED.exists():
            pytest.fail(f"shared/{relative} is missing in CI")
        pytest.skip(f"the shared collections are not beside this checkout ({relative})")
    return path
