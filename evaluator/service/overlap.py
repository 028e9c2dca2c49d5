"""Which other deploys may have touched the same databases."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..model import Deploy

# A person names a moment to the second.
_SAME_MOMENT = 1.0


def overlapping_deploys(
    deploy: Deploy, others: Iterable[Deploy], selector_for: Callable[[str], str]
) -> list[Deploy]:
    """Those of *others* that may have touched the databases of *deploy*.

    Their services read the same series, and their environments do not differ as far as
    both are known. The deploy itself is not among them.

    Args:
        selector_for: which series belong to a service.
    """
    selector = selector_for(deploy.service)
    return [
        other
        for other in others
        if other.id != deploy.id
        and selector_for(other.service) == selector
        and (
            other.environment == deploy.environment
            or not (other.environment and deploy.environment)
        )
    ]


def without_own_mark(deploy: Deploy, marked: Iterable[Deploy]) -> list[Deploy]:
    """*marked* without the deploy itself, which was given by its moment alone."""
    return [other for other in marked if abs(other.at - deploy.at) > _SAME_MOMENT]
