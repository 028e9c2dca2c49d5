"""Hours of a real PostgreSQL under a changing load, judged where nothing changed."""
