"""The manifests of a repository, the project's own first, read once per index."""

from __future__ import annotations

from collections.abc import Iterator

from repopilot.code.languages import is_example_path, is_test_path
from repopilot.code.project.manifest import Dependency, Manifest, ProjectFact, is_manifest, read_manifest
from repopilot.index.store import Index


def manifests(index: Index) -> tuple[Manifest, ...]:
    """The manifests of a repository, those nearest to its root first; those of tests and examples are left out."""
    return index.derived(_read)


def _read(index: Index) -> tuple[Manifest, ...]:
    paths = [p for p in index.files if is_manifest(p) and not is_test_path(p) and not is_example_path(p)]
    found = (read_manifest(path, index.text(path) or "") for path in sorted(paths, key=_depth))
    return tuple(entries for entries in found if entries is not None)


def _depth(path: str) -> tuple[int, bool, str]:
    # A file of requirements beside a real manifest says what developers install.
    return path.count("/"), path.endswith((".txt", ".in")), path


def dependencies(index: Index) -> list[Dependency]:
    """What the project declares to depend on, each name of each group once, without what others only pull in."""
    found: dict[tuple[str, str], Dependency] = {}
    declared = False
    own = {fact.value for manifest in manifests(index) for fact in manifest.facts if fact.kind == "name"}
    for manifest in manifests(index):
        is_list = manifest.path.endswith((".txt", ".in"))
        for need in manifest.dependencies:
            if (
                need.group != "indirect"
                and need.name not in own
                and not (is_list and declared and need.group == "runtime")
            ):
                found.setdefault((need.name.lower(), need.group), need)
        declared = declared or (not is_list and bool(manifest.dependencies))
    return list(found.values())


def facts(index: Index, kind: str) -> Iterator[ProjectFact]:
    """What the manifests say of the project, of one kind, those nearest to the root first."""
    for manifest in manifests(index):
        yield from (fact for fact in manifest.facts if fact.kind == kind)
