"""Runs a program that ends when its starter dies in any way: `python guarded.py PROGRAM ARGUMENT…`. Linux.

Like its neighbours, it is started by path and belongs to no package.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING


def main() -> None:
    """Become the program."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    if TYPE_CHECKING:
        from repopilot.sandbox.inside import confine
    else:
        import confine
    confine.guard()
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
