"""The measurements named in the documentation; nothing here is installed."""
