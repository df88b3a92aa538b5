"""Rules on paths: which files are worth reading, by name and size alone, and in which order. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from pathspec import GitIgnoreSpec

from repopilot import i18n
from repopilot.code.formats.notebook import ROOM, is_notebook
from repopilot.code.generated import generated_name
from repopilot.code.languages import PATHS_CACHED, is_doc_path, is_example_path, is_test_path, language_of
from repopilot.redaction.secret_paths import secret_name

UNKNOWN_KIND = "repo.skip.unknown_kind"
_DEPENDENCIES = frozenset(
    "node_modules bower_components jspm_packages site-packages dist-packages .venv venv virtualenv .virtualenv vendor "
    "vendored _vendor third_party 3rdparty Pods Carthage .yarn .pnpm-store .bundle .cargo .gradle .m2 .ivy2 deps "
    "Godeps elm-stuff .pub-cache".split()
)
_NO_PACKAGES = frozenset("venv virtualenv deps".split())
"""Of these, names that aren't Python packages as a rule: with an `__init__.py` they are code of the repository."""
_OUTPUT_ANYWHERE = frozenset(
    "__pycache__ .mypy_cache .pytest_cache .ruff_cache .tox .nox .eggs .next .nuxt .svelte-kit .turbo .parcel-cache "
    ".output .angular .terraform .serverless htmlcov .nyc_output .hypothesis .ipynb_checkpoints .cache .dart_tool "
    "DerivedData cmake-build-debug cmake-build-release storybook-static .git .hg .svn .idea .vs __generated__".split()
)
_OUTPUT_BESIDE_MANIFEST = frozenset("build dist out target bin obj _build coverage".split())
_MANIFESTS = frozenset(
    "package.json Cargo.toml pom.xml build.gradle build.gradle.kts setup.py setup.cfg pyproject.toml mix.exs dub.json "
    "CMakeLists.txt tsconfig.json composer.json".split()
)
_SOURCE_LIKE = re.compile(
    r"(?:^|/)bin/[^/]+\.[cm]?[jt]s$|\.(go|rs|java|kt|c|cc|cpp|h|hpp|cs|rb|py|sh|pl|ps1|php|swift|scala)$"
)
_BINARY = frozenset(
    "png jpg jpeg gif bmp ico icns webp avif tif tiff psd ai eps svgz mp3 mp4 m4a wav ogg flac avi mov mkv webm zip gz "
    "tgz bz2 xz zst 7z rar jar war ear whl egg so dylib dll exe a lib o obj class pyc pyo wasm bin dat db sqlite "
    "sqlite3 pdf doc docx xls xlsx ppt pptx odt woff woff2 ttf otf eot pt pth onnx gguf safetensors npy npz pkl "
    "pickle parquet feather h5 hdf5 tfrecord iso dmg deb rpm apk ipa keystore mo swf fla blend glb fbx stl".split()
)
_FIRST = frozenset("src lib app apps packages pkg cmd internal core server client api crates".split())


def is_inside(path: str) -> bool:
    """Whether a path from the repository's root stays inside it, and out of its `.git`."""
    return not any(part in ("", ".", "..") or part.lower() == ".git" for part in path.split("/"))


def dependency_or_output(path: str, manifests: Collection[str]) -> str | None:
    """Why a path is in a folder of generated or third-party files, None when it isn't.

    Args:
        path: a POSIX path from the repository's root.
        manifests: as `manifest_folders` has them. `build`, `dist`, … count as output only beside one, or at the root;
            elsewhere they are ordinary names of packages.
    """
    folders = path.split("/")[:-1]
    for depth, folder in enumerate(folders):
        if folder in _DEPENDENCIES and "/".join(folders[: depth + 1]) not in manifests:
            return i18n.message("repo.skip.dependency", folder=folder)
        if folder in _OUTPUT_ANYWHERE or folder.endswith((".egg-info", ".dist-info", ".xcodeproj", ".xcassets")):
            return i18n.message("repo.skip.output_or_cache", folder=folder)
        if folder in _OUTPUT_BESIDE_MANIFEST and (depth == 0 or "/".join(folders[:depth]) in manifests):
            if folder in ("bin", "build", "coverage") and _SOURCE_LIKE.search(path) and (depth == 0 or folder == "bin"):
                continue  # scripts, build tools or a package of that name; no report is written in these languages
            return i18n.message("repo.skip.output", folder=folder)
    return None


