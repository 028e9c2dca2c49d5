"""Grafana dashboards as JSON, and the programs that write them; not in the wheel."""
