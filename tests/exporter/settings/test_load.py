from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from exporter.cli import settings_from
from exporter.errors import ConfigurationError
from exporter.settings.table import Settings


def loaded(text: str, path: Path, *flags: str, **environment: str) -> Settings:
    file = path / "exporter.yml"
    file.write_text(text, encoding="utf-8")
    return settings_from(["--config.file", str(file), *flags], environment)


def problems(text: str, path: Path, *flags: str, **environment: str) -> list[str]:
    with pytest.raises(ConfigurationError) as raised:
        loaded(text, path, *flags, **environment)
    return [problem.replace(f"{path}/", "") for problem in raised.value.problems]


def test_without_anything_libpq_decides_where_to_connect() -> None:
    settings = settings_from([], {})

    assert settings.dsn is not None
    assert settings.dsn() == ""
    assert settings.web_listen_address == ("", 9719)


def test_a_flag_precedes_the_environment_and_that_the_file(
    tmp_path: Path,
) -> None:
    text = "dsn: host=file\nlog: {level: warn, format: json}\n"

    by_file = loaded(text, tmp_path)
    by_environment = loaded(text, tmp_path, PGVERDICT_DSN="host=env")
    by_flag = loaded(
        text, tmp_path, "--dsn", "host=flag", "--log.level", "error", PGVERDICT_DSN="x"
    )

    dsns = [s.dsn() for s in (by_file, by_environment, by_flag) if s.dsn]
    assert dsns == ["host=file", "host=env", "host=flag"]
    assert (by_file.log_level, by_flag.log_level) == ("warn", "error")
    assert by_flag.log_format == "json"


def test_the_connection_string_may_come_from_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "dsn"
    secret.write_text("host=secret\n", encoding="utf-8")

    settings = settings_from([], {"PGVERDICT_DSN_FILE": str(secret)})

    assert settings.dsn is not None
    assert settings.dsn() == "host=secret"


def test_all_problems_are_reported_at_once_with_what_would_be_right(
    tmp_path: Path,
) -> None:
    text = """
    log: {levle: debug}
    statements: {counters: [calls, secnds]}
    scrape: {timeout: soon}
    web: {telemetry_path: metrics}
    txets: {enabled: true}
    targets: {orders: {dsn_flie: /x}, "two words": {}, bare: 1}
    """

    reported = problems(text, tmp_path, "--texts.length", "0", "--log.fromat", "json")

    assert reported == [
        'arguments: unknown flag; did you mean "--log.format"?',
        "arguments: a value without a flag; a value with spaces needs quotes",
        'exporter.yml: log.levle: unknown setting; did you mean "log.level"?',
        'exporter.yml: txets: unknown setting; did you mean "texts"?',
        "exporter.yml: statements.counters: unknown counter; "
        'did you mean "seconds"?, got a list',
        "exporter.yml: scrape.timeout: expected a duration such as 10s or 500ms, "
        "got 'soon'",
        "exporter.yml: web.telemetry_path: expected a path such as /metrics, "
        "got 'metrics'",
        "--texts.length: expected a whole number, at least 1, got '0'",
        "exporter.yml: targets.orders.dsn_flie: unknown setting; "
        'did you mean "dsn_file"?',
        "exporter.yml: targets.orders.dsn, exporter.yml: targets.orders.dsn_file: "
        "give exactly one of them",
        "exporter.yml: targets: a name is not valid; expected letters, digits, "
        "'-', '_' and '.', such as orders-db",
        "exporter.yml: targets.bare: expected {dsn: …} or {dsn_file: PATH}",
    ]


