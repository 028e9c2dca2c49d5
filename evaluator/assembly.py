"""Configuration → the objects that speak to Prometheus and Grafana."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
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
from .triggers.annotation_patterns import Mark, read_deploys, trigger_tags

# A person names a moment to the second.
_SAME_MOMENT = 1.0


class Systems:
    """The outside world as the configuration describes it.

    Args:
        environ: where secrets may be, see ``secrets.secret``.

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
            raise ConfigurationError(
                "grafana: missing; for example\ngrafana:\n"
                "  url: http://localhost:3000\n  token_file: /run/secrets/grafana"
            )
        return self._grafana

    def prometheus_for(self, service: str) -> PrometheusSource:
        """The counters that belong to *service*."""
        return PrometheusSource(
            self._prometheus,
            self._config.prometheus.names,
            self._config.selector_for(service),
        )

    def find(self, start: float, end: float) -> list[Mark]:
        """Deploys between two moments, Unix seconds, the oldest first."""
        matchers = self._config.matchers
        annotations = self.grafana.find(start, end, trigger_tags(matchers))
        return read_deploys(annotations, matchers)

    def read(self, deploy: Deploy, start: float, end: float) -> Reading:
        """Counters of the deploy's databases between two moments, Unix seconds.

        What only explains a verdict is read from the window on, without the history.
        """
        window = max(self._config.engine.window, end - deploy.at)
        return self.prometheus_for(deploy.service).read(
            start, end, detail_from=max(start, deploy.at - window)
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

    def neighbours(self, deploy: Deploy, window: float) -> list[Deploy]:
        """Marked deploys within *window* seconds that touch the same databases.

        A mark at the same moment is the deploy itself. Without a Grafana none is known.
        """
        if self._grafana is None:
            return []
        marks = self.find(deploy.at - window, deploy.at + window)
        others = (mark.deploy for mark in marks)
        return self.rivals(
            deploy,
            (one for one in others if abs(one.at - deploy.at) > _SAME_MOMENT),
        )

    def rivals(self, deploy: Deploy, others: Iterable[Deploy]) -> list[Deploy]:
        """Those of *others* that may have touched the same databases."""
        selector = self._config.selector_for(deploy.service)
        return [
            one
            for one in others
            if one.id != deploy.id
            and self._config.selector_for(one.service) == selector
            and (
                one.environment == deploy.environment
                or not (one.environment and deploy.environment)
            )
        ]

    def annotations(self) -> AnnotationSink:
        """Where verdicts are written."""
        return AnnotationSink(self.grafana, self.links)


def _links(config: LinksConfig, reached: str) -> Links:
    """What is configured, or what can be known without it.

    Args:
        reached: address at which the evaluator reaches Grafana, without credentials.
    """
    grafana = config.grafana.rstrip("/")
    # People may reach Grafana by another name, but inside of it the path is the same.
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
