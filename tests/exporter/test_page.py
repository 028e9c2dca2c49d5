"""docs/exporter.md names every setting and every metric.

``python -m tests.exporter.test_page`` writes the table of settings.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from exporter.metrics.counters import COUNTER_FIELDS
from exporter.settings.servers import KEYS, VARIABLES
from exporter.settings.table import SETTINGS, Setting
from lab.postgres import Postgres
from tests.exporter.exporting import exporting

PAGE = Path(__file__).parents[2] / "docs" / "exporter.md"
BEGIN, END = "<!-- settings: begin -->\n", "<!-- settings: end -->\n"


def _placeholder(setting: Setting) -> str:
    return setting.kind.placeholder.replace("|", " or ")


def settings() -> str:
    rows = [
        f"| `{setting.flag}` | {_placeholder(setting)} | {setting.help} |\n"
        for setting in SETTINGS
    ]
    return "| flag | value | what it does |\n|---|---|---|\n" + "".join(rows)


def test_every_setting_is_explained():
    page = PAGE.read_text("utf-8")

    assert page.partition(BEGIN)[2].partition(END)[0] == settings()


def test_every_way_to_give_a_connection_string_is_explained():
    page = PAGE.read_text("utf-8")
    ways = ["--dsn", "--config.file", *VARIABLES, *KEYS]

    assert [way for way in ways if f"`{way}`" not in page] == []


@pytest.mark.servers
def test_every_metric_is_explained_in_the_words_of_its_help():
    page = PAGE.read_text("utf-8")
    everything = (
        "--statements.limit=100",
        "--plans.enabled=true",
        "--texts.enabled=true",
        f"--statements.counters={','.join(COUNTER_FIELDS)}",
    )

    with Postgres("18") as server, exporting(server.dsn, *everything) as exporter:
        shown = exporter.get("/metrics").text

    helps = re.findall(r"^# HELP (pg\S+) (.+)$", shown, re.MULTILINE)
    assert len(helps) > 40
    missing = [name for name, text in helps if f"| `{name}` | {text} |" not in page]
    assert missing == ["pg_stat_statements_query_info"] * (
        "pg_stat_statements_query_info" in dict(helps)
    )


if __name__ == "__main__":
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + settings() + END + rest.partition(END)[2], "utf-8")
