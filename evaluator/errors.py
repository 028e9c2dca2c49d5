"""What can go wrong for a reason a person must mend; exit codes follow from these."""


class PgverdictError(Exception):
    """A problem told in one sentence: where, what is wrong, what would be right."""


class ConfigurationError(PgverdictError):
    """A setting, argument or file is wrong. All problems found are told at once.

    Args:
        problems: one line each, ``place: what is wrong; what would be right``.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class SourceError(PgverdictError):
    """A system could not be reached or answered nonsense; trying later may help."""


class NoDataError(SourceError):
    """A system answered well, but has nothing of what was asked for."""


class RefusedError(SourceError):
    """A system answered that it does not do what was asked; nothing was changed.

    Args:
        status: of the HTTP answer.
    """

    def __init__(self, problem: str, status: int) -> None:
        super().__init__(problem)
        self.status = status


class IncompleteDataError(SourceError):
    """The answer says of itself that it is partial, so nothing may be concluded."""


class UnsureWriteError(SourceError):
    """A write got no answer: it may or may not have been carried out. Look first."""
