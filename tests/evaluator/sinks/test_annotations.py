"""What is written on Grafana's time line about a deploy."""

import html
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.grafana import Annotation
from evaluator.model import (
    ChangePoint,
    DataQuality,
    Deploy,
    Effect,
    Outcome,
    QueryKey,
    Report,
    Settings,
    Stage,
    Verdict,
    WelchTest,
    Window,
)
from evaluator.sinks.annotations import (
    TAG_VALUE,
    Draft,
    deploy_tag,
    draft_of,
    tag_value,
)
from evaluator.triggers.annotation_patterns import Matcher, read_marks
from lab.annotations import stored_tags

AT = 1_790_000_000.0
DEPLOY = Deploy("grafana-7", AT, "shop", "production", "1.2")
WINDOW = Window(samples=30, calls=1200.0, seconds=12.0, duration=1800.0)


def key(queryid="42", **more) -> QueryKey:
    fields = {
        "instance": "db1:9719",
        "database": "shop",
        "user": "app",
        "toplevel": "true",
    }
    return QueryKey(**{**fields, "queryid": queryid, **more})


def slower(extra=0.32, queryid="42", **more) -> Verdict:
    return Verdict(
        key(queryid, **more),
        Outcome.DETECTED,
        Stage.WELCH,
        usable=60,
        dropped={},
        before=WINDOW,
        after=WINDOW,
        factor=1.5,
        change=ChangePoint(split=30, at=AT, statistic=0.1, min_segment=6),
        test=WelchTest(t=9.0, nu=50.0, p_nominal=1e-12, upward=True),
        effect=Effect(0.0098, 0.0147, 1.5, extra),
    )


def verdict(outcome, queryid="1") -> Verdict:
    return Verdict(
        key(queryid),
        outcome,
        Stage.FLOORS,
        0,
        {},
        WINDOW,
        WINDOW,
        reason="too few calls",
    )


def fine(count=1):
    return [verdict(Outcome.NO_REGRESSION)] * count


def unknown(count=1):
    return [verdict(Outcome.INSUFFICIENT_DATA)] * count


NUMBERS = (
    "/d/pgverdict-deploys?var-deploy=grafana-7&amp;"
    "from=1789998200000&amp;to=1790002080000"
)


def without_link(draft: Draft) -> str:
    """The text before the link, which is always the last line and harmless."""
    text, _, link = draft.text.rpartition("\n")
    assert re.fullmatch('<a href="[^"<>]+">The numbers on the dashboard</a>', link)
    return text


def report(*verdicts, deploy=DEPLOY, **more) -> Report:
    return Report(deploy, AT + 1900, Settings(), tuple(verdicts), **more)


def test_a_verdict_reads_like_this():
    draft = draft_of(
        report(
            slower(0.032, "7"),
            slower(0.32, "-42", toplevel="false"),
            *fine(3),
            *unknown(2),
            verdict(Outcome.BACKGROUND_CHANGE),
            notes=("the oldest sample is late",),
        )
    )

    assert draft.text.splitlines() == [
        "pgverdict: 2 queries slower after deploy shop 1.2 in production",
        "1. query -42 (app@shop on db1:9719, nested): ×1.50, 9.8 ms → 14.7 ms per "
        "call, costs 320 ms more each second",
        "2. query 7 (app@shop on db1:9719): ×1.50, 9.8 ms → 14.7 ms per call, "
        "costs 32 ms more each second",
        "Judged 6 of 8 queries, 30 min before and after; 2 could not be judged for "
        "want of data (25 % of the execution time after the deploy); 1 changed at "
        "another time than the deploy.",
        "Note: the oldest sample is late",
        f'<a href="{NUMBERS}">The numbers on the dashboard</a>',
    ]
    assert draft.tags == (
        "pgverdict",
        "pgverdict-outcome:regressed",
        "pgverdict-deploy:grafana-7",
        "pgverdict-service:shop",
        "pgverdict-environment:production",
    )
    assert (draft.start, draft.end) == (AT, AT + 1800)


