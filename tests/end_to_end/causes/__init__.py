"""Verdicts on real databases, and what stands beside them as the cause."""
