"""Deploys and reports ↔ the JSON that rows of the ledger hold, of every version.

Version 1 is what commit 26345a5 wrote. Whoever renames a field of a value that is
stored raises ``VERSION`` and adds the step that makes an older document a newer one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeAlias, TypeVar

import msgspec

from ..model import DataQuality, Deploy, Drift, Effects, Report, Settings, Verdict

VERSION = 2

Document: TypeAlias = dict[str, Any]
T = TypeVar("T")


class _StoredReport(msgspec.Struct):
    """A report as it is stored: its subject under the name of its kind."""

    judged_at: float
    settings: Settings
    verdicts: tuple[Verdict, ...]
    quality: DataQuality
    notes: tuple[str, ...]
    failure: str
    share: float
    effects: Effects = Effects()
    deploy: Deploy | None = None
    drift: Drift | None = None

    def report(self) -> Report:
        subject = self.deploy or self.drift
        if subject is None:
            raise ValueError("a report without a subject")
        return Report(
            subject=subject,
            judged_at=self.judged_at,
            settings=self.settings,
            verdicts=self.verdicts,
            quality=self.quality,
            notes=self.notes,
            failure=self.failure,
            share=self.share,
            effects=self.effects,
        )


def encode_deploy(deploy: Deploy) -> bytes:
    """The deploy as JSON; the same bytes for the same deploy."""
    return msgspec.json.encode(deploy)


def decode_deploy(row: bytes) -> Deploy:
    """The deploy of a row of today's version."""
    return msgspec.json.decode(row, type=Deploy)


def encode_report(report: Report) -> bytes:
    """The report as JSON."""
    document = {field.name: getattr(report, field.name) for field in fields(report)}
    subject = document.pop("subject")
    kind = "deploy" if isinstance(subject, Deploy) else "drift"
    return msgspec.json.encode({kind: subject, **document})


def decode_report(row: bytes) -> Report:
    """The report of a row of today's version."""
    return msgspec.json.decode(row, type=_StoredReport).report()


def upgrade(
    version: int, deploy: bytes, report: bytes | None
) -> tuple[bytes, bytes | None]:
    """A row of an older version as today's would be written.

    Raises:
        ValueError: the row is not what that version wrote, or of a later version.
    """
    new_deploy = _upgraded(version, deploy, _DEPLOY_STEPS, Deploy)
    if report is None:
        return encode_deploy(new_deploy), None
    new_report = _upgraded(version, report, _REPORT_STEPS, _StoredReport)
    return encode_deploy(new_deploy), encode_report(new_report.report())


def _upgraded(
    version: int,
    row: bytes,
    steps: Mapping[int, Callable[[Document], None]],
    kind: type[T],
) -> T:
    if version not in steps:
        raise ValueError(f"version {version} is not known here")
    try:
        document = msgspec.json.decode(row, type=dict)
        for step in range(version, VERSION):
            steps[step](document)
        return msgspec.convert(document, kind)
    except (AttributeError, KeyError, TypeError, msgspec.MsgspecError) as error:
        raise ValueError(f"not as version {version} wrote it: {error}") from error


def _deploy_from_1(deploy: Document) -> None:
    # Every deploy was one annotation, and named after it.
    deploy["marks"] = [deploy["id"]]


def _report_from_1(report: Document) -> None:
    _deploy_from_1(report["deploy"])
    for verdict in report["verdicts"]:
        for cause in verdict["causes"]:
            cause["stored_text"] = cause.pop("evidence")
        if significance := verdict["significance"]:
            for old, new in (
                ("by_scatter", "by_dispersion"),
                ("start_up", "transient"),
            ):
                significance[new] = significance.pop(old)


# By the version that a step starts from; each changes a document in place.
_DEPLOY_STEPS: Mapping[int, Callable[[Document], None]] = {1: _deploy_from_1}
_REPORT_STEPS: Mapping[int, Callable[[Document], None]] = {1: _report_from_1}
