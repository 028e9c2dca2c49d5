"""Every way a server, a network or a client can fail: in time, and mended by itself."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import psycopg
import pytest
import requests

from lab.postgres import Postgres
from lab.process import free_port, wait_until

from .builders import Series, samples, series
from .exporting import PG_UP, Exporter, exporting, reasons, statement_series
from .proxy import Proxy
from .workload import MONITOR, PASSWORD

pytestmark = pytest.mark.servers

SHORT = 1.5
ENTRIES = series("pg_stat_statements_entries")


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with Postgres("17") as running:
        running.execute(f"CREATE ROLE {MONITOR} LOGIN PASSWORD '{PASSWORD}'")
        running.execute(f"GRANT pg_read_all_stats TO {MONITOR}")
        yield running


@pytest.fixture
def exporter(server: Postgres) -> Iterator[Exporter]:
    with exporting(server.dsn) as running:
        assert_complete(running.scrape())
        yield running


def assert_complete(found: dict[Series, float]) -> None:
    assert reasons(found) == set()
    assert found[PG_UP] == 1
    assert statement_series(found)


def assert_down(found: dict[Series, float], reason: str) -> None:
    assert reasons(found) == {reason}
    assert found[PG_UP] == 0
    assert not statement_series(found)


def connections(server: Postgres) -> int:
    ((number,),) = server.execute(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE application_name = 'pgverdict_exporter'"
    )
    return int(number)


def test_a_server_that_stops_and_starts(server: Postgres, exporter: Exporter) -> None:
    server.stop()
    stopped = exporter.scrape()
    server.start()

    assert_down(stopped, "unreachable")
    assert_complete(exporter.scrape())


def test_a_server_that_crashes(server: Postgres, exporter: Exporter) -> None:
    server.kill()
    crashed = exporter.scrape()
    server.start()

    assert_down(crashed, "unreachable")
    assert_complete(exporter.scrape())


def test_a_server_that_restarts_between_two_scrapes_costs_none(
    server: Postgres, exporter: Exporter
) -> None:
    server.restart()

    assert_complete(exporter.scrape())


def test_a_server_that_starts_after_the_exporter() -> None:
    late = Postgres("17", port=free_port())
    with exporting(f"{late.dsn} connect_timeout=2") as exporter:
        before = exporter.scrape()
        with late:
            assert_down(before, "unreachable")
            assert_complete(exporter.scrape())


def test_a_frozen_server(server: Postgres, exporter: Exporter) -> None:
    server.freeze()
    try:
        frozen = [exporter.scrape(timeout=SHORT) for _ in range(3)]
    finally:
        server.thaw()

    for found in frozen:
        assert_down(found, "timeout")
    recovers(exporter)
    assert connections(server) == 1


def test_a_server_that_is_frozen_from_the_start(server: Postgres) -> None:
    with exporting(server.dsn) as exporter:
        server.freeze()
        try:
            frozen = exporter.scrape(timeout=SHORT)
        finally:
            server.thaw()

        assert_down(frozen, "timeout")
        recovers(exporter)


def recovers(exporter: Exporter) -> None:
    """Within the seconds that libpq may still wait for a connection begun before."""
    wait_until(
        lambda: exporter.scrape()[PG_UP] == 1, seconds=10, what="the exporter recovers"
    )
    assert_complete(exporter.scrape())


def test_a_backend_that_is_killed(server: Postgres, exporter: Exporter) -> None:
    killed = server.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE application_name = 'pgverdict_exporter'"
    )

    assert killed == [(True,)]
    assert_complete(exporter.scrape())


def test_an_extension_dropped_and_created_again(
    server: Postgres, exporter: Exporter
) -> None:
    server.execute("DROP EXTENSION pg_stat_statements")
    dropped = exporter.scrape()
    server.execute('CREATE SCHEMA "odd \'schema"')
    server.execute('CREATE EXTENSION pg_stat_statements SCHEMA "odd \'schema"')
    elsewhere = exporter.scrape()
    server.execute("ALTER EXTENSION pg_stat_statements SET SCHEMA public")

    assert reasons(dropped) == {"extension_missing"}
    assert dropped[PG_UP] == 1
    assert not statement_series(dropped)
    assert_complete(elsewhere)
    assert_complete(exporter.scrape())


def test_an_extension_that_is_updated_while_we_are_connected() -> None:
    with Postgres("17", extension=False) as server:
        server.execute("CREATE EXTENSION pg_stat_statements VERSION '1.8'")
        with exporting(server.dsn) as exporter:
            old = exporter.scrape()
            server.execute("ALTER EXTENSION pg_stat_statements UPDATE")
            new = exporter.scrape()

    assert not [labels for _, labels in statement_series(old) if len(labels) == 4]
    assert {len(labels) for _, labels in statement_series(new)} == {4}


def test_a_library_that_is_not_preloaded() -> None:
    with (
        Postgres("17", settings={"shared_preload_libraries": ""}) as server,
        exporting(server.dsn) as exporter,
    ):
        found = exporter.scrape()

    assert reasons(found) == {"not_preloaded"}
    assert found[PG_UP] == 1


@contextmanager
def as_monitor(server: Postgres) -> Iterator[Exporter]:
    dsn = server.dsn_for(user=MONITOR, password=PASSWORD)
    with exporting(dsn) as exporter:
        assert_complete(exporter.scrape())
        yield exporter
        assert_complete(exporter.scrape())


@pytest.mark.parametrize(
    ("take", "give"),
    [
        (
            f"REVOKE pg_read_all_stats FROM {MONITOR}",
            f"GRANT pg_read_all_stats TO {MONITOR}",
        ),
        (
            f"GRANT pg_read_all_stats TO {MONITOR} WITH INHERIT FALSE",
            f"GRANT pg_read_all_stats TO {MONITOR} WITH INHERIT TRUE",
        ),
    ],
    ids=["revoked", "not inherited"],
)
def test_a_privilege_taken_and_given_back(
    server: Postgres, take: str, give: str
) -> None:
    with as_monitor(server) as exporter:
        server.execute(take)
        without = exporter.scrape()
        ready = exporter.get("/-/ready")
        server.execute(give)

    users = {dict(labels)["user"] for _, labels in statement_series(without)}
    skipped = {
        dict(labels)["reason"]: value
        for (name, labels), value in without.items()
        if name == "pgverdict_exporter_statements_skipped"
    }
    assert reasons(without) == {"privilege_missing"}
    assert users <= {MONITOR}
    shown = sum(name == "pg_stat_statements_calls_total" for name, _ in without)
    assert skipped["no_privilege"] > 0
    assert shown + sum(skipped.values()) == without[ENTRIES]
    assert ready.status_code == 503


def test_a_function_that_may_not_be_called(server: Postgres) -> None:
    with as_monitor(server) as exporter:
        function = "FUNCTION pg_stat_statements(boolean)"
        server.execute(f"REVOKE EXECUTE ON {function} FROM PUBLIC")
        without = exporter.scrape()
        server.execute(f"GRANT EXECUTE ON {function} TO PUBLIC")

    assert reasons(without) == {"permission_denied"}
    assert without[PG_UP] == 1


def test_a_server_without_a_free_connection() -> None:
    settings = {"max_connections": "6", "superuser_reserved_connections": "2"}
    with Postgres("17", settings=settings) as server:
        server.execute(f"CREATE ROLE {MONITOR} LOGIN PASSWORD '{PASSWORD}'")
        server.execute(f"GRANT pg_read_all_stats TO {MONITOR}")
        dsn = server.dsn_for(user=MONITOR, password=PASSWORD)
        with exporting(dsn) as exporter:
            with full(dsn):
                found = exporter.scrape()

            assert_down(found, "too_many_connections")
            recovers(exporter)


@contextmanager
def full(dsn: str) -> Iterator[None]:
    """Take connections until there are no more."""
    taken = []
    with suppress(psycopg.OperationalError):
        while True:
            taken.append(psycopg.connect(dsn))
    yield
    for connection in taken:
        connection.close()


@pytest.mark.parametrize(
    "wrong",
    [{"password": "wrong"}, {"user": "nobody"}, {"database": "nowhere"}],
    ids=str,
)
def test_a_login_that_is_refused(server: Postgres, wrong: dict[str, str]) -> None:
    with exporting(server.dsn_for(**wrong)) as exporter:
        assert_down(exporter.scrape(), "rejected")


def test_a_port_that_accepts_and_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with exporting(f"host=127.0.0.1 port={port} user=a") as exporter:
            found = [exporter.scrape(timeout=SHORT) for _ in range(2)]

    for each in found:
        assert_down(each, "timeout")


def test_a_port_that_nobody_listens_on() -> None:
    with exporting(f"host=127.0.0.1 port={free_port()} user=a") as exporter:
        assert_down(exporter.scrape(timeout=SHORT), "unreachable")


@pytest.mark.parametrize("number", [0, 1, 300, 700, 2000])
def test_a_connection_cut_in_the_middle_of_a_read(
    server: Postgres, number: int
) -> None:
    with Proxy(server.port) as proxy, exporting(proxy.dsn) as exporter:
        assert_complete(exporter.scrape())
        proxy.cut_after(number)
        cut = exporter.scrape()
        proxy.flow()

        # Cut once more on the new connection, there is no third try.
        assert_down(cut, "unreachable")
        assert_complete(exporter.scrape())


def test_a_network_that_drops_everything(server: Postgres) -> None:
    with Proxy(server.port) as proxy, exporting(proxy.dsn) as exporter:
        assert_complete(exporter.scrape())
        proxy.stall()
        stalled = [exporter.scrape(timeout=SHORT) for _ in range(2)]
        proxy.flow()

        for found in stalled:
            assert_down(found, "timeout")
        recovers(exporter)


def test_a_lock_that_is_held_for_long(server: Postgres, exporter: Exporter) -> None:
    with psycopg.connect(server.dsn) as other:
        other.execute("LOCK TABLE pg_stat_statements_info")
        locked = exporter.scrape(timeout=SHORT)

    assert_down(locked, "timeout")
    assert_complete(exporter.scrape())


def test_two_hundred_scrapes_at_once_share_one_connection(
    server: Postgres, exporter: Exporter
) -> None:
    with ThreadPoolExecutor(200) as pool:
        replies = list(pool.map(lambda _: exporter.get(), range(200)))

    assert {reply.status_code for reply in replies} == {200}
    for text in {reply.text for reply in replies}:
        assert_complete(samples(text))
    assert connections(server) == 1


def test_scrapes_texts_and_plans_share_one_connection(server: Postgres) -> None:
    often = ("--texts.interval=10ms", "--plans.enabled=true", "--plans.interval=10ms")
    most = 0

    with exporting(server.dsn, "--texts.enabled=true", *often) as exporter:
        with ThreadPoolExecutor(4) as pool:
            scraping = [pool.submit(exporter.scrape) for _ in range(60)]
            while not all(future.done() for future in scraping):
                most = max(most, connections(server))
        found = [future.result() for future in scraping]

    assert {scraped[PG_UP] for scraped in found} == {1}
    assert most == 1


def test_scrapes_of_a_frozen_server_do_not_pile_up(
    server: Postgres, exporter: Exporter
) -> None:
    server.freeze()
    try:
        with ThreadPoolExecutor(8) as pool:
            frozen = list(pool.map(lambda _: exporter.scrape(timeout=SHORT), range(8)))
        healthy = exporter.get("/-/healthy")
    finally:
        server.thaw()

    assert healthy.status_code == 200
    for found in frozen:
        assert_down(found, "timeout")
    recovers(exporter)
    assert connections(server) == 1


def test_a_client_that_goes_away(exporter: Exporter) -> None:
    host, port = exporter.url.removeprefix("http://").split(":")
    for _ in range(30):
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")

    assert_complete(exporter.scrape())


def test_a_client_that_never_finishes_its_request(exporter: Exporter) -> None:
    host, port = exporter.url.removeprefix("http://").split(":")
    slow = [socket.create_connection((host, int(port))) for _ in range(10)]
    for client in slow:
        client.sendall(b"GET /metrics HTT")

    assert_complete(exporter.scrape())
    for client in slow:
        client.close()


@contextmanager
def program(dsn: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The real program in a process of its own, and its address."""
    command = [sys.executable, "-m", "exporter", "--web.listen-address=127.0.0.1:0"]
    environment = {**os.environ, "PGVERDICT_DSN": dsn}
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            yield process, f"http://{line.rpartition('address=')[2].strip()}"
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(server: Postgres, number: signal.Signals) -> None:
    with program(server.dsn) as (process, address):
        assert_complete(samples(requests.get(f"{address}/metrics", timeout=10).text))
        process.send_signal(number)

        assert process.wait(timeout=10) == 0
    assert connections(server) == 0


def test_a_signal_during_a_scrape_lets_it_end(server: Postgres) -> None:
    with program(server.dsn) as (process, address):
        requests.get(f"{address}/metrics", timeout=10)
        server.freeze()
        try:
            with ThreadPoolExecutor(1) as pool:
                scrape = pool.submit(requests.get, f"{address}/metrics", timeout=20)
                time.sleep(0.3)
                process.send_signal(signal.SIGTERM)
                code = process.wait(timeout=10)
        finally:
            server.thaw()

    assert code == 0
    assert_down(samples(scrape.result().text), "timeout")
