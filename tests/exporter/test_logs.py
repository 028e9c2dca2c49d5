from __future__ import annotations

import errno
import io
import json
from collections.abc import Iterator

import pytest
import structlog

from evaluator import logs as evaluator_logs
from exporter import logs


@pytest.fixture(autouse=True)
def _leave_no_traces() -> Iterator[None]:
    yield
    structlog.reset_defaults()


class FullDisk(io.StringIO):
    def write(self, _: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def log_two_lines() -> None:
    log = structlog.get_logger()
    log.debug("too much")
    log.warning("two words", reason="timeout", remedy='say "a"\nb')


def logged(style: str, *, level: str = "info") -> str:
    stream = io.StringIO()
    logs.set_up(level, style, stream)
    log_two_lines()
    return stream.getvalue()


def test_logfmt_quotes_what_needs_it() -> None:
    line = logged("logfmt")

    when, _, rest = line.partition(" ")
    assert when.startswith("time=20")
    assert when.endswith("Z")
    assert rest == (
        'level=warn msg="two words" reason=timeout remedy="say \\"a\\"\\nb"\n'
    )


def test_json_holds_the_same_fields() -> None:
    line = json.loads(logged("json"))

    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "warn",
        "msg": "two words",
        "reason": "timeout",
        "remedy": 'say "a"\nb',
    }


@pytest.mark.parametrize("style", logs.FORMATS)
def test_both_programs_log_in_the_same_form(
    style: str, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluator_logs.set_up("info", style)
    log_two_lines()

    _, _, theirs = capsys.readouterr().err.partition("Z")
    _, _, ours = logged(style).partition("Z")
    assert ours == theirs
    assert (logs.LEVELS, logs.FORMATS) == (
        evaluator_logs.LEVELS,
        evaluator_logs.FORMATS,
    )


def test_the_level_decides_what_is_logged() -> None:
    assert "too much" in logged("logfmt", level="debug")
    assert logged("logfmt", level="error") == ""


def test_a_line_that_cannot_be_written_is_dropped_and_nothing_else() -> None:
    logs.set_up("info", "logfmt", FullDisk())

    log_two_lines()


def test_a_line_for_a_closed_stream_is_dropped() -> None:
    stream = io.StringIO()
    logs.set_up("info", "logfmt", stream)
    stream.close()

    log_two_lines()


def test_a_failure_shows_its_kind_but_no_stack_trace() -> None:
    stream = io.StringIO()
    logs.set_up("info", "logfmt", stream)
    try:
        {"a": 1}["password=secret"]
    except LookupError:
        structlog.get_logger().exception("failed")

    assert "error=KeyError" in stream.getvalue()
    assert "secret" not in stream.getvalue()
    assert stream.getvalue().count("\n") == 1