def manifest_folders(paths: Collection[str]) -> frozenset[str]:
    """The folders with a package manifest, '' for the root, and the packages that are named like an environment."""
    found = (path.rpartition("/") for path in paths)
    return frozenset(folder for folder, _, name in found if _is_manifest(folder, name))


def _is_manifest(folder: str, name: str) -> bool:
    own = folder.rpartition("/")[2]
    if own in _DEPENDENCIES:
        return name == "__init__.py" and own in _NO_PACKAGES
    return name in _MANIFESTS


def reason_to_skip(
    path: str, size: int, max_bytes: int, manifests: Collection[str], *, script: bool = False
) -> str | None:
    """Why a file is not read, as a message for the user; None when it is worth reading.

    Args:
        path: a POSIX path from the repository's root.
        size: in bytes.
        max_bytes: the size of the largest file that is read; a notebook may be larger, as only a part of it is read.
        manifests: as in `dependency_or_output`.
        script: whether its first line tells its language and its name doesn't.
    """
    if secret_name(path):
        return i18n.message("repo.skip.secrets")
    if found := dependency_or_output(f"{path}.sh" if script else path, manifests):
        return found
    if (found := _unread_kind(path)) and not (script and found == UNKNOWN_KIND):
        return i18n.message(found)
    if size > largest_read(path, max_bytes):
        return i18n.message("repo.skip.large", kilobytes=max_bytes >> 10)
    return i18n.message("repo.skip.empty") if size == 0 else None


def largest_read(path: str, max_bytes: int) -> int:
    """The size in bytes of the largest file that is read; arguments as in `reason_to_skip`."""
    return max_bytes * (ROOM if is_notebook(path) else 1)


def is_binary_name(path: str) -> bool:
    """Whether the extension is that of a binary file."""
    return path.rpartition(".")[2].lower() in _BINARY


@lru_cache(maxsize=PATHS_CACHED)
def _unread_kind(path: str) -> str:
    """The message key for why files of this kind are not read, '' for those that are."""
    if is_binary_name(path):
        return "repo.skip.binary"
    if generated_name(path):
        return "repo.skip.generated"
    return "" if language_of(path) else UNKNOWN_KIND


class PathPatterns:
    """The include and exclude patterns of the settings (gitignore syntax), compiled once for each walk."""

    def __init__(self, include: Collection[str], exclude: Collection[str]) -> None:
        self._include = GitIgnoreSpec.from_lines(include) if include else None
        self._exclude = GitIgnoreSpec.from_lines(exclude) if exclude else None

    def reason_to_skip(self, path: str) -> str | None:
        """Why the patterns leave a path out, None when they don't."""
        if self._exclude is not None and self._exclude.match_file(path):
            return i18n.message("repo.skip.excluded")
        if self._include is not None and not self._include.match_file(path):
            return i18n.message("repo.skip.not_included")
        return None


@lru_cache(maxsize=PATHS_CACHED)
def usefulness(path: str) -> tuple[int, str]:
    """Sort key: source folders and top-level files first, then other code, documentation, examples, tests."""
    top = path.split("/", 1)[0]
    if is_test_path(path):
        rank = 5
    elif is_example_path(path):
        rank = 4
    elif is_doc_path(path):
        rank = 1 if "/" not in path else 3
    elif top in _FIRST:
        rank = 0
    else:
        rank = 1 if "/" not in path else 2
    return rank, path
