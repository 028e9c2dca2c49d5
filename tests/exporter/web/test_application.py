"""The application, with a target that answers from memory."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from exporter.metrics.exposition import Family, single
from exporter.scrape import Scrape
from exporter.target import Target
from exporter.values.problems import EXTENSION_MISSING, Problem
from exporter.values.snapshot import Snapshot

from ..builders import samples, series
from ..http import OPENMETRICS, PROMETHEUS, application, get


class RememberedTarget(Target):
    """A target without a server."""

    def __init__(self, *problems: Problem, up: bool = True) -> None:
        self.name = "default"
        self.snapshot = Snapshot(up=up, problems=problems)
        self.rendered = 0
        self.seconds: list[float] = []

    def scrape(self, deadline: float) -> Scrape:
        self.seconds.append(deadline - time.monotonic())
        return Scrape(self.snapshot, self.families)

    def families(self) -> Iterator[Family]:
        self.rendered += 1
        yield single("gauge", "pg_up", "", int(self.snapshot.up))


def test_the_metrics_show_the_server_and_the_exporter_itself() -> None:
    reply = get(application(RememberedTarget()), "/metrics")

    shown = samples(reply.text)
    assert reply.status == "200 OK"
    assert shown[series("pg_up")] == 1
    scrapes = series("pgverdict_exporter_scrapes_total", target="default", up="true")
    assert shown[scrapes] == 1
    assert [name for name, _ in shown if name == "pgverdict_exporter_build_info"]


def test_a_compressed_page_has_a_content_length() -> None:
    reply = get(application(RememberedTarget()), "/metrics", accept_encoding="gzip")

    assert reply.headers["Content-Length"] == str(len(reply.body))


def test_pages_are_compressed_on_request() -> None:
    app = application(RememberedTarget())

    compressed = get(app, "/metrics", accept_encoding="gzip")
    plain = get(app, "/metrics")

    assert compressed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert "pg_up 1" in compressed.text
    assert "pg_up 1" in plain.text


def test_a_client_that_prefers_openmetrics_gets_it() -> None:
    app = application(RememberedTarget())

    openmetrics = get(app, "/metrics", accept=PROMETHEUS)
    text = get(app, "/metrics", accept="text/plain")

    assert openmetrics.headers["Content-Type"].startswith(OPENMETRICS.partition(";")[0])
    assert openmetrics.text.endswith("# EOF\n")
    assert samples(openmetrics.text)[series("pg_up")] == 1
    assert text.headers["Content-Type"].startswith("text/plain; version=0.0.4")


def test_the_clients_timeout_reaches_the_read() -> None:
    target = RememberedTarget()

    get(
        application(target, offset=0.5),
        "/metrics",
        x_prometheus_scrape_timeout_seconds="3",
    )

    assert math.isclose(target.seconds[0], 2.5, abs_tol=0.2)


def test_the_telemetry_path_can_be_moved() -> None:
    app = application(RememberedTarget(), path="/pg")

    assert get(app, "/pg").status == "200 OK"
    assert get(app, "/metrics").status == "404 Not Found"


def test_the_landing_page_leads_to_the_metrics() -> None:
    reply = get(application(RememberedTarget(), path="/p'><b>"), "/")

    assert reply.headers["Content-Type"].startswith("text/html")
    assert "<b>" not in reply.text
    assert "pgverdict exporter" in reply.text


def test_health_does_not_depend_on_the_server() -> None:
    target = RememberedTarget(up=False)

    assert get(application(target), "/-/healthy").status == "200 OK"
    assert target.seconds == []


def test_ready_shows_why_a_scrape_would_be_incomplete() -> None:
    ready = get(application(RememberedTarget()), "/-/ready")
    missing = get(application(RememberedTarget(EXTENSION_MISSING)), "/-/ready")

    assert ready.status == "200 OK"
    assert missing.status == "503 Service Unavailable"
    assert missing.text.startswith("extension_missing: ")


def test_only_get_and_head_are_allowed() -> None:
    reply = get(application(RememberedTarget()), "/metrics", method="POST")

    assert reply.status == "405 Method Not Allowed"
    assert reply.headers["Allow"] == "GET, HEAD"


def test_head_answers_without_a_body() -> None:
    reply = get(application(RememberedTarget()), "/metrics", method="HEAD")

    assert reply.body == b""
    assert reply.status == "200 OK"


def test_an_internal_error_is_a_500_without_details() -> None:
    class Broken(RememberedTarget):
        def families(self) -> Iterator[Family]:
            raise LookupError("password=secret")

    reply = get(application(Broken()), "/metrics", accept_encoding="gzip")

    assert reply.status == "500 Internal Server Error"
    assert reply.text == "see the log\n"


def test_a_compressed_page_is_made_once_for_all_clients_of_a_scrape() -> None:
    target = RememberedTarget()
    scrape = target.scrape(0)

    pages = [scrape.compressed(openmetrics=False) for _ in range(5)]

    assert len(set(pages)) == 1
    assert target.rendered == 1


def test_a_plain_page_is_made_piece_by_piece() -> None:
    scrape = RememberedTarget().scrape(0)

    pieces = scrape.plain(openmetrics=True)

    assert next(pieces).startswith(b"# HELP pg_up")
    assert list(pieces) == [b"# EOF\n"]
