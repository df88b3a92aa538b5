"""Imports that a task wants relative, or absolute."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.import_style import in_style
from repopilot.agents.editing.exact.intents.task_mentions import TaskMentions

_STYLE = re.compile(
    r"(?P<other>\b(?:instead of|rather than|not|no|au lieu de|plutôt que)\s+(?:\w+\s+){0,2}?)?"
    r"\b(?P<style>relati|absolut)(?:ve(?:ly)?|fs?|ves?|e(?:ly)?|es?)\b"
)
_NAMES = {"relati": "relative", "absolut": "absolute"}
_WRITTEN = re.compile(r"\bfrom\s+(?P<module>\.*[\w.]*)\s+import\b")


def import_style_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The files whose imports a task wants relative, or absolute.

    Args:
        task: with its mentions.
    """
    wanted = [_NAMES[m["style"]] for m in _STYLE.finditer(task.words) if not m["other"]]
    if not wanted or "import" not in task.words:
        return
    style = wanted[-1]
    written = _WRITTEN.search(task.text)
    module = written["module"] if written else ""
    paths = dict.fromkeys(m.path for m in task.files if m.path in task.sources.workspace.index.files)
    edits = [
        ExactTask("import_style", module, "", style, "", (NamedPlace(path, "file"),))
        for path in paths
        if any(in_style(path, style, module, task.sources))
    ]
    if edits:
        yield edits
