"""The examination of the scenes: ``python -m bench.scenes``."""

from __future__ import annotations

from .command import main

if __name__ == "__main__":
    main()