def test_a_clear_deploy_says_how_much_was_judged():
    draft = draft_of(report(*fine(19), *unknown(1)))

    assert draft.text.splitlines()[:-1] == [
        "pgverdict: no query found slower after deploy shop 1.2 in production",
        "Judged 19 of 20 queries, 30 min before and after; 1 could not be judged for "
        "want of data (5 % of the execution time after the deploy).",
    ]


@pytest.mark.parametrize(
    ("verdicts", "more", "outcome"),
    [
        ([slower(), *unknown(50)], {}, "regressed"),
        (fine(5), {}, "clear"),
        ([*fine(9), *unknown(1)], {}, "clear"),
        ([*fine(8), *unknown(1)], {}, "undecided"),
        ([*fine(1), *[verdict(Outcome.PENDING)] * 2], {}, "undecided"),
        ([], {}, "undecided"),
        (fine(5), {"quality": DataQuality(warnings=("a store is down",))}, "undecided"),
        ([], {"failure": "no samples"}, "failed"),
    ],
)
def test_all_is_well_only_if_most_could_be_judged(verdicts, more, outcome):
    made = report(*verdicts, **more)

    draft = draft_of(made)

    assert made.decision.kind == outcome
    assert f"pgverdict-outcome:{outcome}" in draft.tags
    assert ("cannot tell" in draft.text) == (outcome in ("undecided", "failed"))


def test_a_deploy_that_could_not_be_judged_says_why():
    draft = draft_of(report(failure="prometheus answered 503"))

    assert "Nothing was judged: prometheus answered 503" in draft.text


def test_a_deploy_after_which_nothing_ran_says_so():
    assert "No query was seen within 30 min of the deploy." in draft_of(report()).text


def test_many_findings_are_cut_to_the_costliest():
    many = [slower(extra=float(n), queryid=f"{n}") for n in range(1, 9)]

    lines = draft_of(report(*many)).text.splitlines()

    assert [line.split()[2] for line in lines[1:6]] == ["8", "7", "6", "5", "4"]
    assert lines[6] == "… and 3 more"


def test_names_that_look_like_html_stay_text():
    deploy = replace(DEPLOY, service="<script>x</script>", version="a&b")
    draft = draft_of(report(slower(database="<b>"), deploy=deploy))

    text = without_link(draft)
    assert "<" not in text
    assert "deploy <script>x</script> a&b in" in html.unescape(text)


def test_a_deploy_without_names_is_called_by_its_id():
    text = draft_of(report(*fine(), deploy=Deploy("manual-1", AT))).text

    assert text.startswith("pgverdict: no query found slower after deploy manual-1\n")


names = st.text(max_size=200)
deploys = st.builds(
    Deploy,
    id=names.filter(bool),
    at=st.just(AT),
    service=names,
    environment=names,
    version=names,
)


@given(deploy=deploys, label=names, note=st.text(max_size=2000))
def test_whatever_the_names_the_annotation_is_short_safe_and_stored_unchanged(
    deploy, label, note
):
    made = report(
        *(slower(queryid=label, user=label, instance=label) for _ in range(9)),
        deploy=deploy,
        notes=(note,) * 20,
    )

    draft = draft_of(made)

    assert list(draft.tags) == stored_tags(draft.tags)
    assert len(json.dumps(draft.tags, ensure_ascii=False).encode()) <= 500
    text = without_link(draft)
    assert "<" not in text
    assert not re.search("&(?!amp;|lt;|gt;)", draft.text)
    assert len(html.unescape(text)) <= 3000
    found = Annotation(1, draft.start, draft.end, draft.text, draft.tags)
    assert read_marks([found], [Matcher()]) == []


@given(one=names, other=names)
def test_different_deploys_have_different_tags(one, other):
    assert (tag_value(one) == tag_value(other)) == (one == other)
    assert len(tag_value(one).encode()) <= TAG_VALUE


def test_the_tag_to_find_a_verdict_again_is_known():
    assert deploy_tag("grafana-7") == "pgverdict-deploy:grafana-7"
