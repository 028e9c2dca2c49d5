"""Each command as it is typed."""
