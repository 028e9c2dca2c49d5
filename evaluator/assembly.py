"""Configuration → the objects that speak to Prometheus and Grafana."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from .errors import ConfigurationError
from .grafana import Grafana
from .model import Deploy
from .settings.schema import Config, Endpoint, LinksConfig
from .settings.secrets import secret
from .sinks.annotations import AnnotationSink
from .sinks.links import RELATIVE, Links
from .sources.prometheus import PrometheusSource
from .sources.readings import Reading
from .sources.surroundings import Found, SurroundingsSource
from .transport.client import Client
from .triggers.grafana_annotations import GrafanaAnnotations
from .triggers.port import Mark, Trigger

GRAFANA_MISSING = (
    "grafana: missing; for example\ngrafana:\n"
    "  url: http://localhost:3000\n  token_file: /run/secrets/grafana"
)


class Systems:
    """The systems that the configuration names.

    Args:
        environ: may hold secrets, see ``secrets.secret``.

    Raises:
        ConfigurationError: an address or a secret cannot be used.
    """

    def __init__(self, config: Config, environ: Mapping[str, str]) -> None:
        self._config = config
        self._prometheus = _client(
            "prometheus", config.prometheus.url, config.prometheus, environ
        )
        self._grafana: Grafana | None = None
        reached = ""
        if config.grafana is not None:
            client = _client("grafana", config.grafana.url, config.grafana, environ)
            self._grafana, reached = Grafana(client), client.url
        self.links = _links(config.links, reached)

    @property
    def grafana(self) -> Grafana:
        """Raises ConfigurationError where none is configured."""
        if self._grafana is None:
            raise ConfigurationError(GRAFANA_MISSING)
        return self._grafana

    @property
    def triggers(self) -> tuple[Trigger, ...]:
        """Everything that is configured to announce deploys; may be empty."""
        if self._grafana is None:
            return ()
        return (GrafanaAnnotations(self._grafana, self._config.matchers),)

    @property
    def annotations(self) -> AnnotationSink | None:
        """Where verdicts are written, if there is a Grafana."""
        return (
            None if self._grafana is None else AnnotationSink(self._grafana, self.links)
        )

    def selector_for(self, service: str) -> str:
        """Which series belong to *service*."""
        return self._config.selector_for(service)

    def prometheus_for(self, service: str) -> PrometheusSource:
        """The counters that belong to *service*."""
        return PrometheusSource(
            self._prometheus,
            self._config.prometheus.names,
            self._config.selector_for(service),
        )

    def find(self, start: float, end: float) -> list[Mark]:
        """Marks of all triggers between two moments, Unix seconds, oldest first."""
        marks = [
            mark for trigger in self.triggers for mark in trigger.marks(start, end)
        ]
        return sorted(marks, key=lambda mark: (mark.deploy.at, mark.deploy.id))

    def read(
        self,
        deploy: Deploy,
        start: float,
        end: float,
        queryids: Collection[str] = (),
    ) -> Reading:
        """Counters of the deploy's databases between two moments, Unix seconds.

        Columns that only explain a verdict are read for the windows, not the history.

        Args:
            queryids: of these queries only; empty: of all.
        """
        window = max(self._config.engine.window, end - deploy.at)
        return self.prometheus_for(deploy.service).read(
            start,
            end,
            detail_from=max(start, deploy.at - window),
            queryids=queryids,
        )

    def around(
        self, deploy: Deploy, start: float, end: float, instances: Collection[str]
    ) -> Found:
        """What else is known about these servers between two moments."""
        source = SurroundingsSource(
            self._prometheus,
            self._config.prometheus.names,
            self._config.selector_for(deploy.service),
            self._config.context,
        )
        return source.read(start, end, instances=instances)


def _links(config: LinksConfig, reached: str) -> Links:
    """The configured addresses, or those that follow from the rest.

    Args:
        reached: address at which the evaluator reaches Grafana, without credentials.
    """
    grafana = config.grafana.rstrip("/")
    # People may reach Grafana by another name, but inside it the path is the same.
    return Links(
        grafana=grafana or reached,
        board=grafana or urlsplit(reached).path,
        runbooks=config.runbooks.rstrip("/") or RELATIVE.runbooks,
    )


def _client(
    name: str, url: str, endpoint: Endpoint, environ: Mapping[str, str]
) -> Client:
    variable = f"PGVERDICT_{name.upper()}"
    token = secret(
        f"{variable}_TOKEN",
        endpoint.token_file,
        environ,
        setting=f"{name}.token_file",
    )
    password = secret(
        f"{variable}_PASSWORD",
        endpoint.password_file,
        environ,
        setting=f"{name}.password_file",
    )
    if password and not endpoint.username:
        raise ConfigurationError(f"{name}.username: missing; the password needs one")
    return Client(
        name,
        url,
        token=token,
        basic=(endpoint.username, password) if endpoint.username else None,
        headers=endpoint.headers,
        timeout=(min(5.0, endpoint.timeout), endpoint.timeout),
        deadline=2 * endpoint.timeout,
        verify=endpoint.ca_file or not endpoint.insecure_skip_verify,
    )
