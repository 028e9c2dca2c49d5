"""Request headers, as Prometheus and others send them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.web.headers import seconds_for_scrape, wants_gzip, wants_openmetrics

from ..http import PROMETHEUS


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
def test_the_client_chooses_the_compression(header: str, wanted: bool) -> None:
    assert wants_gzip(header) == wanted


@given(header=st.text())
def test_any_header_leads_to_a_choice(header: str) -> None:
    assert wants_gzip(header) in (True, False)
    assert wants_openmetrics(header) in (True, False)


@pytest.mark.parametrize(
    ("header", "seconds"),
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
def test_a_scrape_may_take_the_timeout_of_prometheus_minus_the_offset(
    header: str, seconds: float
) -> None:
    assert seconds_for_scrape(header, default=7, offset=0.5) == seconds


@pytest.mark.parametrize("header", ["301", "86400", "3e6", "1e300"])
@pytest.mark.parametrize(("default", "most"), [(10, 300), (600, 600)])
def test_no_client_can_make_others_wait_for_hours(
    header: str, default: float, most: float
) -> None:
    assert seconds_for_scrape(header, default=default, offset=0.5) <= most


@given(timeout=st.floats(0.001, 3600), offset=st.floats(0.001, 10))
def test_the_time_is_positive_and_shorter_than_the_timeout(
    timeout: float, offset: float
) -> None:
    assert 0 < seconds_for_scrape(str(timeout), default=10, offset=offset) < timeout
