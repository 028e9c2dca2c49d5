"""Grafana dashboards as JSON, and the program that writes them; not in the wheel."""
