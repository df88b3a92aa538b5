"""The texts of a repository's files as they are stored, secrets and line ends included."""

from __future__ import annotations

from repopilot import i18n
from repopilot.code.notebook import is_notebook
from repopilot.errors import GenerationFailed, SourceError
from repopilot.repo import read
from repopilot.repo.text_encoding import decoded
from repopilot.workspace import Workspace


def stored_text(path: str, workspace: Workspace) -> str | None:
    """The file's text in the snapshot, unchanged; None when there is no such file.

    Raises:
        GenerationFailed: the file is no text, or a notebook: what is read of one is no text to write back.
    """
    if is_notebook(path):
        raise GenerationFailed(i18n.message("inputs.notebook", path=path), i18n.message("inputs.notebook_hint"))
    try:
        data = read.read_raw(workspace.snapshot, path)
    except SourceError:
        return None
    found = decoded(data, path)
    if found is None:
        raise GenerationFailed(i18n.message("generate.not_text", path=path), i18n.message("generate.not_text_hint"))
    return found[0]
