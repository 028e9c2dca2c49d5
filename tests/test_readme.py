"""Every command of the README, run as it stands there, one after the other.

Only what a reader replaces too is replaced: the addresses of the servers, the moment of
the deploy, and the half hours, which a test cannot wait for.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests
import yaml

from evaluator.config import load
from evaluator.units import show_time
from lab import fetch
from lab.grafana import Grafana
from lab.postgres import Postgres
from lab.process import PATIENCE, free_port, wait_until
from lab.prometheus import Prometheus

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)

# Run elsewhere: the demo by tests/end_to_end, the tests by whoever runs this one, and
# the installation by tests/test_wheel.py.
ELSEWHERE = ["make demo\n", "make test\n", "pip install .\n"]


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind == language and text not in ELSEWHERE]


class Reader:
    """Follows the README in a folder of its own."""

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


def test_every_command_is_known_to_this_test():
    assert len(blocks("sh")) == 8
    assert len(blocks("sql")) == 1
    assert len(blocks("yaml")) == 3
    assert [text for _, text in BLOCKS if text in ELSEWHERE] == ELSEWHERE


def test_the_whole_configuration_is_valid(tmp_path):
    (tmp_path / "evaluator.yml").write_text(blocks("yaml")[2])

    config = load(tmp_path / "evaluator.yml")

    assert float(config.service.retention) == 86_400
    assert config.selector_for("shop") == 'job="postgres",cluster="shop"'


@pytest.mark.servers
def test_the_commands_work_in_their_order(tmp_path):
    serve, watch, mark, by_hand, save_and_replay, *inquiries = blocks("sh")
    trust, price, why = inquiries
    scraping, smallest, _ = blocks("yaml")
    exporter, evaluator = (f"127.0.0.1:{free_port()}" for _ in range(2))
    scrape = yaml.safe_load(scraping.replace("localhost:9719", exporter))
    scrape["scrape_configs"][0]["scrape_interval"] = "1s"

    with (
        Postgres(extension=False) as database,
        Prometheus(
            fetch.tool("prometheus"), scrape=scrape["scrape_configs"]
        ) as prometheus,
        Grafana() as grafana,
    ):
        for statement in blocks("sql")[0].split(";\n"):
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
            assert "with too little data" in reader.run(by_hand)
            assert "with too little data" in reader.run(save_and_replay)
            assert "engine" in reader.run(trust)
            assert "+20 %" in reader.run(price)
            some = prometheus.query("pg_stat_statements_calls_total offset 4s")[0]
            reader.replacements["1234567890123456789"] = some["metric"]["queryid"]
            assert "floors" in reader.run(why)
        finally:
            stop(exporting)
