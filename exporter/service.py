"""Settings → targets, application and web server, started and stopped together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from ssl import SSLContext
from wsgiref.types import WSGIApplication

from .periodic.plan_reader import PlanSettings
from .periodic.text_reader import TextSettings
from .settings.table import Settings
from .target import Target, TargetSettings
from .web.application import Application
from .web.server import WebServer

DEFAULT_TARGET = "default"


class Service:
    """The whole exporter, except for the command line.

    Raises:
        ConfigurationError: the address or the web configuration cannot be used.
    """

    def __init__(self, settings: Settings) -> None:
        shared = target_settings(settings)
        self.main = settings.dsn and Target(DEFAULT_TARGET, settings.dsn, shared)
        self.probed = {
            name: Target(name, dsn, shared) for name, dsn in settings.targets.items()
        }
        self._targets = [*([self.main] if self.main else []), *self.probed.values()]
        application = Application(
            self.main,
            probed=self.probed,
            path=settings.web_telemetry_path,
            timeout=settings.scrape_timeout,
            offset=settings.scrape_timeout_offset,
        )
        guarded, tls = _guarded(application, settings.web_config_file)
        self._server = WebServer(
            guarded,
            settings.web_listen_address,
            tls=tls,
            on_grace_over=self._close_targets,
        )

    @property
    def address(self) -> str:
        """Where it listens, as ``host:port``."""
        return self._server.address

    def start(self) -> None:
        """Start to answer."""
        self._server.start()
        for target in self._targets:
            target.start()

    def stop(self) -> None:
        """Let scrapes in progress finish, for a short time; leave no connection."""
        self._server.stop()
        self._close_targets()

    def _close_targets(self) -> None:
        for target in self._targets:
            target.close()


def _guarded(
    application: WSGIApplication, file: Path | None
) -> tuple[WSGIApplication, Callable[[], SSLContext] | None]:
    """The application behind the web configuration's checks, and its TLS if any."""
    if file is None:
        return application, None
    # Imported only when needed, to save the memory of bcrypt.
    from .web.access import Access, Guard

    access = Access(file)
    return Guard(application, access), access.context if access.encrypted else None


def target_settings(settings: Settings) -> TargetSettings:
    """The settings that all servers share."""
    texts = None
    if settings.texts_enabled:
        texts = TextSettings(
            length=settings.texts_length,
            interval=settings.texts_interval,
            timeout=settings.texts_timeout,
        )
    plans = None
    if settings.plans_enabled:
        plans = PlanSettings(
            number=settings.plans_number,
            interval=settings.plans_interval,
            timeout=settings.plans_timeout,
        )
    return TargetSettings(
        counters=settings.statements_counters,
        created=settings.web_openmetrics_created,
        texts=texts,
        context=settings.context_enabled,
        limit=settings.statements_limit or None,
        plans=plans,
    )
