"""The application, with a target that answers from memory."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.exposition import Family, single
from exporter.problems import EXTENSION_MISSING, Problem
from exporter.scrape import Scrape
from exporter.snapshot import Snapshot
from exporter.target import Target
from exporter.web import Application, budget, wants_gzip, wants_openmetrics

from .builders import samples, series
from .http import get

OPENMETRICS = "application/openmetrics-text;version=1.0.0"
# What Prometheus 2.42 sends.
PROMETHEUS = (
    f"{OPENMETRICS},application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)


class Remembered(Target):
    """A target without a server."""

    def __init__(self, *problems: Problem, up: bool = True) -> None:
        self.name = "default"
        self.snapshot = Snapshot(up=up, problems=problems)
        self.rendered = 0
        self.budgets: list[float] = []

    def scrape(self, deadline: float) -> Scrape:
        self.budgets.append(deadline - time.monotonic())
        return Scrape(self.snapshot, self.families)

    def families(self) -> Iterator[Family]:
        self.rendered += 1
        yield single("gauge", "pg_up", "", int(self.snapshot.up))


def test_metrics_hold_the_server_and_the_exporter_itself() -> None:
    reply = get(Application(Remembered()), "/metrics")

    found = samples(reply.text)
    assert reply.status == "200 OK"
    assert found[series("pg_up")] == 1
    scrapes = series("pgverdict_exporter_scrapes_total", target="default", up="true")
    assert found[scrapes] == 1
    assert [name for name, _ in found if name == "pgverdict_exporter_build_info"]


def test_the_length_of_a_packed_page_is_told() -> None:
    reply = get(Application(Remembered()), "/metrics", accept_encoding="gzip")

    assert reply.headers["Content-Length"] == str(len(reply.body))


def test_pages_are_packed_for_who_asks() -> None:
    application = Application(Remembered())

    packed = get(application, "/metrics", accept_encoding="gzip")
    plain = get(application, "/metrics")

    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert "pg_up 1" in packed.text
    assert "pg_up 1" in plain.text


def test_openmetrics_is_spoken_with_who_prefers_it() -> None:
    application = Application(Remembered())

    openmetrics = get(application, "/metrics", accept=PROMETHEUS)
    text = get(application, "/metrics", accept="text/plain")

    assert openmetrics.headers["Content-Type"].startswith(OPENMETRICS.partition(";")[0])
    assert openmetrics.text.endswith("# EOF\n")
    assert samples(openmetrics.text)[series("pg_up")] == 1
    assert text.headers["Content-Type"].startswith("text/plain; version=0.0.4")


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        (PROMETHEUS, True),
        ("application/openmetrics-text", True),
        ("application/openmetrics-text;version=0.0.1", False),
        ("text/plain;version=0.0.4;q=1,application/openmetrics-text;q=0.5", False),
        ("application/openmetrics-text;q=0", False),
        ("application/openmetrics-text;q=often", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_the_client_chooses_the_format(header: str, wanted: bool) -> None:
    assert wants_openmetrics(header) == wanted


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("gzip", True),
        ("deflate, gzip;q=0.5", True),
        ("GZIP", True),
        ("gzip;q=0", False),
        ("identity", False),
        ("", False),
    ],
)
def test_the_client_chooses_the_packing(header: str, wanted: bool) -> None:
    assert wants_gzip(header) == wanted


@given(header=st.text())
def test_no_header_breaks_the_choice(header: str) -> None:
    assert wants_gzip(header) in (True, False)
    assert wants_openmetrics(header) in (True, False)


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ("10", 9.5),
        ("1.5", 1.0),
        ("1", 0.5),
        ("0.2", 0.1),
        ("", 7),
        ("soon", 7),
        ("nan", 7),
        ("inf", 7),
        ("-3", 7),
        ("0", 7),
    ],
)
def test_the_budget_is_what_prometheus_waits_less_an_offset(
    asked: str, seconds: float
) -> None:
    assert budget(asked, patience=7, offset=0.5) == seconds


@pytest.mark.parametrize("asked", ["301", "86400", "3e6", "1e300"])
@pytest.mark.parametrize(("patience", "most"), [(10, 300), (600, 600)])
def test_no_client_makes_others_wait_for_hours(
    asked: str, patience: float, most: float
) -> None:
    assert budget(asked, patience=patience, offset=0.5) <= most


@given(timeout=st.floats(0.001, 3600), offset=st.floats(0.001, 10))
def test_the_budget_is_positive_and_shorter_than_the_timeout(
    timeout: float, offset: float
) -> None:
    assert 0 < budget(str(timeout), patience=10, offset=offset) < timeout


def test_the_header_reaches_the_read() -> None:
    target = Remembered()

    get(
        Application(target, offset=0.5),
        "/metrics",
        x_prometheus_scrape_timeout_seconds="3",
    )

    assert math.isclose(target.budgets[0], 2.5, abs_tol=0.2)


def test_the_telemetry_path_can_be_moved() -> None:
    application = Application(Remembered(), path="/pg")

    assert get(application, "/pg").status == "200 OK"
    assert get(application, "/metrics").status == "404 Not Found"


def test_the_landing_page_leads_to_the_metrics() -> None:
    reply = get(Application(Remembered(), path="/p'><b>"), "/")

    assert reply.headers["Content-Type"].startswith("text/html")
    assert "<b>" not in reply.text
    assert "pgverdict exporter" in reply.text


def test_health_does_not_ask_the_server() -> None:
    target = Remembered(up=False)

    assert get(Application(target), "/-/healthy").status == "200 OK"
    assert target.budgets == []


def test_ready_says_what_keeps_a_scrape_from_telling_everything() -> None:
    ready = get(Application(Remembered()), "/-/ready")
    missing = get(Application(Remembered(EXTENSION_MISSING)), "/-/ready")

    assert ready.status == "200 OK"
    assert missing.status == "503 Service Unavailable"
    assert missing.text.startswith("extension_missing: ")


def test_only_reading_is_allowed() -> None:
    reply = get(Application(Remembered()), "/metrics", method="POST")

    assert reply.status == "405 Method Not Allowed"
    assert reply.headers["Allow"] == "GET, HEAD"


def test_head_answers_without_a_body() -> None:
    reply = get(Application(Remembered()), "/metrics", method="HEAD")

    assert reply.body == b""
    assert reply.status == "200 OK"


def test_a_failure_of_ours_is_a_500_without_details() -> None:
    class Broken(Remembered):
        def families(self) -> Iterator[Family]:
            raise LookupError("password=secret")

    reply = get(Application(Broken()), "/metrics", accept_encoding="gzip")

    assert reply.status == "500 Internal Server Error"
    assert reply.text == "see the log\n"


def test_a_packed_page_is_made_once_for_all_who_share_the_scrape() -> None:
    target = Remembered()
    scrape = target.scrape(0)

    pages = [scrape.packed(openmetrics=False) for _ in range(5)]

    assert len(set(pages)) == 1
    assert target.rendered == 1


def test_a_plain_page_is_never_held_whole() -> None:
    scrape = Remembered().scrape(0)

    pieces = scrape.plain(openmetrics=True)

    assert next(pieces).startswith(b"# HELP pg_up")
    assert list(pieces) == [b"# EOF\n"]
