"""A stand-in for Grafana's annotations, on a loopback port in this process.

It behaves as the legacy API does, traps included: see `annotations`. Tokens have a
role; a Viewer may read, an Editor may write. ``python -m lab.grafana`` runs it until
Ctrl-C.
"""

from __future__ import annotations

import json
import secrets
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Self

from .annotations import Annotations, Refused, Row
from .faults import Fault, Handler, Request, Script, serving

Role = Literal["Viewer", "Editor", "Admin"]
_ACTIONS = {
    "GET": "annotations:read",
    "POST": "annotations:create",
    "PUT": "annotations:write",
    "PATCH": "annotations:write",
    "DELETE": "annotations:delete",
}


class Grafana:
    """The stand-in; a context manager.

    ``faults`` are answers to give instead of the right one; ``requests`` are all that
    came, in order.
    """

    def __init__(self, port: int = 0) -> None:
        self.faults = Script()
        self.requests: list[Request] = []
        self.url = ""
        self._store = Annotations()
        self._roles: dict[str, Role] = {}
        self._running = _serve(self, port)

    def __enter__(self) -> Self:
        self.url = self._running.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.__exit__(None, None, None)

    @property
    def annotations(self) -> list[Row]:
        """All that is stored, in the order of its making; times in milliseconds."""
        return self._store.all()

    def add_token(self, role: Role) -> str:
        """A new token of a service account with *role*."""
        token = f"glsa_{secrets.token_urlsafe(24)}"
        self._roles[token] = role
        return token

    def revoke(self, token: str) -> None:
        """Make *token* unknown."""
        del self._roles[token]

    def post_deploy(
        self,
        tags: Sequence[str] = ("deploy", "service:shop", "environment:production"),
        text: str = "Deployed",
        at: float | None = None,
        end: float | None = None,
    ) -> int:
        """Store a deploy's mark as a pipeline would; times in seconds; gives the id."""
        start = time.time() if at is None else at
        return self._store.add(
            {
                "time": round(start * 1000),
                "timeEnd": round((start if end is None else end) * 1000),
                "tags": list(tags),
                "text": text,
            }
        )

    def answer(self, request: Request) -> tuple[int, object]:
        """Carry *request* out; status and JSON of the answer."""
        try:
            if request.path == "/api/health":
                return 200, {"database": "ok", "version": "13.2.3"}
            self._authorize(request)
            return 200, self._carry_out(request)
        except Refused as refused:
            return refused.status, {"message": str(refused)}

    def _authorize(self, request: Request) -> None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not token:
            raise Refused(401, "Unauthorized")
        if token not in self._roles:
            raise Refused(401, "Invalid API key")
        if request.method != "GET" and self._roles[token] == "Viewer":
            raise Refused(
                403,
                "You'll need additional permissions to perform this action. "
                f"Permissions needed: {_ACTIONS[request.method]}",
            )

    def _carry_out(self, request: Request) -> object:
        match request.method, request.path.removeprefix("/api/annotations").split("/"):
            case "GET", [""]:
                return self._find(request)
            case "POST", [""]:
                number = self._store.add(_fields(request))
                return {"message": "Annotation added", "id": number}
            case "POST", ["", "graphite"]:
                number = self._store.add_graphite(_fields(request))
                return {"message": "Graphite annotation added", "id": number}
            case "GET", ["", number] if number.isdecimal():
                return self._store.get(int(number))
            case "PUT" | "PATCH" as method, ["", number] if number.isdecimal():
                whole = method == "PUT"
                self._store.change(int(number), _fields(request), whole=whole)
                return {"message": f"Annotation {'updated' if whole else 'patched'}"}
            case "DELETE", ["", number] if number.isdecimal():
                self._store.delete(int(number))
                return {"message": "Annotation deleted"}
        raise Refused(404, "Not found")

    def _find(self, request: Request) -> list[Row]:
        form = dict(request.form)
        return self._store.find(
            start=_number(form.get("from")),
            end=_number(form.get("to")),
            tags=[value for name, value in request.form if name == "tags"],
            match_any=form.get("matchAny") == "true",
            limit=_number(form.get("limit")),
            kind=form.get("type", ""),
            dashboard=form.get("dashboardUID", ""),
        )


def _serve(grafana: Grafana, port: int) -> AbstractContextManager[str]:
    one_at_a_time = threading.Lock()

    class Answering(Handler):
        def respond(self, request: Request) -> None:
            with one_at_a_time:
                grafana.requests.append(request)
                fault = grafana.faults.take(request.method, request.path)
                if fault is None or fault.carried_out:
                    status, body = grafana.answer(request)
            (fault or Fault(status, body)).send(self)

    return serving(Answering, port)


def _fields(request: Request) -> Row:
    try:
        fields = json.loads(request.body)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise Refused(400, "bad request data")
    return fields


def _number(text: Any) -> int:
    """What is not a number counts as absent, as in Go's QueryInt64."""
    try:
        return int(text)
    except (TypeError, ValueError):
        return 0


def main() -> None:
    """Run on the port given, or on a free one, and print address and tokens."""
    with Grafana(int(sys.argv[1]) if len(sys.argv) > 1 else 0) as grafana:
        print(f"Grafana stand-in at {grafana.url}")
        for role in ("Viewer", "Editor", "Admin"):
            print(f"{role:<7} {grafana.add_token(role)}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
