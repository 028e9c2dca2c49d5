"""The connection, and what happens on it: questions, settings, errors."""
