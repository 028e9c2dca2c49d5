from __future__ import annotations

from pathlib import Path

import pytest

from exporter.cli import settings_from
from exporter.errors import ConfigurationError
from exporter.settings import SETTINGS, Settings


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


def test_a_flag_wins_over_the_environment_and_that_over_the_file(
    tmp_path: Path,
) -> None:
    text = "dsn: host=file\nlog: {level: warn, format: json}\n"

    by_file = loaded(text, tmp_path)
    by_environment = loaded(text, tmp_path, PGVERDICT_DSN="host=env")
    by_flag = loaded(
        text, tmp_path, "--dsn", "host=flag", "--log.level", "error", PGVERDICT_DSN="x"
    )

    found = [s.dsn() for s in (by_file, by_environment, by_flag) if s.dsn]
    assert found == ["host=file", "host=env", "host=flag"]
    assert (by_file.log_level, by_flag.log_level) == ("warn", "error")
    assert by_flag.log_format == "json"


def test_the_connection_string_may_come_from_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "dsn"
    secret.write_text("host=secret\n", encoding="utf-8")

    settings = settings_from([], {"PGVERDICT_DSN_FILE": str(secret)})

    assert settings.dsn is not None
    assert settings.dsn() == "host=secret"


def test_all_mistakes_are_told_at_once_with_what_would_be_right(tmp_path: Path) -> None:
    text = """
    log: {levle: debug}
    statements: {counters: [calls, secnds]}
    scrape: {timeout: soon}
    web: {telemetry_path: metrics}
    txets: {enabled: true}
    targets: {orders: {dsn_flie: /x}, "two words": {}, bare: 1}
    """

    found = problems(text, tmp_path, "--texts.length", "0", "--log.fromat", "json")

    assert found == [
        'arguments: unknown flag; did you mean "--log.format"?',
        "arguments: one has no flag; a value with blanks needs quotes",
        'exporter.yml: log.levle: unknown setting; did you mean "log.level"?',
        'exporter.yml: txets: unknown setting; did you mean "texts"?',
        "exporter.yml: statements.counters: unknown counter; "
        'did you mean "seconds"?, got a list',
        "exporter.yml: scrape.timeout: expected a duration such as 10s or 500ms, "
        "got 'soon'",
        "exporter.yml: web.telemetry_path: expected a path such as /metrics, "
        "got 'metrics'",
        "--texts.length: expected a whole number from 1 on, got '0'",
        "exporter.yml: targets.orders.dsn_flie: unknown setting; "
        'did you mean "dsn_file"?',
        "exporter.yml: targets.orders.dsn, exporter.yml: targets.orders.dsn_file: "
        "give exactly one of them",
        "exporter.yml: targets: a name that is none; expected letters, digits, "
        "'-', '_' and '.', such as orders-db",
        "exporter.yml: targets.bare: expected {dsn: …} or {dsn_file: PATH}",
    ]


@pytest.mark.parametrize("path", ["/probe", "/-/ready", "/", "/a?b", "/métriques"])
def test_a_path_that_could_never_be_reached_is_refused(path: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--web\.telemetry-path: expected"):
        settings_from(["--web.telemetry-path", path], {})


@pytest.mark.parametrize("length", ["169h", "3e9", "1e300"])
def test_a_duration_that_postgresql_cannot_take_is_refused(length: str) -> None:
    with pytest.raises(ConfigurationError, match="expected a duration of at most 168h"):
        settings_from(["--scrape.timeout", length], {})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [1\n", "exporter.yml: no valid YAML at line 2, column 1"),
        ("a: \x07\n", "exporter.yml: no valid YAML"),
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
        ("? [a]\n: 1", "exporter.yml: no valid YAML at line 1, column 3"),
        ("log: info", "exporter.yml: log: expected settings such as level"),
        ("3: 1", "exporter.yml: a key that is no name of a setting"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(
    text: str, says: str, tmp_path: Path
) -> None:
    assert problems(text, tmp_path) == [says]


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        settings_from(["--config.file", "/none.yml"], {})


def test_two_places_for_one_secret_are_one_too_many() -> None:
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
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="listen-address: expected"):
        settings_from(["--web.listen-address", text], {})


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("500ms", 0.5), ("2m", 120), ("1h", 3600), ("3", 3)],
)
def test_durations_have_units(text: str, seconds: float) -> None:
    assert settings_from(["--scrape.timeout", text], {}).scrape_timeout == seconds


@pytest.mark.parametrize("text", ["0", "-1s", "inf", "nan", "", "1d", "true"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="expected a duration"):
        settings_from([f"--scrape.timeout={text}"], {})


def test_every_setting_has_its_place_and_its_default() -> None:
    assert {setting.attribute for setting in SETTINGS} == (
        set(Settings.__dataclass_fields__) - {"dsn", "targets"}
    )
