"""The words that ask about the evaluator itself: what would it see, and why?"""

from __future__ import annotations

from ..config import ENGINES
from ..units import parse_duration, parse_time
from ..words import (
    EXIT_CODES,
    PROGRAM,
    Words,
    add_config,
    add_format,
    add_profile,
    add_window,
    add_word,
    reader,
)
from .calibrate import calibrate
from .explain import explain
from .power import power

BOTH = "both"


def add_inquiries(words: Words) -> None:
    """Add ``calibrate``, ``power`` and ``explain``."""
    _add_calibrate(words)
    _add_power(words)
    _add_explain(words)


def _add_calibrate(words: Words) -> None:
    parser = add_word(
        words,
        "calibrate",
        calibrate,
        "Judge moments at which nothing was deployed: how often would it have cried?",
        "Exit codes: 0 done, 2 configuration or usage, 3 a system could not be reached "
        "or answered nonsense, 130 interrupted. What is known so far is printed first.",
        f"{PROGRAM} calibrate --since 7d --config.file=evaluator.yml",
    )
    add_config(parser)
    parser.add_argument(
        "--since",
        required=True,
        type=reader(parse_duration),
        metavar="DURATION",
        help="how far back to look, such as 7d",
    )
    parser.add_argument(
        "--every",
        default=3600.0,
        type=reader(parse_duration),
        metavar="DURATION",
        help="time between two moments; default 1h. Closer than two windows, they "
        "share samples and count for less",
    )
    parser.add_argument(
        "--engine",
        default=BOTH,
        choices=(*ENGINES, BOTH),
        help=f"default {BOTH}",
    )
    parser.add_argument(
        "--looks",
        action="store_true",
        help="judge each moment at every look that `run` takes, not only at the end of "
        "the window; five times the work",
    )
    parser.add_argument(
        "--service",
        default="",
        help="judge the series of this service only, as in the configuration",
    )
    add_window(parser)
    add_format(parser)


def _add_power(words: Words) -> None:
    parser = add_word(
        words,
        "power",
        power,
        "Tell how many calls and how long a window it takes to see +10, +20, +50 %.",
        "Exit codes: 0 done, 2 configuration or usage, 3 a system could not be reached "
        "or answered nonsense.",
        f"{PROGRAM} power --cv 0.3",
    )
    add_config(parser)
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--cv",
        type=reader(_positive),
        metavar="X",
        help="noise: standard deviation over mean of one interval's mean time per "
        "call; needs no server. Without it, the noise is measured in Prometheus",
    )
    source.add_argument(
        "--capture",
        metavar="FILE",
        help="measure the noise in a saved answer of Prometheus, as `replay` takes it",
    )
    parser.add_argument(
        "--calls",
        default=40.0,
        type=reader(_positive),
        metavar="N",
        help="with --cv: calls in one interval; default 40",
    )
    parser.add_argument(
        "--phi",
        default=0.0,
        type=reader(_correlation),
        metavar="X",
        help="with --cv: correlation of neighbouring intervals; default 0",
    )
    parser.add_argument(
        "--interval",
        default=60.0,
        type=reader(parse_duration),
        metavar="DURATION",
        help="with --cv: time between two scrapes; default 1m",
    )
    parser.add_argument(
        "--since",
        default=14_400.0,
        type=reader(parse_duration),
        metavar="DURATION",
        help="how far back to measure in Prometheus; default 4h. A change in it counts "
        "as noise",
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        help="default: the engine of the configuration",
    )
    add_profile(parser)
    add_format(parser)


def _add_explain(words: Words) -> None:
    parser = add_word(
        words,
        "explain",
        explain,
        "Show for one query how the verdict came about: seven steps and a plot.",
        EXIT_CODES,
        f"{PROGRAM} explain -1234567890123456789 --deploy 2026-11-29T14:05:00Z\n"
        f"  {PROGRAM} explain 42 --deploy grafana-17\n"
        f"  {PROGRAM} explain 42 --capture capture.json "
        "--deploy-time 2026-11-29T14:05:00Z",
    )
    add_config(parser)
    parser.add_argument("queryid", metavar="QUERYID", help="as in pg_stat_statements")
    moment = parser.add_mutually_exclusive_group(required=True)
    moment.add_argument(
        "--deploy",
        metavar="TIME|ID",
        help="when it happened: ISO 8601 (UTC where no zone is given) or Unix seconds; "
        "or its id such as grafana-17, as `run` logs it",
    )
    moment.add_argument(
        "--deploy-time",
        dest="at",
        type=reader(parse_time),
        metavar="T",
        help="the same, a time only",
    )
    parser.add_argument(
        "--capture",
        metavar="FILE",
        help="read a saved answer of Prometheus instead, as `replay` does",
    )
    parser.add_argument(
        "--service",
        default="",
        help="with a time: judge among the series of this service, as in the "
        "configuration",
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        help="default: the engine of the configuration",
    )
    add_profile(parser)
    add_window(parser)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise ValueError(f"expected a number above 0 such as 0.3, got {text!r}")
    return value


def _correlation(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 1.0
    if not -1.0 < value < 1.0:
        raise ValueError(f"expected a number between -1 and 1, got {text!r}")
    return value
