"""The texts of a repository's files as they are stored, secrets and line ends included. Files that the index keeps out
as secret or ignored have none: whoever shows, moves or writes a file reads it here first."""

from __future__ import annotations

from repopilot import i18n
from repopilot.code.formats.notebook import is_notebook
from repopilot.errors import GenerationFailed
from repopilot.redaction.redact import redacted
from repopilot.repo.kept_out import kept_out
from repopilot.repo.read import find_raw
from repopilot.repo.text_encoding import decoded
from repopilot.workspace import Workspace


def stored_text(path: str, workspace: Workspace) -> str | None:
    """The file's text in the snapshot, unchanged; None when there is no such file.

    Raises:
        GenerationFailed: the path is kept out as secret or ignored, the file isn't text, or it is a notebook, whose
            extracted text can't be written back.
    """
    known = path in workspace.index.files
    if not known and (reason := kept_out(path, workspace.snapshot, workspace.settings)):
        said = i18n.message("tools.kept_out", path=redacted(path), reason=reason)
        raise GenerationFailed(said, i18n.message("tools.kept_out_hint"))
    if is_notebook(path):
        raise GenerationFailed(i18n.message("inputs.notebook", path=path), i18n.message("inputs.notebook_hint"))
    data = find_raw(workspace.snapshot, path)
    if data is None:
        return None
    found = decoded(data, path)
    if found is None:
        raise GenerationFailed(i18n.message("generate.not_text", path=path), i18n.message("generate.not_text_hint"))
    return found[0]
