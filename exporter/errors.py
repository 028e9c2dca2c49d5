"""The one error that ends the exporter; every other problem becomes a metric."""


class ConfigurationError(Exception):
    """A setting, argument or file is wrong. All problems are reported at once.

    Args:
        problems: one line each, ``place: what is wrong; what would be right``; never
            with a value that may be a secret.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
