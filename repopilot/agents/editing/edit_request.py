"""What is asked of an edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from repopilot.agents.exploration import Exploration
from repopilot.types import FileChange


@dataclass(frozen=True, slots=True)
class EditRequest:
    """Files to write.

    Attributes:
        task: what to write or change.
        found: what the exploration of the repository found, None for nothing.
        paths: the files to write, where that is certain.
        reading: texts by path that the model may need to see and must not change.
        feedback: reasons to write another version of `drafts`, for the model.
        drafts: the version before.
        seed: of the sampling; 0 for the first version.
        language: the language of the messages in the steps.
    """

    task: str
    found: Exploration | None = None
    paths: tuple[str, ...] = ()
    reading: Mapping[str, str] = field(default_factory=dict)
    feedback: tuple[str, ...] = ()
    drafts: tuple[FileChange, ...] = ()
    seed: int = 0
    language: str = "en"
