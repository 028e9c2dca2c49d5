"""Annotation → deploy, by patterns that can be set (pure).

The defaults read what Argo CD, Flux, GitHub Actions and GitLab's runbooks write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..grafana import Annotation, split_tag
from ..model import Deploy
from .port import Mark

# Every tag of a verdict begins with this; a verdict is never a deploy.
OWN = "pgverdict"
FIELDS = ("service", "environment", "version")
_BARE_ENVIRONMENTS = (
    "production|prod|gprd|staging|stage|gstg|preprod|testing|test|qa|dev"
)
# The first pattern that gives a field wins, so service: comes before app: and name:.
DEFAULT_TAG_PATTERNS = (
    r"service:(?P<service>.+)",
    r"app:(?P<service>.+)",
    r"name:(?P<service>.+)",
    r"environment:(?P<environment>.+)",
    r"env:(?P<environment>.+)",
    rf"(?P<environment>{_BARE_ENVIRONMENTS})",
    r"version:(?P<version>.+)",
    r"tag:(?P<version>.+)",
    r"revision:(?P<version>.+)",
)
# What remains when Grafana cuts "version:sha256:12ab…" or a time at the second colon.
_CUT = re.compile(r"(md5|sha\d+|https?|\d{4}-\d\d-\d\d[T ]\d\d)", re.IGNORECASE)
_LINK = re.compile(r"https?://[^\s<>\"']+")


@dataclass(frozen=True, slots=True)
class Matcher:
    """Which annotations are deploys, and how to read them.

    Args:
        tags: all of these must be there; ``key`` matches any value, ``key:value`` only
            that one.
        tag_patterns: regular expressions for a whole tag; the named groups
            ``service``, ``environment`` and ``version`` give the fields.
        text_patterns: the same, searched in the text, for fields that no tag gives.

    Raises:
        ValueError: one line for each problem.
    """

    tags: tuple[str, ...] = ("deploy",)
    tag_patterns: tuple[str, ...] = DEFAULT_TAG_PATTERNS
    text_patterns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problems = [*self._tag_problems()]
        for kind in ("tag_patterns", "text_patterns"):
            problems += _pattern_problems(kind, getattr(self, kind))
        if problems:
            raise ValueError("\n".join(problems))

    def _tag_problems(self) -> Iterator[str]:
        if not self.tags:
            yield "tags: empty; at least one tag must mark a deploy, such as deploy"
        for tag in self.tags:
            key, _ = split_tag(tag)
            if not key:
                yield f"tags: {tag!r} has no key; expected such as type:deploy"
            if key.startswith(OWN):
                yield f"tags: {tag!r}: {OWN}… is reserved for verdicts; choose another"
            if tag.count(":") > 1:
                yield (
                    f"tags: {tag!r} has two colons and Grafana cuts at the second; "
                    f"did you mean {':'.join(tag.split(':')[:2])!r}?"
                )

    def matches(self, annotation: Annotation) -> bool:
        return all(map(annotation.has, self.tags))


def trigger_tags(matchers: Sequence[Matcher]) -> tuple[str, ...]:
    """Tags to search for: each deploy has at least one of them."""
    return tuple(dict.fromkeys(matcher.tags[0] for matcher in matchers))


def read_marks(
    annotations: Iterable[Annotation], matchers: Sequence[Matcher]
) -> list[Mark]:
    """The deploys among *annotations*, oldest first, each read by its first matcher."""
    marks = []
    for annotation in annotations:
        if any(split_tag(tag)[0].startswith(OWN) for tag in annotation.tags):
            continue
        for matcher in matchers:
            if matcher.matches(annotation):
                marks.append(_read(annotation, matcher))
                break
    return sorted(marks, key=lambda mark: (mark.deploy.at, mark.deploy.id))


def _read(annotation: Annotation, matcher: Matcher) -> Mark:
    values = {field: _values(field, annotation, matcher) for field in FIELDS}
    notes = []
    if not values["service"]:
        tags = ", ".join(annotation.tags)
        notes.append(
            f"names no service: neither one of its tags ({tags}) nor its text has one"
        )
    for field, several in values.items():
        if len(several) > 1:
            notes.append(
                f"names {len(several)} values of {field} ({', '.join(several)}); took "
                "the first"
            )
    cut = [version for version in values["version"] if _CUT.fullmatch(version)]
    if cut:
        notes.append(
            f"its version was cut to {cut[0]!r} at a second colon by Grafana and is "
            "not used; join its parts with '-'"
        )
        values["version"] = [kept for kept in values["version"] if kept not in cut]
    service, environment, version = (
        next(iter(values[field]), "") for field in ("service", "environment", "version")
    )
    link = _LINK.search(annotation.text)
    mark = f"grafana-{annotation.id}"
    deploy = Deploy(
        id=mark,
        at=annotation.start,
        service=service,
        environment=environment,
        version=version,
        source=f"Grafana annotation {annotation.id}",
        link=link[0].rstrip(".,;:!?)") if link else "",
        end=annotation.end,
        marks=(mark,),
    )
    return Mark(deploy, tuple(notes))


def _values(field: str, annotation: Annotation, matcher: Matcher) -> list[str]:
    """All values of *field* by the first pattern that has any; tags before text."""
    for pattern in _giving(field, matcher.tag_patterns):
        matches = [pattern.fullmatch(tag) for tag in annotation.tags]
        if values := [
            match[field].strip() for match in matches if match and match[field]
        ]:
            return list(dict.fromkeys(filter(None, values)))
    for pattern in _giving(field, matcher.text_patterns):
        match = pattern.search(annotation.text)
        if match and match[field] and match[field].strip():
            return [match[field].strip()]
    return []


def _giving(field: str, patterns: Iterable[str]) -> Iterator[re.Pattern[str]]:
    compiled = map(re.compile, patterns)
    return (pattern for pattern in compiled if field in pattern.groupindex)


def _pattern_problems(kind: str, patterns: Iterable[str]) -> Iterator[str]:
    for pattern in patterns:
        try:
            groups = re.compile(pattern).groupindex
        except re.error as error:
            yield f"{kind}: {pattern!r} is not a regular expression ({error})"
            continue
        if not groups or not set(groups) <= set(FIELDS):
            yield (
                f"{kind}: {pattern!r} needs a named group; expected one of "
                + ", ".join(f"(?P<{field}>…)" for field in FIELDS)
            )
