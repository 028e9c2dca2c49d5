"""Keep the process small although pages of megabytes come and go in many threads."""

from __future__ import annotations

import ctypes
import gc

# From malloc.h of glibc.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_LARGE = 256 * 1024


def keep_small() -> None:
    """Return large blocks to the system at once; share one heap among all threads.

    By default glibc keeps one heap per thread, each as large as it ever was: measured
    with 5,000 statements and 12 counters, 130 MB after 20 scrapes instead of 80. Other
    C libraries need no such tuning.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return
    mallopt(_M_ARENA_MAX, 1)
    mallopt(_M_MMAP_THRESHOLD, _LARGE)
    mallopt(_M_TRIM_THRESHOLD, _LARGE)


def spare_collections() -> None:
    """Collect cyclic garbage rarely: a scrape makes 100,000 objects and no cycles.

    Objects that exist now live as long as the process and are never examined again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
