"""The configuration file: defaults that work, and secrets that stay secret."""

from __future__ import annotations

import pytest

from evaluator.errors import ConfigurationError
from evaluator.model import Settings
from evaluator.settings.schema import Config, load
from evaluator.settings.secrets import secret
from evaluator.sources.profiles import PROFILES

SMALLEST = "prometheus: {url: 'http://localhost:9090'}"


@pytest.fixture
def read(tmp_path):
    def read(text: str) -> Config:
        path = tmp_path / "evaluator.yml"
        path.write_text(text, encoding="utf-8")
        return load(path)

    return read


def problems(read, text):
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    return [line.partition("evaluator.yml: ")[2] for line in caught.value.problems]


def test_an_address_of_prometheus_is_enough(read):
    config = read(SMALLEST)

    assert config.engine.settings() == Settings()
    assert config.prometheus.names == PROFILES["pgverdict"]
    assert config.matchers[0].tags == ("deploy",)
    assert config.grafana is None


def test_durations_are_written_as_prometheus_writes_them(read):
    config = read(SMALLEST + "\nengine: {window: 45m, max_gap: 120s}")

    assert config.engine.settings().window == 2700
    assert config.engine.settings().max_gap == 120


def test_a_duration_without_a_unit_is_refused_with_the_one_that_was_meant(read):
    assert problems(read, SMALLEST + "\nengine: {window: 30}") == [
        "engine.window: expected a duration with a unit such as 30m or 90s, got '30'; "
        "did you mean 30s?"
    ]


def test_three_mistakes_are_reported_at_once(read):
    assert problems(
        read, "prometheus: {profile: pgverdit}\nengine: {treshold: 0.3, alpha: 5 %}"
    ) == [
        "prometheus.url: missing; for example http://localhost:9090",
        'engine.treshold: unknown setting; did you mean "threshold"?',
        "engine.alpha: expected a fraction between 0 and 1 such as 0.05, got '5 %'",
    ]


def test_a_section_that_is_there_twice_is_refused(read):
    (problem,) = problems(read, f"{SMALLEST}\nservices: {{a: b}}\nservices: {{c: d}}")

    assert problem == "is not valid YAML: line 3: services is there twice"


def test_a_metric_that_is_not_a_name_and_a_bad_unit_are_reported(read):
    metrics = "metrics: {call: c, rows: 5, seconds_per_unit: ms}"

    assert problems(read, f"prometheus: {{url: 'http://p:9090', {metrics}}}") == [
        'prometheus.metrics.call: unknown setting; did you mean "calls"?',
        "prometheus.metrics.rows: expected a name, got 5.0",
        "prometheus.metrics.seconds_per_unit: expected a number such as 0.001 for "
        "milliseconds, got 'ms'",
    ]


def test_a_metric_name_replaces_the_profiles(read):
    config = read(
        "prometheus:\n  url: http://p:9090\n  profile: postgres_exporter\n"
        "  metrics: {calls: my_calls_total, seconds_per_unit: 0.001}"
    )

    assert config.prometheus.names.calls == "my_calls_total"
    assert config.prometheus.names.seconds_per_unit == 0.001
    assert config.prometheus.names.user == PROFILES["postgres_exporter"].user


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ("profile: nagios", "prometheus.profile: unknown profile 'nagios'; known are"),
        (
            "metrics: {call: x}",
            "prometheus.metrics.call: unknown setting; did you mean",
        ),
        ("url: localhost:9090", "prometheus.url: expected an http:// or https://"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(read, section, problem):
    text = f"prometheus:\n  url: http://p\n  {section}"
    if section.startswith("url"):
        text = f"prometheus:\n  {section}"

    assert problems(read, text)[0].startswith(problem)


def test_a_bad_pattern_is_reported_with_its_place(read):
    (problem,) = problems(read, SMALLEST + "\ndeploys: [{tag_patterns: ['(']}]")

    assert problem.startswith("deploys[0].")


def test_services_choose_their_own_series(read):
    config = read(
        "prometheus: {url: 'http://p', selector: 'job=\"pg\"'}\n"
        "services: {shop: 'cluster=\"shop\"'}"
    )

    assert config.selector_for("shop") == 'cluster="shop"'
    assert config.selector_for("other") == 'job="pg"'


def test_invalid_yaml_is_reported_with_its_line(read):
    (problem,) = problems(read, "prometheus:\n  url: [")

    assert problem.startswith("is not valid YAML: line 2")


def test_a_missing_file_is_reported_by_its_name(tmp_path):
    with pytest.raises(ConfigurationError, match=r"nowhere.yml: cannot be read"):
        load(tmp_path / "nowhere.yml")


def test_a_secret_may_stand_in_a_file_or_the_environment(tmp_path):
    file = tmp_path / "token"
    file.write_text("s3cret\n")

    assert secret("X", str(file), {}) == "s3cret"
    assert secret("X", "", {"X_FILE": str(file)}) == "s3cret"
    assert secret("X", "", {"X": "s3cret"}) == "s3cret"
    assert secret("X", "", {}) == ""


@pytest.mark.parametrize("content", [b"", b"  \n", b"s3cret\xff"])
def test_a_secret_that_cannot_be_used_is_never_shown(tmp_path, content):
    file = tmp_path / "token"
    file.write_bytes(content)

    with pytest.raises(ConfigurationError) as caught:
        secret("X", str(file), {}, setting="grafana.token_file")

    assert str(caught.value).startswith("grafana.token_file: ")
    assert "s3cret" not in str(caught.value)


def test_a_token_in_the_file_itself_is_refused_without_repeating_it(read):
    (problem,) = problems(read, "prometheus: {url: 'http://p', token: s3cret}")

    assert problem == 'prometheus.token: unknown setting; did you mean "token_file"?'


def test_a_server_may_be_named_by_several_labels(read):
    metrics = "metrics: {instance: [cluster, instance]}"

    names = read(f"prometheus: {{url: 'http://p:9090', {metrics}}}").prometheus.names

    assert names.server_labels == ("cluster", "instance")
    assert names.server({"cluster": "eu", "instance": "db1:1"}) == "eu/db1:1"


@pytest.mark.parametrize("labels", ["[]", "['']", "[a, a]"])
def test_labels_that_cannot_name_a_server_are_reported(labels, read):
    metrics = f"metrics: {{instance: {labels}}}"

    (problem,) = problems(read, f"prometheus: {{url: 'http://p:9090', {metrics}}}")

    assert "a list of different ones such as [cluster, instance]" in problem


def test_a_list_of_names_is_for_the_server_only(read):
    metrics = "metrics: {calls: [a, b]}"

    (problem,) = problems(read, f"prometheus: {{url: 'http://p:9090', {metrics}}}")

    assert problem.startswith("prometheus.metrics.calls: expected a name")
