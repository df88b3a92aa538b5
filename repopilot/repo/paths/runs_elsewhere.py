"""Files that run, or define what runs, on the git host's machines or on those of people who open the repository. A
change for an issue never touches them, as anybody can write an issue; any other change reports them. Pure."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

NAMES = """
    .gitattributes .gitconfig .gitmodules .lfsconfig
    codeowners dependabot.y*ml renovate.json* .renovaterc* mergify.y*ml .mergify.y*ml
    action.y*ml .gitlab-ci*.y*ml jenkinsfile* *.jenkinsfile azure-pipelines* bitbucket-pipelines.y*ml
    .appveyor.y*ml appveyor.y*ml .travis.y*ml .cirrus.* .drone.* .woodpecker.* .semaphore.y*ml .scrutinizer.y*ml
    .circleci.y*ml circle.y*ml buildspec*.y*ml cloudbuild*.* buildkite.y*ml wercker.y*ml codeship-*.y*ml shippable.y*ml
    bitrise.y*ml codemagic.y*ml .build.y*ml .builds.y*ml .zuul.y*ml zuul.y*ml .gocd.y*ml .cpanel.y*ml dagger.json
    .readthedocs.y*ml readthedocs.y*ml netlify.toml vercel.json now.json render.y*ml heroku.y*ml procfile
    firebase.json wrangler.* amplify.y*ml apphosting.y*ml skaffold.y*ml tiltfile
    .pre-commit-*.y*ml lefthook* .lefthook* .overcommit.y*ml .huskyrc* .lintstagedrc* .githooks.*
    .mcp.json mcp.json .cursorrules .windsurfrules .clinerules* .roomodes .aider.* .goosehints
    agents.md agents.override.md claude.md claude.local.md gemini.md copilot-instructions.md
    *.code-workspace devcontainer.json .devcontainer.json .gitpod.* .replit replit.nix
    .envrc .env .bashrc .profile .tool-versions mise*.toml .mise*.toml
    .npmrc .yarnrc* .pnpmfile.* .pypirc .netrc .curlrc .wgetrc .bazelrc .gdbinit .lldbinit .vimrc .exrc .nvim*
    .dir-locals.el .editrc .inputrc .irbrc .pryrc .pdbrc .pythonrc*
""".split()
"""Patterns for file names in any folder; lower-case letters match both cases."""
FOLDERS = frozenset({"githooks", "git-hooks"})
"""Besides every folder whose name begins with a dot (`.github`, `.circleci`, `.husky`, `.vscode`, `.claude`)."""
_STARTED = frozenset(("conftest.py", "sitecustomize.py", "usercustomize.py"))
"""Files that pytest and Python run when they find them."""


def unasked(path: str, task: str) -> bool:
    """Whether a file runs by itself, or defines what runs, and the task doesn't name it."""
    name = path.rpartition("/")[2].casefold()
    return (name in _STARTED or name.endswith(".pth") or runs_elsewhere(path)) and name not in task.casefold()


def runs_elsewhere(path: str) -> bool:
    """Whether a change for an issue leaves a file out.

    Args:
        path: in the repository. Letter case, and dots and spaces at the end of a name, make no difference, and a
            backslash counts as a slash, as they do on Windows or macOS.
    """
    *folders, name = (part.rstrip(". ") or part for part in re.split(r"[\\/]+", path.casefold()))
    return any(each.startswith(".") or each in FOLDERS for each in folders) or any(
        fnmatchcase(name, pattern) for pattern in NAMES
    )
