"""How agents of one turn live side by side: in parallel, each failing for itself, all stopped by a cancellation."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import TypeVar

from repopilot.errors import Cancelled, RepoPilotError
from repopilot.trace import Step

Result = TypeVar("Result")

log = logging.getLogger(__name__)


async def surviving(work: Awaitable[Result], what: str, step: Step) -> Result | None:
    """The result, or None when the work failed: its own step shows the error, `step` says what is missing because
    of it. A cancellation goes on up."""
    try:
        return await work
    except Cancelled:
        raise
    except RepoPilotError as error:
        step.degrade(f"{what} failed: {error}")
    except Exception as error:  # a fault in one agent must not cost the others' results
        log.exception("%s", what)
        step.degrade(f"{what} failed: {type(error).__name__}: {error}")
    return None
