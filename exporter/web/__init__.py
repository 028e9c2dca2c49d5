"""HTTP: the application, the server below it, and who may read."""
