"""The judgement of one deploy under the name that it had in the first release.

Scripts that judge captures import it from here; new ones take ``service.evaluate``.
"""

from __future__ import annotations

from .service.evaluate import examine

__all__ = ["examine"]
