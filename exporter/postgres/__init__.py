"""Everything that is asked of a PostgreSQL server, and how its answers are read."""
