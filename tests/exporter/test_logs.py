from __future__ import annotations

import io
import json
import logging

from exporter import logs


def logged(style: str, *, level: str = "info") -> str:
    stream = io.StringIO()
    logs.set_up(level, style, stream)
    log = logging.getLogger("exporter.tests")
    log.debug("too much")
    log.warning("two words", extra=logs.fields(reason="timeout", remedy='say "a"\nb'))
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

    assert list(line) == ["time", "level", "msg", "reason", "remedy"]
    assert line["remedy"] == 'say "a"\nb'


def test_the_level_decides_what_is_said() -> None:
    assert "too much" in logged("logfmt", level="debug")
    assert logged("logfmt", level="error") == ""


def test_a_failure_shows_its_kind_but_no_stack_trace() -> None:
    stream = io.StringIO()
    logs.set_up("info", "logfmt", stream)
    try:
        {"a": 1}["password=secret"]
    except LookupError:
        logging.getLogger("exporter.tests").exception("failed")

    assert "error=KeyError" in stream.getvalue()
    assert "secret" not in stream.getvalue()
    assert stream.getvalue().count("\n") == 1
