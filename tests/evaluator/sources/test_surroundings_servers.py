"""What a real Prometheus remembers of a deploy is found and told as it was."""

import subprocess
import time
from collections.abc import Iterator

import numpy as np
import pytest

from evaluator.engine.causes.plans import plan_change
from evaluator.engine.causes.shifts import find_shifts
from evaluator.engine.prepare.lineage import follow
from evaluator.model import QueryKey
from evaluator.sources.profiles import PROFILES
from evaluator.sources.prometheus import PrometheusSource
from evaluator.sources.surroundings import SurroundingsSource
from evaluator.transport.client import Client
from lab import fetch
from lab.prometheus import Prometheus
from tests.queries import series_of

pytestmark = pytest.mark.servers

PROFILE = PROFILES["pgverdict"]
STEP, COUNT = 15.0, 240
# Stored completely before the test begins, late enough to be kept.
BEGIN = float(int(time.time()) - 7200)
TIMES = BEGIN + STEP * np.arange(COUNT)
DEPLOY = float(TIMES[COUNT // 2])
BEFORE, AFTER = slice(0, COUNT // 2), slice(COUNT // 2, COUNT)
OLD, NEW = "-7411562110442223301", "8411562110442223302"
BY_INDEX = 'Limit > Index Scan Placed "at" on orders'
BY_SORT = "Limit > Sort > Seq Scan orders"


def statement(queryid: str, **more: str) -> dict[str, str]:
    who = {"job": "lab", "instance": "db1:9719", "datname": "shop", "user": "app"}
    return {**who, "queryid": queryid, "toplevel": "true", **more}


def lines(name: str, labels: dict[str, str], values, when=slice(None)) -> list[str]:
    escaped = {
        label: value.replace("\\", "\\\\").replace('"', '\\"')
        for label, value in labels.items()
    }
    shown = ",".join(f'{label}="{value}"' for label, value in escaped.items())
    numbers = np.broadcast_to(np.asarray(values, dtype=np.float64), TIMES.shape)
    return [
        f"{name}{{{shown}}} {value!r} {at:.3f}"
        for at, value in zip(TIMES[when].tolist(), numbers[when].tolist(), strict=True)
    ]


def exposition() -> str:
    """One statement whose id and plan change at the deploy, on a server restarted."""
    n = np.arange(1.0, COUNT + 1)
    counters = {
        PROFILE.calls: 10 * n,
        PROFILE.seconds: n,
        PROFILE.rows: 30 * n,
        PROFILE.blocks_hit: 50 * n,
        PROFILE.blocks_read: 5 * n,
    }
    groups = {
        name: lines(name, statement(OLD), values, BEFORE)
        + lines(name, statement(NEW), values, AFTER)
        for name, values in counters.items()
    }
    groups[PROFILE.query_info] = [
        line
        for queryid, when in ((OLD, BEFORE), (NEW, AFTER))
        for line in lines(
            PROFILE.query_info,
            statement(queryid, fingerprint="f1", query='select "a\\b"'),
            1,
            when,
        )
    ]
    groups[PROFILE.plan_info] = [
        line
        for queryid, plan, when in ((OLD, BY_INDEX, BEFORE), (NEW, BY_SORT, AFTER))
        for line in lines(
            PROFILE.plan_info, statement(queryid, plan_id=plan[:9], plan=plan), 1, when
        )
    ]
    server = {"job": "lab", "instance": "db1:9719"}
    restarted = np.where(TIMES < DEPLOY, BEGIN - 9000, DEPLOY - 2)
    groups[PROFILE.started] = lines(PROFILE.started, server, restarted)
    busy = np.where(TIMES < DEPLOY, 0.2, 0.9)
    node = {"job": "node", "instance": "db1:9100"}
    groups["lab_load"] = lines("lab_load", node, busy)
    return "\n".join(
        [
            *(
                line
                for name, group in groups.items()
                for line in (
                    f"# TYPE {name.removesuffix('_total')} "
                    f"{'counter' if name.endswith('_total') else 'gauge'}",
                    *group,
                )
            ),
            "# EOF",
            "",
        ]
    )


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    server = Prometheus(fetch.debian_tool("prometheus"))
    samples = server.folder / "samples.txt"
    samples.write_text(exposition())
    promtool = fetch.debian_tool("promtool")
    command = ["tsdb", "create-blocks-from", "openmetrics", "-q"]
    subprocess.run(
        [promtool.path, *command, samples, server.folder / "data"], check=True
    )
    with server, Client("prometheus", server.url) as client:
        yield client


def key(queryid: str) -> QueryKey:
    return QueryKey("db1:9719", "shop", "app", queryid, "true")


def found(client: Client, **context: str):
    source = SurroundingsSource(client, PROFILE, 'job="lab"', context)
    return source.read(float(TIMES[0]), float(TIMES[-1]), instances={"db1:9719"})


def test_rows_and_blocks_come_with_the_counters(client):
    source = PrometheusSource(client, PROFILE, 'job="lab"')

    reading = source.read(
        float(TIMES[0]), float(TIMES[-1]), detail_from=float(TIMES[10])
    )

    old = next(one for one in series_of(reading) if one.key == key(OLD))
    expected = np.arange(1.0, COUNT // 2 + 1)
    assert old.calls.tolist() == (10 * expected).tolist()
    assert old.rows is not None
    assert old.blocks is not None
    assert old.rows[10:].tolist() == (30 * expected[10:]).tolist()
    assert old.blocks[10:].tolist() == (55 * expected[10:]).tolist()
    assert np.isnan(old.rows[:9]).all()
    assert reading.notes == ()


def test_the_plan_that_was_lost_is_reported_across_a_renaming(client):
    plans = found(client).surroundings.plans

    change = plan_change(key(NEW), plans, at=DEPLOY - 5, replaces=OLD)

    assert change is not None
    assert (change.before, change.after) == (BY_INDEX, BY_SORT)
    assert change.lost == ('Index Scan Placed "at" on orders',)


def test_the_renamed_statement_is_followed(client):
    reading = PrometheusSource(client, PROFILE, 'job="lab"').read(
        float(TIMES[0]), float(TIMES[-1])
    )

    (batch,) = reading.batches
    prints = found(client).fingerprints

    followed = follow(batch, prints, at=DEPLOY, tolerance=360)

    assert followed.keys == (key(NEW),)
    assert followed.replaces == {key(NEW): OLD}
    assert followed.times[followed.present[0]].tolist() == TIMES.tolist()


def test_a_restart_and_a_busy_host_are_found_at_their_moment(client):
    around = found(client, load="lab_load", nothing="lab_no_such_metric")

    (start,) = around.surroundings.starts
    assert np.unique(start.values).tolist() == [BEGIN - 9000, DEPLOY - 2]
    (load,) = around.surroundings.context
    assert (load.name, load.instance) == ("load", "db1:9719")
    (shift,) = find_shifts([(load.times, load.values)])
    assert shift is not None
    assert abs(shift.at - DEPLOY) <= 30
    assert (shift.before, shift.after) == pytest.approx((0.2, 0.9))
    assert [note.split(":")[0] for note in around.notes] == ["context 'nothing'"]


def test_a_wrong_expression_is_noted_in_the_servers_own_words(client):
    (note,) = found(client, broken="sum(").notes

    assert "context 'broken': not known: prometheus" in note
    assert "parse error" in note
