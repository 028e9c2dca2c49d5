"""Which deploys overlap: they may have touched the same databases."""

from __future__ import annotations

from evaluator.service.overlap import overlapping_deploys, without_own_mark
from tests.builders import DEPLOY_AT, deploy

SELECTORS = {"mail": 'a="c"'}


def overlapping(one, *others):
    by_service = overlapping_deploys(
        one, others, lambda service: SELECTORS.get(service, 'a="b"')
    )
    return [other.id for other in by_service]


def test_deploys_of_services_with_other_databases_do_not_overlap():
    assert overlapping(
        deploy(id="one", service="shop"),
        deploy(id="one", service="shop"),
        deploy(id="same selector", service="api"),
        deploy(id="other selector", service="mail"),
    ) == ["same selector"]


def test_deploys_to_another_environment_do_not_unless_it_is_unknown():
    others = [
        deploy(id=name or "unknown", environment=name) for name in ("prod", "test", "")
    ]

    assert overlapping(deploy(id="one", environment="prod"), *others) == [
        "prod",
        "unknown",
    ]


def test_a_mark_at_the_same_moment_is_the_deploy_itself():
    marked = [deploy(DEPLOY_AT + second, id=f"{second}") for second in (0.4, 90.0)]

    others = without_own_mark(deploy(id="manual"), marked)

    assert [other.at for other in others] == [DEPLOY_AT + 90]
