"""Flags, environment variables and YAML file → checked settings."""
