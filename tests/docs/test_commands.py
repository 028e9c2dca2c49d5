"""Every command of the documentation, run as it is on the page, one after the other.

Only what a reader replaces too is replaced: the addresses of the servers, the time of
the deploy, and the half hours, which a test cannot wait for.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests
import yaml

from evaluator.units import show_time
from lab import fetch
from lab.grafana import Grafana
from lab.postgres import Postgres
from lab.process import PATIENCE, free_port, wait_until
from lab.prometheus import Prometheus

from .pages import COMMANDS, PAGES, README, blocks

# Run elsewhere: the demo by tests/end_to_end, the installation by tests/test_wheel.py.
ELSEWHERE = ("make demo\n", "pip install .\n")
# Blocks of commands by page; those of CONTRIBUTING.md are for developers and not run.
WITH_COMMANDS = {"README.md": 5, "CONTRIBUTING.md": 2, "commands.md": 5}


def commands(page: Path) -> list[str]:
    return [text for text in blocks(page, "sh") if text not in ELSEWHERE]


class Reader:
    """Follows the pages in a folder of its own."""

    def __init__(self, folder, replacements):
        self.folder = folder
        self.replacements = replacements
        programs = Path(sys.executable).parent
        self.environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}

    def adapted(self, text):
        for there, here in self.replacements.items():
            text = text.replace(there, here)
        return text

    def run(self, text, codes=(0,)):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.adapted(text)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode in codes, done.stdout + done.stderr
        return done.stdout

    def start(self, text):
        return subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", self.adapted(text)],
            cwd=self.folder,
            env=self.environment,
            process_group=0,
        )


def stop(process):
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(timeout=PATIENCE)


def answers(url, wanted):
    try:
        return wanted in requests.get(url, timeout=PATIENCE).text
    except requests.ConnectionError:
        return False


def test_every_page_with_commands_is_known_to_this_test():
    found = {page.name: len(blocks(page, "sh")) for page in PAGES}

    assert {name: count for name, count in found.items() if count} == WITH_COMMANDS


@pytest.mark.servers
def test_the_commands_work_in_their_order(tmp_path):
    serve, watch, mark = commands(README)
    deploy, save_and_replay, explain, backtest, power = commands(COMMANDS)
    scraping, smallest = blocks(README, "yaml")
    exporter, evaluator = (f"127.0.0.1:{free_port()}" for _ in range(2))
    scraping = scraping.replace("localhost:9719", exporter)
    scrape = yaml.safe_load(scraping.replace("localhost:9720", evaluator))
    scrape["scrape_configs"][0]["scrape_interval"] = "1s"

    with (
        Postgres(extension=False) as database,
        Prometheus(
            fetch.tool("prometheus"), scrape=scrape["scrape_configs"]
        ) as prometheus,
        Grafana() as grafana,
    ):
        for statement in blocks(README, "sql")[0].split(";\n"):
            database.execute(statement)
        (tmp_path / "grafana.token").write_text(grafana.add_token("Editor"))
        reader = Reader(
            tmp_path,
            {
                "localhost:5432": f"localhost:{database.port}",
                "http://localhost:9090": prometheus.url,
                "http://localhost:3000": grafana.url,
                "=:9719": f"={exporter}",
                "2026-11-29T14:05:00Z": show_time(time.time() - 4),
                "--since 7d": "--since 30s --every 5s",
            },
        )
        file = reader.adapted(smallest) + "engine: {window: 3s, min_samples: 3}\n"
        file += f"web: {{listen_address: '{evaluator}'}}\nservice: {{settle: 1s}}\n"
        (tmp_path / "evaluator.yml").write_text(file)

        exporting = reader.start(serve)
        try:
            wait_until(
                lambda: (
                    len(prometheus.query("pg_up[10s]")) > 0
                    and len(prometheus.query("pg_up[10s]")[0]["values"]) > 4
                ),
                what="five scrapes of the exporter",
            )
            check, run = watch.splitlines()
            assert "raw samples" in reader.run(check)
            watching = reader.start(run)
            try:
                wait_until(
                    lambda: answers(f"http://{evaluator}/metrics", 'step="round"} 1'),
                    what="the first round",
                )
                reader.run(mark)
                assert grafana.annotations[-1]["text"] == "shop v42"
            finally:
                stop(watching)
            reader.replacements["2026-11-29T14:05:00Z"] = show_time(time.time() - 4)
            # Windows of seconds: undecided.
            assert "with too little data" in reader.run(deploy, codes=(4,))
            assert "with too little data" in reader.run(save_and_replay, codes=(4,))
            assert "backtest: " in reader.run(backtest)
            assert "+20 %" in reader.run(power)
            some = prometheus.query("pg_stat_statements_calls_total offset 4s")[0]
            reader.replacements["1234567890123456789"] = some["metric"]["queryid"]
            assert "floors" in reader.run(explain)
        finally:
            stop(exporting)
