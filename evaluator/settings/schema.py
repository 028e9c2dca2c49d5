"""The configuration file: what may stand in it, and its defaults; no secret may."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
import yaml
from msgspec import Meta

from ..errors import ConfigurationError
from ..model import Settings
from ..sources.profiles import PROFILES, Profile
from ..triggers.annotation_patterns import Matcher
from .validation import Duration, nearest, read_settings

_ADDRESS = Meta(pattern="^(https?://|$)", description="an http:// or https:// address")
Url: TypeAlias = Annotated[str, Meta(min_length=1), _ADDRESS]
Span: TypeAlias = Annotated[Duration, Meta(description="a duration such as 30m or 90s")]


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach one system and as whom."""

    username: str = ""
    password_file: str = ""
    token_file: str = ""
    ca_file: str = ""
    insecure_skip_verify: bool = False
    headers: dict[str, str] = {}
    timeout: Span = Duration(30)


class PrometheusConfig(Endpoint, frozen=True, kw_only=True):
    """Where the counters are and what they are called."""

    url: Annotated[Url, Meta(examples=["http://localhost:9090"])]
    profile: str = "pgverdict"
    metrics: dict[str, str | float] = {}
    selector: str = ""

    def __post_init__(self) -> None:
        problems = []
        if self.profile not in PROFILES:
            problems.append(
                f"profile: no profile {self.profile!r}{nearest(self.profile, PROFILES)}"
            )
        for name, value in self.metrics.items():
            if name not in Profile.__dataclass_fields__:
                near = nearest(name, Profile.__dataclass_fields__)
                problems.append(f"metrics.{name}: unknown setting{near}")
            elif name == "seconds_per_unit":
                if isinstance(value, str) or value <= 0:
                    expected = "a number such as 0.001 for milliseconds"
                    problems.append(
                        f"metrics.{name}: expected {expected}, got {value!r}"
                    )
            elif not isinstance(value, str):
                problems.append(f"metrics.{name}: expected a name, got {value!r}")
        if problems:
            raise ValueError("\n".join(problems))

    @property
    def names(self) -> Profile:
        """The profile with what the file overrides."""
        return replace(PROFILES[self.profile], **self.metrics)  # type: ignore[arg-type]


class GrafanaConfig(Endpoint, frozen=True, kw_only=True):
    """Where the deploy annotations are, and where verdicts are written."""

    url: Annotated[Url, Meta(examples=["http://localhost:3000"])]


class MatcherConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Which annotations are deploys, and what their tags and text mean."""

    tags: tuple[str, ...] = Matcher().tags
    tag_patterns: tuple[str, ...] = Matcher().tag_patterns
    text_patterns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.matcher()

    def matcher(self) -> Matcher:
        """Build the matcher; ValueError tells every problem with it."""
        return Matcher(self.tags, self.tag_patterns, self.text_patterns)


Fraction: TypeAlias = Annotated[
    float, Meta(gt=0, lt=1, description="a fraction between 0 and 1 such as 0.05")
]


ENGINES = ("calibrated", "classic")
_ENGINES = f"the name of an engine, {' or '.join(ENGINES)}"


class EngineConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The rule that judges, and its settings."""

    engine: Annotated[
        str, Meta(pattern=f"^({'|'.join(ENGINES)})$", description=_ENGINES)
    ] = "calibrated"
    window: Span = Duration(1800)
    # Six intervals are the fewest that can be split in two segments of three.
    min_samples: Annotated[
        int, Meta(ge=3, description="a whole number of intervals, 3 or more")
    ] = 10
    min_calls: Annotated[
        int, Meta(ge=1, description="a whole number of calls, 1 or more")
    ] = 100
    threshold: Annotated[
        float, Meta(ge=0, description="a fraction such as 0.2 for +20 %")
    ] = 0.2
    alpha: Fraction = 0.05
    max_gap: Span = Duration(300)
    watch: Fraction = 0.2
    history: Span = Duration(14_400)
    prior: Fraction = 0.05

    def settings(self) -> Settings:
        """The same as plain numbers."""
        return Settings(
            engine=self.engine,
            window=float(self.window),
            min_samples=self.min_samples,
            min_calls=self.min_calls,
            threshold=self.threshold,
            alpha=self.alpha,
            max_gap=float(self.max_gap),
            watch=self.watch,
            history=float(self.history),
            prior=self.prior,
        )


class ServiceConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The loop: how often, how far back, for how long.

    Args:
        poll_interval: time from one round to the next.
        settle: wait after a window's end until Prometheus holds all of its samples.
        lookback: a deploy older than this is not taken up any more.
        give_up_after: a deploy that cannot be judged is tried this long.
        retention: how long verdicts stay on /metrics; the alert resolves with them.
        state: the file that remembers what was judged.
    """

    poll_interval: Span = Duration(60)
    settle: Span = Duration(90)
    lookback: Span = Duration(86_400)
    give_up_after: Span = Duration(86_400)
    retention: Span = Duration(86_400)
    state: str = "pgverdict.sqlite"


class WebConfig(msgspec.Struct, frozen=True, kw_only=True):
    listen_address: Annotated[
        str, Meta(pattern=r":\d+$", description="host:port or :port such as :9720")
    ] = ":9720"
    telemetry_path: Annotated[
        str, Meta(pattern="^/.+", description="a path such as /metrics")
    ] = "/metrics"


class LinksConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What alerts and annotations lead to.

    Args:
        grafana: where people open Grafana; empty: as the evaluator does.
        runbooks: the folder with the pages of the alerts; empty: where they are in the
            repository.
    """

    grafana: Annotated[str, _ADDRESS] = ""
    runbooks: Annotated[str, _ADDRESS] = ""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file.

    Args:
        services: selector of a service's own databases, instead of the general one.
        context: name → PromQL of a measure that may show an external cause.
    """

    prometheus: PrometheusConfig
    grafana: GrafanaConfig | None = None
    deploys: tuple[MatcherConfig, ...] = (MatcherConfig(),)
    services: dict[str, str] = {}
    context: dict[str, str] = {}
    engine: EngineConfig = EngineConfig()
    service: ServiceConfig = ServiceConfig()
    web: WebConfig = WebConfig()
    links: LinksConfig = LinksConfig()

    def __post_init__(self) -> None:
        if not self.deploys:
            raise ValueError("deploys: empty; leave it out to take the tag 'deploy'")

    @property
    def matchers(self) -> tuple[Matcher, ...]:
        return tuple(deploys.matcher() for deploys in self.deploys)

    def selector_for(self, service: str) -> str:
        """Which series belong to *service*; the general selector if it has none."""
        return self.services.get(service, self.prometheus.selector)


class _Loader(yaml.SafeLoader):
    """Refuses a key that is there twice: the first would be lost without a word."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - as it is called
    ) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen and key.value != "<<":
                problem = f"{key.value} is there twice"
                raise yaml.constructor.ConstructorError(
                    problem=problem, problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load(path: Path) -> Config:
    """Read the configuration file.

    Raises:
        ConfigurationError: every problem, each with its place and what would be right.
    """
    try:
        text = path.read_text(encoding="utf-8")
        data = yaml.load(text, _Loader)  # noqa: S506 - a safe one
    except OSError as error:
        raise ConfigurationError(
            f"{path}: cannot be read: {error.strerror}; name another with --config.file"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: is no YAML: {_place(error)}") from error
    return read_settings(data, Config, str(path))


def _place(error: Exception) -> str:
    """Line and reason of a YAML error, without the text around it."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return (
            "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "unreadable"
        )
    return f"line {mark.line + 1}: {getattr(error, 'problem', '')}"
