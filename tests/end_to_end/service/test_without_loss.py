"""What could not be judged at once is judged later; the other tests pass the time."""

from __future__ import annotations

import pytest

from lab.process import wait_until

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]


def test_every_deploy_that_met_a_fault_is_judged_in_the_end(troubled):
    watch = troubled.watch

    wait_until(
        lambda: all(map(watch.verdicts, troubled.deploys)),
        seconds=120,
        what="a verdict on every deploy",
    )
    watch.wait_for_rounds()

    for deploy in troubled.deploys:
        (verdict,) = watch.verdicts(deploy)
        assert "pgverdict-outcome:regressed" in verdict["tags"]
    assert watch.metrics.value("deploys_pending") == 0