@pytest.mark.parametrize("path", ["/probe", "/-/ready", "/", "/a?b", "/métriques"])
def test_a_path_that_could_never_be_reached_is_rejected(path: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--web\.telemetry-path: expected"):
        settings_from(["--web.telemetry-path", path], {})


@pytest.mark.parametrize("length", ["169h", "3e9s", "1e300s"])
def test_a_duration_that_is_too_long_for_postgresql_is_rejected(length: str) -> None:
    with pytest.raises(ConfigurationError, match="expected a duration of at most 168h"):
        settings_from(["--scrape.timeout", length], {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\n", "exporter.yml: not valid YAML at line 2, column 1"),
        ("a: \x07\n", "exporter.yml: not valid YAML"),
        ("- dsn\n", "exporter.yml: expected settings such as dsn_file: …"),
        ("targets: 3", "exporter.yml: targets: expected NAME: {dsn_file: PATH}"),
        ("dsn: 3", "exporter.yml: dsn: expected text"),
        ("dsn_file: ''", "exporter.yml: dsn_file: expected a path"),
        (
            "log: {level: info}\nlog: {format: json}",
            "exporter.yml: the same key a second time at line 2, column 1",
        ),
        (
            "targets:\n  shop: {dsn: a}\n  shop: {dsn: b}",
            "exporter.yml: the same key a second time at line 3, column 3",
        ),
        ("? [a]\n: 1", "exporter.yml: not valid YAML at line 1, column 3"),
        ("log: info", "exporter.yml: log: expected settings such as level"),
        ("3: 1", "exporter.yml: a key is not the name of a setting"),
    ],
)
def test_a_file_that_is_not_a_configuration_is_rejected(
    text: str, message: str, tmp_path: Path
) -> None:
    assert problems(text, tmp_path) == [message]


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        settings_from(["--config.file", "/none.yml"], {})


def test_two_places_for_one_secret_are_rejected() -> None:
    environment = {"PGVERDICT_DSN": "", "PGVERDICT_DSN_FILE": "/x"}

    with pytest.raises(ConfigurationError, match="both are set"):
        settings_from([], environment)


def test_named_targets_alone_leave_the_telemetry_path_without_a_server(
    tmp_path: Path,
) -> None:
    settings = loaded("targets: {orders: {dsn: host=a}}", tmp_path)

    assert settings.dsn is None
    assert settings.targets["orders"]() == "host=a"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (":9719", ("", 9719)),
        ("localhost:0", ("localhost", 0)),
        ("[::1]:80", ("::1", 80)),
        ("0.0.0.0:65535", ("0.0.0.0", 65535)),  # noqa: S104
    ],
)
def test_addresses_are_written_as_in_other_exporters(
    text: str, address: tuple[str, int]
) -> None:
    settings = settings_from(["--web.listen-address", text], {})

    assert settings.web_listen_address == address


@pytest.mark.parametrize("text", ["9719", "::1:9719", ":70000", ":http", "localhost"])
def test_what_is_not_an_address_is_rejected(text: str) -> None:
    with pytest.raises(ConfigurationError, match="listen-address: expected"):
        settings_from(["--web.listen-address", text], {})


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("500ms", 0.5), ("2m", 120), ("1h", 3600), ("1.5s", 1.5)],
)
def test_durations_have_units(text: str, seconds: float) -> None:
    assert settings_from(["--scrape.timeout", text], {}).scrape_timeout == seconds


@pytest.mark.parametrize("text", ["30", "0.5", "0", "3e9"])
def test_a_duration_without_a_unit_is_rejected(text: str, tmp_path: Path) -> None:
    message = "the unit is missing; expected a duration such as 10s or 500ms"

    by_flag = problems("", tmp_path, "--scrape.timeout", text)
    by_file = problems(f"texts: {{timeout: {text}}}", tmp_path)

    assert by_flag == [f"--scrape.timeout: {message}, got {text!r}"]
    assert by_file[0].startswith(f"exporter.yml: texts.timeout: {message}, got ")


@pytest.mark.parametrize("text", ["0s", "-1s", "inf", "nan", "nans", "", "1d", "true"])
def test_what_is_not_a_duration_is_rejected(text: str) -> None:
    with pytest.raises(ConfigurationError, match="timeout: expected a duration such"):
        settings_from([f"--scrape.timeout={text}"], {})


PROGRAM = """
import sys
from exporter.settings.load import load

settings = load({"dsn": "host=a"}, {}, None, parses=lambda text: True)
assert settings.dsn() == "host=a"
assert settings.texts_interval == 60
print(sorted({"psycopg", "cheroot", "bcrypt", "pglast"} & set(sys.modules)))
"""


def test_settings_are_read_without_driver_parser_or_web_server() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )

    assert ended.stdout == "[]\n"
