"""The configuration file: every setting, its default, and what is valid.

Secrets are never in it: they are in files that it names, or in the environment.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from ..model import METHODS, Settings
from ..sources.profiles import PROFILES, Profile
from ..triggers.annotation_patterns import Matcher
from .validation import Duration, nearest, read_settings
from .yaml_file import read_yaml

_ADDRESS = Meta(pattern="^(https?://|$)", description="an http:// or https:// address")
Url: TypeAlias = Annotated[str, Meta(min_length=1), _ADDRESS]

DEFAULT_PROFILE = "pgverdict"


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach one system, and with which credentials."""

    username: str = ""
    password_file: str = ""
    token_file: str = ""
    ca_file: str = ""
    insecure_skip_verify: bool = False
    headers: dict[str, str] = {}
    timeout: Duration = Duration(30)


class PrometheusConfig(Endpoint, frozen=True, kw_only=True):
    """Where the counters are and what they are called."""

    url: Annotated[Url, Meta(examples=["http://localhost:9090"])]
    profile: str = DEFAULT_PROFILE
    metrics: dict[str, str | float] = {}
    selector: str = ""

    def __post_init__(self) -> None:
        problems = []
        if self.profile not in PROFILES:
            problems.append(
                f"profile: unknown profile {self.profile!r}"
                f"{nearest(self.profile, PROFILES)}"
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
        """The profile, with the names that the file overrides."""
        return replace(PROFILES[self.profile], **self.metrics)  # type: ignore[arg-type]


class GrafanaConfig(Endpoint, frozen=True, kw_only=True):
    """Where the deploy annotations are, and where verdicts are written."""

    url: Annotated[Url, Meta(examples=["http://localhost:3000"])]


class MatcherConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Which annotations are deploys, and what their tags and text mean."""

    tags: tuple[str, ...] = Matcher().tags
    tag_patterns: tuple[str, ...] = Matcher().tag_patterns
    text_patterns: tuple[str, ...] = Matcher().text_patterns

    def __post_init__(self) -> None:
        self.matcher()

    def matcher(self) -> Matcher:
        """Build the matcher; ValueError has a line for each problem."""
        return Matcher(self.tags, self.tag_patterns, self.text_patterns)


Fraction: TypeAlias = Annotated[
    float, Meta(gt=0, lt=1, description="a fraction between 0 and 1 such as 0.05")
]


ENGINES = tuple(METHODS)
_ENGINES = f"the name of an engine, {' or '.join(ENGINES)}"
# The defaults of the method stand once, where the engine has them.
_METHOD = Settings()


class EngineConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The engine that judges, and its settings; see ``model.Settings``."""

    engine: Annotated[
        str, Meta(pattern=f"^({'|'.join(ENGINES)})$", description=_ENGINES)
    ] = _METHOD.engine
    window: Duration = Duration(_METHOD.window)
    # Six intervals are the fewest that can be split into two segments of three.
    min_samples: Annotated[
        int, Meta(ge=3, description="a whole number of intervals, 3 or more")
    ] = _METHOD.min_samples
    min_calls: Annotated[
        int, Meta(ge=1, description="a whole number of calls, 1 or more")
    ] = _METHOD.min_calls
    threshold: Annotated[
        float, Meta(ge=0, description="a fraction such as 0.2 for +20 %")
    ] = _METHOD.threshold
    alpha: Fraction = _METHOD.alpha
    max_gap: Duration = Duration(_METHOD.max_gap)
    watch: Fraction = _METHOD.watch
    history: Duration = Duration(_METHOD.history)
    prior: Fraction = _METHOD.prior
    max_unjudged: Fraction = _METHOD.max_unjudged

    def settings(self) -> Settings:
        """The same as plain numbers, durations in seconds."""
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
            max_unjudged=self.max_unjudged,
        )


class ServiceConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The loop: how often, how far back, for how long.

    Args:
        poll_interval: time from one round to the next.
        settle: wait after a window's end until Prometheus holds all of its samples.
        lookback: a deploy older than this is not judged any more.
        give_up_after: how long to retry a deploy that cannot be judged.
        retention: how long verdicts stay on /metrics; the alert resolves with them.
        state: SQLite file with what was found and judged.
    """

    poll_interval: Duration = Duration(60)
    settle: Duration = Duration(90)
    lookback: Duration = Duration(86_400)
    give_up_after: Duration = Duration(86_400)
    retention: Duration = Duration(86_400)
    state: str = "pgverdict.sqlite"


class WebConfig(msgspec.Struct, frozen=True, kw_only=True):
    listen_address: Annotated[
        str, Meta(pattern=r":\d+$", description="host:port or :port such as :9720")
    ] = ":9720"
    telemetry_path: Annotated[
        str, Meta(pattern="^/.+", description="a path such as /metrics")
    ] = "/metrics"


class LinksConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What alerts and annotations link to.

    Args:
        grafana: address at which people open Grafana; empty: that of ``grafana.url``.
        runbooks: address of the folder with the runbooks; empty: their place in the
            repository.
    """

    grafana: Annotated[str, _ADDRESS] = ""
    runbooks: Annotated[str, _ADDRESS] = ""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file.

    Args:
        services: service → selector of its own series, instead of the general one.
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
        """Selector of the series of *service*; the general one if it has none."""
        return self.services.get(service, self.prometheus.selector)


def load(path: Path) -> Config:
    """Read the configuration file.

    Raises:
        ConfigurationError: every problem, each with its place and what would be right.
    """
    return read_settings(read_yaml(path), Config, str(path))
