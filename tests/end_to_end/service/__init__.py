"""The evaluator as a service, between a Grafana and recorded counters."""
