"""Sets the version that a project requires: of its language, its runtime or a dependency."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import task_paths
from repopilot.agents.editing.exact.manifests.python_minimum import drop_older
from repopilot.agents.editing.exact.manifests.requirement_places import (
    RequirementPlace,
    requirement_places,
    same_requirement,
)
from repopilot.agents.editing.exact.manifests.runtime_places import RUNTIMES, runtime_places
from repopilot.agents.editing.exact.manifests.version_specs import (
    common_operator,
    following,
    lowest_version,
    version_key,
)
from repopilot.agents.editing.exact.sources import Patch, Sources
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

DEFAULT_OPERATORS = {"pep508": ">=", "poetry": "^", "npm": "^"}
_LOCKS = {
    "pep508": ("uv.lock", "pdm.lock", "Pipfile.lock"),
    "poetry": ("poetry.lock",),
    "npm": ("package-lock.json", "yarn.lock", "pnpm-lock.yaml"),
    "cargo": ("Cargo.lock",),
    "go": ("go.sum",),
}


def require_version(task: ExactTask, sources: Sources) -> Patch | None:
    """Set the version that a project requires of something.

    Args:
        task: of kind require_version: what is required in `name`, its version or requirement in `new`, perhaps the
            manifest in `places` and a group in `extra`.
        sources: the files.

    Returns:
        The changes; None where no manifest requires it.

    Raises:
        GenerationFailed: it is required like that already, not as the task says, or the requirement's other parts
            exclude the version.
    """
    runtime = RUNTIMES.get(task.name.lower())
    found = list(runtime_places(runtime, sources)) if runtime is not None else []
    found = found or [p for p in requirement_places(sources) if same_requirement(p.name, task.name, p.form)]
    found = chosen_places(found, task, sources)
    if not found or not task.new.strip():
        return None
    first = _expected(found, task)
    patch = Patch()
    others = [p for p in found if p.path != first.path or not runtime] if runtime is None else []
    changed = [p for p in found if p.spec == first.spec and (p.spec or p == first)] if runtime is None else found
    for place in changed:
        _set(place, task, sources, patch)
    if not patch.edits:
        raise GenerationFailed(
            i18n.message("exact.required_already", name=task.name, version=first.spec, path=first.path)
        )
    for place in others:
        source = sources.get(place.path)
        if place not in changed and place.spec and source is not None:
            patch.leave_open(source, place.start, i18n.message("exact.open.other_requirement"))
    if runtime == "python":
        _follow_python(first, patch, sources)
    note_locks(changed, sources, patch)
    return patch


def chosen_places(found: Sequence[RequirementPlace], task: ExactTask, sources: Sources) -> list[RequirementPlace]:
    """The requirements in the files and the group that a task names; those of the project itself first."""
    paths = task_paths(task, sources)
    group = task.extra.get("group", "")
    kept = [p for p in found if (not paths or p.path in paths) and (not group or same_group(p.group, group))]
    return sorted(kept, key=lambda p: (p.path.count("/"), p.group != ""))


def same_group(one: str, other: str) -> bool:
    """Whether two names are those of one group: `test` and `tests`, `dev` and `development`."""
    short = {"development": "dev", "testing": "test", "documentation": "doc"}
    first, second = (short.get(n.lower(), n.lower().rstrip("s")) for n in (one, other))
    return first == second


def _expected(found: Sequence[RequirementPlace], task: ExactTask) -> RequirementPlace:
    """The requirement that the task means first; one that holds the old version it says.

    Raises:
        GenerationFailed: none does.
    """
    if not task.old:
        return found[0]
    wanted = task.old.replace(" ", "")
    fitting = [p for p in found if wanted in p.spec.replace(" ", "")]
    if not fitting:
        raise GenerationFailed(
            i18n.message("exact.other_value", name=task.name, value=found[0].spec or "?", expected=task.old)
        )
    return fitting[0]


def _set(place: RequirementPlace, task: ExactTask, sources: Sources, patch: Patch) -> None:
    default = DEFAULT_OPERATORS.get(place.form, "")
    if not place.spec:
        beside = [p.spec for p in requirement_places(sources) if p.path == place.path and p.group == place.group]
        default = common_operator((s for s in beside if s), default)
    new = following(task.new, place.spec, default)
    if new is None:
        raise GenerationFailed(
            i18n.message("exact.excluded_version", version=task.new, name=task.name, old=place.spec, path=place.path)
        )
    if new != place.spec:
        patch.replace(place.path, place.start, place.end, new)
        patch.edits.append(Edit("set_value", place.path, place.name, new))


def _follow_python(first: RequirementPlace, patch: Patch, sources: Sources) -> None:
    """Drop what is for older versions where the lowest version rises."""
    new = next((e.text for e in patch.edits if e.path == first.path), "")
    lowest, before = lowest_version(new), lowest_version(first.spec)
    if lowest and before and version_key(lowest)[:2] > version_key(before)[:2]:
        drop_older(lowest, sources, patch)


def note_locks(places: Sequence[RequirementPlace], sources: Sources, patch: Patch) -> None:
    """Say which lock files are out of date now."""
    for form in dict.fromkeys(p.form for p in places):
        for name in _LOCKS.get(form, ()):
            if sources.get(name) is not None:
                patch.notes.append(i18n.message("exact.lock_file", path=name))
