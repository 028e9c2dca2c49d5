"""Connection strings; above all, nothing shown contains a part of a password."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter import logs
from exporter.cli import settings_from
from exporter.errors import ConfigurationError
from exporter.postgres.connecting.connection import parses
from exporter.postgres.connecting.dsn import from_file, wrong_with, wrong_with_file
from exporter.service import target_settings
from exporter.target import Target

from ...http import application, get

# Letters that appear nowhere else, so that any part of the password is noticed.
CHUNKS = st.text("QXZJ", min_size=4, max_size=8)
SEPARATORS = st.text("@/:?#%=& '\"\\[],;$+{}|", max_size=3)
SHAPES = [
    "postgresql://app:{}@127.0.0.1:1/shop",
    "postgres://app:{}@127.0.0.1:1",
    "postgresql://{}@127.0.0.1:1/shop",
    "postgresql://127.0.0.1:1/shop?password={}",
    "postgresql://127.0.0.1:1/shop?user=app&password={}&port=1",
    "host=127.0.0.1 port=1 password={}",
    "host=127.0.0.1 password={} port=1",
    "password={}",
    "host=127.0.0.1 port=1 password='{}'",
    "jdbc:postgresql://app:{}@127.0.0.1:1/shop",
    "{}",
]


@st.composite
def passwords(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A password and the parts that must not be shown."""
    chunks = draw(st.lists(CHUNKS, min_size=1, max_size=4))
    return "".join(chunk + draw(SEPARATORS) for chunk in chunks), chunks


def everything_shown(dsn: str) -> str:
    """Configuration errors, or the log and every page of a running exporter."""
    try:
        loaded = settings_from([], {"PGVERDICT_DSN": dsn})
    except ConfigurationError as error:
        return str(error)
    assert loaded.dsn is not None
    stream = io.StringIO()
    logs.set_up("debug", "json", stream)
    target = Target("default", loaded.dsn, target_settings(loaded))
    app = application(target)
    pages = [get(app, path).text for path in ("/", "/metrics", "/-/ready")]
    return "".join([*pages, stream.getvalue()])


@pytest.fixture(scope="module", autouse=True)
def no_name_is_looked_up() -> object:
    """Hosts in malformed strings would be looked up in the DNS."""
    patch = pytest.MonkeyPatch()
    patch.setenv("PGHOSTADDR", "127.0.0.1")
    patch.setenv("PGPORT", "1")
    yield
    patch.undo()


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=60, deadline=None)
@given(password=passwords())
def test_nothing_shown_holds_a_part_of_the_password(
    shape: str, password: tuple[str, list[str]]
) -> None:
    text, chunks = password

    shown = everything_shown(shape.format(text))

    assert not [chunk for chunk in chunks if chunk in shown]


@settings(max_examples=60, deadline=None)
@given(password=passwords(), data=st.data())
def test_wrong_arguments_are_not_repeated(
    password: tuple[str, list[str]], data: st.DataObject
) -> None:
    text, chunks = password
    wrong = [
        ["--dsn", "host=a", f"password={text}"],
        ["--dns", f"postgres://app:{text}@host/db"],
        [f"--dns=postgres://app:{text}@host/db"],
        [f"--version={text}"],
        [f"--{text}"],
    ]

    with pytest.raises(ConfigurationError) as raised:
        settings_from(data.draw(st.sampled_from(wrong)), {})

    assert not [chunk for chunk in chunks if chunk in str(raised.value)]


@pytest.mark.parametrize(
    "dsn",
    [
        "",
        "postgresql://",
        "postgresql:///shop?host=/run/postgresql",
        "postgresql://app:p%40ss%2Fword@db:5432/shop?sslmode=require",
        "postgres://one:5432,two:5433/shop?target_session_attrs=read-write",
        "host=db user=app dbname=shop password='with blanks, = and @'",
        "service=orders",
        "host=db options='-c search_path=a://b'",
    ],
)
def test_what_libpq_accepts_is_accepted(dsn: str) -> None:
    assert wrong_with(dsn, parses) is None


@pytest.mark.parametrize(
    ("dsn", "message"),
    [
        ("mysql://db/shop", "not a PostgreSQL URL"),
        ("postgresql://app:p@ss@db/shop", "%40"),
        ("postgresql://app:p/ss@db/shop", "%2F"),
        ("postgresql://app:p#ss@db/shop", "%23"),
        ("postgresql://app:100%@db/shop", "cannot parse"),
        ("localhost", "cannot parse"),
        ("host=db pasword=x", "cannot parse"),
        ("host=db password=a b", "needs quotes"),
        ("host=db\x00", "zero byte"),
    ],
)
def test_a_malformed_connection_string_is_reported_with_what_would_be_right(
    dsn: str, message: str
) -> None:
    assert message in (wrong_with(dsn, parses) or "")


def test_a_file_is_read_again_for_each_connection(tmp_path: Path) -> None:
    file = tmp_path / "dsn"
    file.write_text("host=first\n", encoding="utf-8")
    dsn = from_file(file)
    assert dsn() == "host=first"

    file.write_text("host=second\n", encoding="utf-8")

    assert dsn() == "host=second"


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    missing, binary, wrong = (tmp_path / name for name in ("none", "binary", "wrong"))
    binary.write_bytes(b"\xff\xfe")
    wrong.write_text("nonsense", encoding="utf-8")

    problems = [wrong_with_file(path, parses) for path in (missing, binary, wrong)]

    assert problems[0] == f"{missing}: No such file or directory"
    assert problems[1] == f"{binary}: not UTF-8 text"
    assert (problems[2] or "").startswith(f"{wrong}: libpq cannot parse it")


def test_a_file_that_disappears_later_is_a_configuration_problem(
    tmp_path: Path,
) -> None:
    file = tmp_path / "dsn"
    target = Target("default", from_file(file), target_settings(settings_from([], {})))

    snapshot = target.scrape(time.monotonic() + 5).snapshot

    assert [problem.reason for problem in snapshot.problems] == ["configuration"]
