"""Pages taken one after the other are dated as if scrapes had been 15 s apart."""

from __future__ import annotations

import time

from lab.faults import Fault, FaultServer
from lab.process import free_port
from lab.timelapse import STEP, Scrapes, openmetrics, with_milliseconds

END = 1_790_000_000.0


def page(text: str) -> Fault:
    return Fault(200, text.encode())


def test_each_page_is_dated_and_each_series_has_the_labels_of_its_target() -> None:
    first = '# TYPE a counter\na_total{x="1"} 1\nb 2.5\n# EOF\n'
    with FaultServer(page(first), page('a_total{x="1"} 3\n')) as server:
        scrapes = Scrapes("shop", server.url, {"instance": "db1"})
        for _ in range(2):
            scrapes.take()

    labels = 'job="shop",instance="db1"'
    assert openmetrics([scrapes], END).splitlines() == [
        f"up{{{labels}}} 1 1789999985.000",
        f"up{{{labels}}} 1 1790000000.000",
        f'a_total{{{labels},x="1"}} 1 1789999985.000',
        f'a_total{{{labels},x="1"}} 3 1790000000.000',
        f"b{{{labels}}} 2.5 1789999985.000",
        "# EOF",
    ]
    assert with_milliseconds([scrapes], END).splitlines()[-1] == (
        f"b{{{labels}}} 2.5 1789999985000"
    )


def test_where_nobody_answers_only_that_is_known() -> None:
    scrapes = Scrapes("gone", f"http://127.0.0.1:{free_port()}/metrics")

    assert scrapes.take() == ""
    assert list(scrapes.samples(END)) == [
        ('up{job="gone",instance="gone"}', "0", END),
    ]


def test_a_moment_lies_between_the_same_pages_as_it_really_did() -> None:
    name = "pg_stat_statements_stats_since_seconds"
    began = time.time() - 5.0
    with FaultServer() as server:
        scrapes = Scrapes("shop", server.url)
        server.faults.append(page(f"{name} {began!r}\n"))
        scrapes.take()
        between = time.time()
        for _ in range(2):
            server.faults.append(page(f"{name} {between!r}\n"))
            scrapes.take()

    first, *later = [
        float(value)
        for series, value, _ in scrapes.samples(END)
        if series.startswith(name)
    ]
    oldest = END - 2 * STEP  # the time of the first page, which was taken by *between*
    assert oldest - (between - began) <= first <= oldest - 5.0 + 1e-3
    assert END - 2 * STEP < later[0] < END - STEP
    assert later[0] == later[1], "the same moment on each page"
