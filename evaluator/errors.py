"""Errors that a person must fix; the exit codes follow from these."""


class PgverdictError(Exception):
    """A problem in one sentence: where, what is wrong, what would be right."""


class ConfigurationError(PgverdictError):
    """A setting, argument or file is wrong. All problems are reported at once.

    Args:
        problems: one line each, ``place: what is wrong; what would be right``.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class SourceError(PgverdictError):
    """A system could not be reached or gave a bad answer; trying later may help."""


class NoDataError(SourceError):
    """A system answered, but has none of the requested data."""


class TooMuchError(SourceError):
    """A system may answer a smaller question: this one is too large, or takes too long.

    Args:
        slow: the system, or its refusal, had to be waited for.
    """

    def __init__(self, problem: str, *, slow: bool) -> None:
        super().__init__(problem)
        self.slow = slow


class RefusedError(SourceError):
    """A system refused the request; nothing was changed.

    Args:
        status: of the HTTP answer.
    """

    def __init__(self, problem: str, status: int) -> None:
        super().__init__(problem)
        self.status = status


class IncompleteDataError(SourceError):
    """The answer is marked as partial, so nothing may be concluded from it."""


class UnsureWriteError(SourceError):
    """A write got no answer: it may or may not have been carried out. Look first."""
