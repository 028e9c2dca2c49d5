"""Why a request got no complete answer, in a few words for a person (pure)."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

from urllib3 import exceptions as urllib3_errors


class TooSlowError(Exception):
    """An answer began, but did not end in time."""


class TooLongError(Exception):
    """An answer is longer than any real one."""


class Failure(Exception):  # noqa: N818 - never leaves client.py
    """No complete answer.

    Args:
        problem: message for a person, without any address.
        sent: the request may have been carried out all the same.
        again: an immediate retry may help.
        too_much: less of an answer may come through.
    """

    def __init__(
        self, problem: str, *, sent: bool, again: bool, too_much: bool = False
    ) -> None:
        super().__init__(problem)
        self.sent = sent
        self.again = again
        self.too_much = too_much


def failure_of(error: Exception, *, connect: float, silence: float) -> Failure:
    """Classify *error* by what may be done next; the arguments are the time-outs."""
    causes = list(_causes(error))

    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if has(TooSlowError):
        problem = "did not finish its answer in time"
        return Failure(problem, sent=True, again=False, too_much=True)
    if has(TooLongError):
        problem = "sent an answer that is too long"
        return Failure(problem, sent=True, again=False, too_much=True)
    if has(ssl.SSLError, urllib3_errors.SSLError):
        reason = _system_message(causes)
        return Failure(f"TLS does not work: {reason}", sent=False, again=False)
    if has(urllib3_errors.NameResolutionError):
        return Failure("the host name is not known", sent=False, again=True)
    if has(urllib3_errors.NewConnectionError):
        reason = _system_message(causes)
        return Failure(f"could not be reached: {reason}", sent=False, again=True)
    if has(urllib3_errors.ConnectTimeoutError):
        return Failure(f"no connection within {connect:g} s", sent=False, again=True)
    if has(urllib3_errors.ReadTimeoutError, TimeoutError):
        problem = f"sent nothing for {silence:g} s"
        return Failure(problem, sent=True, again=False, too_much=True)
    if type(error) is OSError:
        # What requests raises when ``verify`` names no file.
        problem = "the file of trusted certificates cannot be read"
        return Failure(problem, sent=False, again=False)
    if has(ValueError):
        problem = "the address, or that of the proxy, cannot be used"
        return Failure(problem, sent=False, again=False)
    if has(urllib3_errors.IncompleteRead):
        problem = "broke off in the middle of its answer"
        return Failure(problem, sent=True, again=True, too_much=True)
    return Failure("closed the connection without an answer", sent=True, again=True)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """*error* and its causes; urllib3 keeps some in args and reason."""
    seen: set[int] = set()
    waiting: list[object] = [error]
    while waiting:
        cause = waiting.pop(0)
        if isinstance(cause, BaseException) and id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            waiting += [cause.__cause__, cause.__context__, *cause.args]
            waiting.append(getattr(cause, "reason", None))


def _system_message(causes: list[BaseException]) -> str:
    """Message of the operating system or the TLS library; it holds no address."""
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"certificate not accepted ({cause.verify_message})"
        if isinstance(cause, ssl.SSLError) and cause.reason:
            return str(cause.reason).replace("_", " ").lower()
    for cause in causes:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
    return "no reason was given"
