"""Settings → targets, application and web server, begun and ended together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from ssl import SSLContext
from wsgiref.types import WSGIApplication

from .planreader import PlanSettings
from .server import WebServer
from .settings import Settings
from .target import Target, TargetSettings
from .textreader import TextSettings
from .web import Application

DEFAULT_TARGET = "default"


class Service:
    """The whole exporter but for the command line.

    Raises:
        ConfigurationError: the address or the web configuration cannot be used.
    """

    def __init__(self, settings: Settings) -> None:
        about = target_settings(settings)
        self.main = settings.dsn and Target(DEFAULT_TARGET, settings.dsn, about)
        self.probed = {
            name: Target(name, dsn, about) for name, dsn in settings.targets.items()
        }
        self._targets = [*([self.main] if self.main else []), *self.probed.values()]
        application = Application(
            self.main,
            probed=self.probed,
            path=settings.web_telemetry_path,
            patience=settings.scrape_timeout,
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
        """Begin to answer."""
        self._server.start()
        for target in self._targets:
            target.start()

    def stop(self) -> None:
        """Let scrapes under way finish, for a short time; leave no connection."""
        self._server.stop()
        self._close_targets()

    def _close_targets(self) -> None:
        for target in self._targets:
            target.close()


def _guarded(
    application: WSGIApplication, file: Path | None
) -> tuple[WSGIApplication, Callable[[], SSLContext] | None]:
    """The application as the web configuration allows it, and TLS where it asks."""
    if file is None:
        return application, None
    # bcrypt and its memory are only for who uses it.
    from .access import Access, Guard

    access = Access(file)
    return Guard(application, access), access.context if access.encrypted else None


def target_settings(settings: Settings) -> TargetSettings:
    """What the settings say about every server."""
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
