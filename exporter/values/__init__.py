"""What flows between the wings: plain frozen values, and nothing that does I/O."""
