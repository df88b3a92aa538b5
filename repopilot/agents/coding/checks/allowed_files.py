"""Which files a model may write that nobody asked it for. Pure.

What a model reads may have been written to direct it. So it gets no power over what judges its work (tests that exist,
what pytest loads), over what runs by itself (workflows, hooks, builds, packaging) or over anything outside of the
repository, unless the user names the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from repopilot.code.languages import file_kind, is_test_path
from repopilot.errors import GenerationFailed
from repopilot.tools import file_change

_RUN_BY_TOOLS = re.compile(
    r"(?:conftest|sitecustomize|usercustomize|setup|noxfile|fabfile|tasks|build|gulpfile|gruntfile|rakefile|jakefile|"
    r"makefile|gnumakefile|justfile|dockerfile|containerfile|vagrantfile|jenkinsfile|procfile|gemfile|podfile|cmakelists|"
    r"[\w.-]+\.config|[\w.-]+rc)(?:\.\w+)?",
    re.I,
)


def may_write(path: str, task: str, existing: Collection[str]) -> bool:
    """Whether a model may write a file that is not among those it was asked for.

    Args:
        path: as the model wrote it.
        task: the user's words; a file that they name may be written.
        existing: the files of the repository.
    """
    try:
        safe = file_change.safe_path(path)
    except GenerationFailed:
        return False
    if PurePosixPath(safe).name in task or safe in task:
        return True
    hidden = any(part.startswith(".") for part in PurePosixPath(safe).parts)
    judges = is_test_path(safe) and safe in existing
    return not (hidden or judges or file_kind(safe) == "config" or _RUN_BY_TOOLS.fullmatch(PurePosixPath(safe).name))
