"""How fast the two programs are, beside others."""
