"""What the prompt of a loop says of the repository, so that a model needn't find out its layout again."""

from __future__ import annotations

import asyncio

from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.render import lines_for_model
from repopilot.index.store import Index
from repopilot.prompts import delimiter, render, sanitized


async def with_layout(task: str, index: Index) -> str:
    """A task below the layout of the repository, which is marked as written by others.

    Args:
        task: what a model is asked.
        index: the repository.

    Returns:
        The task alone where the repository holds no code whose definitions are read.
    """
    text = lines_for_model(await asyncio.to_thread(overview_of, index))
    if not text:
        return task
    mark = delimiter(text)
    return render("loop_layout", task=task, mark=mark, text=sanitized(text, mark))
