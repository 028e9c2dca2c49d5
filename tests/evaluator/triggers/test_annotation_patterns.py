"""What annotations are read as."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.grafana import Annotation
from evaluator.model import Deploy
from evaluator.triggers.annotation_patterns import Matcher, read_marks, trigger_tags
from evaluator.triggers.port import Mark
from lab.annotations import stored_tags

AT = 1_790_000_000.0


def annotation(*tags, text="", number=1, at=AT, end=None) -> Annotation:
    """With tags as Grafana stores them."""
    return Annotation(
        number, at, at if end is None else end, text, tuple(stored_tags(tags))
    )


def read(*tags, matcher=None, **more) -> Mark:
    (mark,) = read_marks([annotation(*tags, **more)], [matcher or Matcher()])
    return mark


def fields_of(*tags, **more) -> tuple[str, str, str]:
    deploy = read(*tags, **more).deploy
    return deploy.service, deploy.environment, deploy.version


def test_a_deploy_keeps_the_identity_the_time_and_the_place_of_its_mark():
    mark = read("deploy", "service:shop", text="see https://ci/1.", number=42)

    assert mark.deploy == Deploy(
        id="grafana-42",
        at=AT,
        service="shop",
        source="Grafana annotation 42",
        link="https://ci/1",
        end=AT,
        marks=("grafana-42",),
    )
    assert mark.notes == ()


def test_a_region_is_a_deploy_from_its_start_to_its_end():
    deploy = read("deploy", "service:shop", end=AT + 300).deploy

    assert (deploy.at, deploy.end) == (AT, AT + 300)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["service:shop", "env:prod", "version:1.2"], ("shop", "prod", "1.2")),
        (["app:shop", "environment:staging", "tag:v2"], ("shop", "staging", "v2")),
        (["name:shop", "production", "revision:1a2b"], ("shop", "production", "1a2b")),
        (["name:x", "app:y", "service:z"], ("z", "", "")),
        (["gprd", "platform:runway", "service:web"], ("web", "gprd", "")),
        # Flux: "key: value", stored trimmed; what a user adds by its metadata.
        (["flux", "kind: HelmRelease", "name: web", "env: prod"], ("web", "prod", "")),
        (["services:x", "myservice:y", "prod:1"], ("", "", "")),
        ([], ("", "", "")),
    ],
)
def test_the_usual_ways_to_tag_a_deploy_are_understood(tags, expected):
    assert fields_of("deploy", *tags) == expected


@pytest.mark.parametrize(
    "tag", ["version:sha256:12ab", "revision:2026-11-29T10:15:00Z", "tag:https://x/1"]
)
def test_a_version_cut_at_a_second_colon_is_not_believed(tag):
    mark = read("deploy", "service:shop", tag)

    assert mark.deploy.version == ""
    assert "at a second colon" in mark.notes[0]


def test_a_deploy_without_a_service_is_read_with_a_note():
    mark = read("deploy", "team:blue")

    assert mark.deploy.service == ""
    assert mark.notes == (
        "names no service: neither one of its tags (deploy, team:blue) nor its text "
        "has one",
    )


def test_two_services_on_one_mark_are_noted():
    mark = read("deploy", "service:a", "service:b")

    assert mark.deploy.service == "a"
    assert mark.notes == ("names 2 values of service (a, b); took the first",)


def test_a_pattern_can_read_the_text():
    matcher = Matcher(
        text_patterns=(
            r"Deployed (?P<service>\w+) (?P<version>\S+) to (?P<environment>\w+)",
        )
    )

    assert fields_of("deploy", text="Deployed web 1.2 to prod!", matcher=matcher) == (
        *("web", "prod", "1.2"),
    )


def test_a_tag_is_believed_before_the_text():
    matcher = Matcher(text_patterns=(r"(?P<service>\w+)",))

    assert fields_of("deploy", "service:tag", text="text", matcher=matcher)[0] == "tag"


def test_one_tag_can_tell_everything():
    matcher = Matcher(tag_patterns=(r"release:(?P<service>\w+)-(?P<version>[\d.]+)",))

    assert fields_of("deploy", "release:web-1.2", matcher=matcher) == ("web", "", "1.2")


def test_every_tag_of_a_matcher_must_be_there():
    matcher = Matcher(tags=("release", "stage:live"))

    found = read_marks(
        [
            annotation("release:7", "stage:live", number=1),
            annotation("release:7", number=2),
            annotation("release:7", "stage:test", number=3),
            annotation("deploy", number=4),
        ],
        [matcher],
    )

    assert [mark.deploy.id for mark in found] == ["grafana-1"]


def test_the_first_matcher_that_fits_reads_the_mark():
    special = Matcher(tags=("flux",), tag_patterns=("ns:(?P<service>.+)",))

    mark, other = read_marks(
        [
            annotation("flux", "deploy", "ns:a", "service:b"),
            annotation("deploy", number=2),
        ],
        [special, Matcher()],
    )

    assert mark.deploy.service == "a"
    assert other.deploy.id == "grafana-2"


def test_a_verdict_is_never_a_deploy():
    verdict = annotation("pgverdict-outcome:clear", "deploy", "service:shop")
    also = annotation("pgverdict", "deploy")

    assert read_marks([verdict, also], [Matcher()]) == []


def test_deploys_come_oldest_first():
    marks = [annotation("deploy", number=n, at=AT - n) for n in range(3)]

    found = read_marks(marks, [Matcher()])

    assert [mark.deploy.at for mark in found] == [AT - 2, AT - 1, AT]


def test_what_to_search_for_is_the_first_tag_of_each_matcher():
    matchers = [
        Matcher(),
        Matcher(tags=("release", "x")),
        Matcher(tags=("deploy", "y")),
    ]

    assert trigger_tags(matchers) == ("deploy", "release")


def test_every_mistake_in_a_matcher_is_reported_at_once():
    with pytest.raises(ValueError) as caught:
        Matcher(
            tags=("pgverdict-x", ":a", "image:reg:5000"),
            tag_patterns=("(", "service:.*"),
            text_patterns=("(?P<servce>.*)",),
        )

    assert str(caught.value).splitlines() == [
        "tags: 'pgverdict-x': pgverdict… is reserved for verdicts; choose another",
        "tags: ':a' has no key; expected such as type:deploy",
        "tags: 'image:reg:5000' has two colons and Grafana cuts at the second; "
        "did you mean 'image:reg'?",
        "tag_patterns: '(' is not a regular expression (missing ), unterminated "
        "subpattern at position 0)",
        "tag_patterns: 'service:.*' needs a named group; expected one of "
        "(?P<service>…), (?P<environment>…), (?P<version>…)",
        "text_patterns: '(?P<servce>.*)' needs a named group; expected one of "
        "(?P<service>…), (?P<environment>…), (?P<version>…)",
    ]


def test_a_matcher_needs_a_tag():
    with pytest.raises(ValueError, match="tags: empty"):
        Matcher(tags=())


@given(
    tags=st.lists(
        st.text(st.sampled_from("deploysrvicn: v1"), max_size=12), max_size=6
    ),
    text=st.text(max_size=30),
)
def test_whatever_is_tagged_the_values_come_from_it(tags, text):
    marked = annotation("deploy", *tags, text=text)
    matcher = Matcher(text_patterns=("(?P<version>v1)",))

    (mark,) = read_marks([marked], [matcher])

    deploy = mark.deploy
    assert all(
        value in "\n".join([*marked.tags, text])
        for value in (deploy.service, deploy.environment, deploy.version)
    )
    assert bool(deploy.service) != any(
        "names no service" in note for note in mark.notes
    )
