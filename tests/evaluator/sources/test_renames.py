"""A server whose instance label changed is followed as one server."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.prepare.intervals import RESET, intervals
from evaluator.model import ContextSeries, PlanSeen, QueryKey, Surroundings
from evaluator.sources.readings import join
from evaluator.sources.series.identities import identities_of
from evaluator.sources.surroundings import Found

from ..prometheus_answers import PROFILE, calls, matrix, seconds, series
from .test_matrix import decode
from .test_readings import reading


def shown(
    instance, first, last, *, queries=6, base=0, every=15.0, start=None, **labels
):
    """Calls and seconds of some queries, as one server has them from first to last.

    Args:
        base: added to the counters; start: also when the server process started.
    """
    at = np.arange(first, last + 0.1, 15.0)
    result = []
    for number in range(6):
        done = np.floor(at * (number + 1)) + base + 10
        more = {"instance": instance, "queryid": str(number), **labels}
        pairs = [(float(t), c) for t, c in zip(at, done, strict=True)]
        result += [
            calls(*((t, f"{c}") for t, c in pairs), **more),
            seconds(*((t, f"{c / 8}") for t, c in pairs), **more),
        ]
    if start is not None:
        gauge = series(PROFILE.started, *((float(t), f"{start}") for t in at))
        gauge["metric"] = {"__name__": PROFILE.started, "instance": instance}
        result.append(gauge)
    return result


def read(*parts):
    result = [one for part in parts for one in part]
    raw, _ = decode(matrix(*result))
    return join([reading(*result)], identities=identities_of(raw, PROFILE))


@pytest.mark.parametrize(
    "names",
    [
        ["db1:9187", "db1:9719"],
        ["10.0.3.4:9719", "10.0.7.7:9719"],
        ["10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1"],
        ["a", "b", "c", "d", "e"],
    ],
)
@pytest.mark.parametrize("pause", [8.0, 15.0, 120.0])
def test_a_server_that_is_renamed_is_one_server_with_its_newest_name(names, pause):
    found = read(
        *(
            shown(name, 1000.0 * place, 1000.0 * (place + 1) - pause)
            for place, name in enumerate(names)
        )
    )

    (batch,) = found.batches
    assert batch.server == names[-1]
    assert found.renamed == dict.fromkeys(names[:-1], names[-1])
    assert np.all(np.diff(batch.calls, axis=1) > 0)
    assert len(found.events) == len(names) - 1
    kinds = intervals(batch, max_gap=300.0).kinds
    assert (kinds == RESET).sum(axis=1).tolist() == [len(names) - 1] * len(batch.keys)


def test_the_interval_across_is_used_where_the_same_process_answered():
    found = read(
        shown("db1:9187", 0, 900, start=77.0), shown("db1:9719", 915, 2000, start=77.0)
    )

    (batch,) = found.batches
    assert np.all(intervals(batch, max_gap=300.0).usable)
    assert found.quality.server_changes == 0


def test_a_server_that_starts_anew_under_the_other_name_is_a_reset():
    found = read(shown("a", 0, 900), shown("b", 915, 2000, base=-900))

    (batch,) = found.batches
    assert batch.server == "b"
    assert np.count_nonzero(intervals(batch, max_gap=300.0).kinds[0] == RESET) == 1


def test_a_name_is_in_use_while_its_gauges_are_scraped():
    """One query alone may end on one server while it begins on another."""
    still = series(PROFILE.started, *((float(at), "7") for at in range(0, 2000, 15)))
    still["metric"] = {"__name__": PROFILE.started, "instance": "a"}

    found = read(shown("a", 0, 900), [still], shown("b", 915, 2000))

    assert found.renamed == {}


def test_a_long_pause_does_not_matter_where_all_counters_go_on():
    found = read(shown("a", 0, 900), shown("b", 4500, 6000))

    assert found.renamed == {"a": "b"}


def test_many_servers_renamed_at_once_keep_their_own_counters():
    bases = [0, 10**6, 10**7]
    found = read(
        *(shown(f"10.0.0.{n}:1", 0, 900, base=base) for n, base in enumerate(bases)),
        *(
            shown(f"10.0.9.{9 - n}:1", 915, 2000, base=base)
            for n, base in enumerate(bases)
        ),
    )

    assert found.renamed == {f"10.0.0.{n}:1": f"10.0.9.{9 - n}:1" for n in range(3)}
    for batch in found.batches:
        assert np.all(np.diff(batch.calls, axis=1) < 50_000)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param(
            [shown("a", 0, 2000), shown("b", 900, 2000, base=5000)], id="both go on"
        ),
        pytest.param(
            [shown("a", 0, 900), shown("b", 2500, 4000, base=-2400)],
            id="much too late",
        ),
        pytest.param(
            [shown("a", 0, 900), shown("b", 915, 2000, datname="other")],
            id="other statements",
        ),
        pytest.param(
            [shown("a", 0, 900)]
            + [
                shown(name, 915, 2000, base=base)
                for name, base in (("b", 10**6), ("c", 10**7))
            ],
            id="nobody knows which",
        ),
    ],
)
def test_servers_of_their_own_stay_so(parts):
    found = read(*parts)

    assert found.renamed == {}
    assert len(found.batches) == len(parts)


def test_what_is_known_besides_goes_by_the_newest_name_too():
    old, new = (QueryKey(name, "shop", "app", "1", "true") for name in "ab")
    nothing = np.empty(0)
    found = Found(
        Surroundings(
            context=(ContextSeries("CPU", "a", nothing, nothing),),
            starts=(ContextSeries("start", "a", nothing, nothing),),
            plans=(PlanSeen(old, "1", "Seq Scan", 0.0, 1.0),),
        ),
        {old: "f"},
    ).called({"a": "b"})

    assert found.fingerprints == {new: "f"}
    assert found.surroundings.plans[0].key == new
    assert {found.surroundings.context[0].instance} == {"b"}
    assert {found.surroundings.starts[0].instance} == {"b"}
