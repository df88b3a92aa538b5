"""The pages of subjects that cut across the components. A subject has a page where the code imports, defines or raises
something of it; words in texts don't count. Sync."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from repopilot import i18n
from repopilot.agents.overview.overview_values import DataKind
from repopilot.agents.overview.render import code, command_text
from repopilot.agents.overview.repository_parts import subclasses
from repopilot.agents.overview.uses import reached
from repopilot.agents.wiki.component_facts import ComponentFacts
from repopilot.agents.wiki.reader_lists import described, note_of
from repopilot.agents.wiki.subject_modules import Subject, entry_of
from repopilot.agents.wiki.wiki_page import Page
from repopilot.code.file_analysis import FileAnalysis, Import
from repopilot.index.manifests import facts as manifest_facts
from repopilot.retrieval.places.checked_docs import said_of
from repopilot.types import Symbol

MOST_ROWS = 200
_ROOTS = ("Exception", "BaseException", "Error", "RuntimeException", "RuntimeError", "ValueError", "Throwable")
"""Built-in classes whose subclasses are errors."""
_RAISE = re.compile(r"\b(?:raise|throw)\b")
_RETURN = re.compile(r"\breturn\b")
_RUST_ERROR = re.compile(r"\b(?:enum|struct) ")
_GO_ERROR = re.compile(r"[Ee]rr[A-Z]")
_WHOLE = ("*", "default")
"""What an import has in place of a name where it imports the module itself."""


def _stored_data(facts: ComponentFacts, page: Page) -> None:
    """Tables and schemas, and the libraries that store data."""
    _data_sections(("table", "schema"), facts, page)
    _libraries("stored-data", facts, page)


def _data_sections(kinds: Sequence[DataKind], facts: ComponentFacts, page: Page) -> None:
    """What is stored, or what configures the code. Names, never values."""
    for kind in kinds:
        places = [place for place in facts.overview.data if place.kind == kind]
        rows = [f"- {code(p.name)} {page.at(p.path, p.line)}" for p in places[:MOST_ROWS]]
        page.section(f"overview.data.{kind}", rows)


def _errors(facts: ComponentFacts, page: Page) -> None:
    """The errors that the components define, what they are and where they are raised."""
    found = [*_error_classes(facts), *_errors_by_convention(facts)]
    often = Counter(error.name for error in found)
    rows = []
    for error in found:
        whole = replace(described(facts.index, error), note=said_of(facts.index, error))
        said = note_of(whole, page.language)
        form = _RETURN if facts.index.files[error.path].language == "go" else _RAISE
        raised = _raised(facts, error.name, page, form) if often[error.name] == 1 else ""
        name = error.signature if error.kind == "variable" and not said else error.qualified
        about = f"{code(name)}{f': {said}' if said else ''}"
        rows.append(f"- {about} {page.at(error.path, error.start_line)}{raised}")
    page.section("wiki.error_classes", rows[:MOST_ROWS])


def _error_classes(facts: ComponentFacts) -> list[Symbol]:
    heirs = cache(lambda name: [each for each in subclasses(facts.index, name) if each.path in facts.component_of])
    names = {*_ROOTS, *reached(_ROOTS, lambda name: (each.name for each in heirs(name)))}
    found = {(each.path, each.start_line): each for name in names for each in heirs(name)}
    return [error for _, error in sorted(found.items())]


def _errors_by_convention(facts: ComponentFacts) -> Iterator[Symbol]:
    """The errors of languages in which they aren't classes: in Go, variables named by its convention, and types with
    the method `Error`; in Rust, types by their names."""
    for path in facts.component_of:
        known = facts.index.outline(path)
        if facts.index.files[path].language == "go":
            errors = {s.qualified.rpartition(".")[0] for s in known if s.signature.endswith(" Error() string")}
            named = (s for s in known if s.kind == "variable" and _GO_ERROR.match(s.name))
            whole = {s.qualified for s in named if not s.signature.endswith(f".{s.name}")}  # others are aliases
            yield from (s for s in known if s.qualified in errors | whole)
        elif facts.index.files[path].language == "rust":
            yield from (s for s in known if _RUST_ERROR.search(s.signature) and s.name.endswith("Error"))


def _raised(facts: ComponentFacts, name: str, page: Page, form: re.Pattern[str]) -> str:
    """In how many places an error is raised or returned, on a line of a form, and the first of them."""
    places = dict.fromkeys(
        (each.path, each.line)
        for each in facts.index.references(name)
        if each.path in facts.component_of and form.search(facts.index.lines(each.path, each.line, each.line) or "")
    )
    if not places:
        return ""
    said = i18n.text("wiki.returned" if form is _RETURN else "wiki.raised", page.language, count=len(places))
    return f"; {said} {page.at(*min(places))}"


def _testing(facts: ComponentFacts, page: Page) -> None:
    """How tests are run, and which test files use each component."""
    rows = []
    for link, tests in zip(facts.links, facts.tests, strict=True):
        if tests:
            count = i18n.text("overview.tests", page.language, count=len(tests))
            rows.append(f"- {link}: {count} ({page.whole(tests[0])})")
    if command := facts.overview.commands.get("test") if rows else None:
        page.section("overview.sections.commands", [f"- {command_text(command, page.at)}"])
    page.section("overview.sections.components", rows)


def _libraries(subject: Subject, facts: ComponentFacts, page: Page) -> None:
    """What the code uses of the modules of a subject: a row for each module, with the components that use it."""
    found: dict[str, dict[str, int]] = {}
    own = {fact.value for fact in manifest_facts(facts.index, "name")}
    for path in facts.component_of:
        analysis = facts.index.uses_in(path)
        for what, line in _used_of_modules(analysis) if analysis else ():
            entry = entry_of(subject, facts.index.files[path].language, what)
            if entry and entry not in own:
                found.setdefault(entry, {}).setdefault(path, line)
    rows = []
    for entry, lines in sorted(found.items(), key=lambda each: (-len(each[1]), each[0])):
        count = i18n.text("wiki.files", page.language, count=len(lines))
        users = ", ".join(facts.links[n] for n in sorted({facts.component_of[path] for path in lines}))
        rows.append(f"- {page.linked(code(entry), *min(lines.items()))}: {count}, {users}")
    page.section("wiki.libraries", rows)


def _used_of_modules(analysis: FileAnalysis) -> Iterator[tuple[str, int]]:
    """The names that a file uses of modules it imports (`threading.Lock`), and the modules of which it uses none."""
    for each in analysis.imports:
        module = each.module.removeprefix("node:").strip("\"'<>")
        mark = "::" if analysis.language == "rust" else "\\" if analysis.language == "php" else "."
        named = [(f"{module}{mark}{name}", each.line) for name, _ in each.names if name not in _WHOLE]
        if not named:
            local = _local_names(each, module)
            named = [(f"{module}{mark}{use.name}", use.line) for use in analysis.uses if use.receiver in local]
        yield from named or [(module, each.line)]


def _local_names(each: Import, module: str) -> set[str]:
    """The local names of a module that a file imports as a whole; the `a` that `import a.b` binds isn't one."""
    bound = {local for name, local in each.names if name in _WHOLE and local not in _WHOLE}
    alias = {each.alias} if each.alias and not module.startswith(f"{each.alias}.") else set()
    return {module} | bound | alias


SUBJECTS: Mapping[str, Callable[[ComponentFacts, Page], None]] = {
    "configuration": partial(_data_sections, ("settings", "variable", "config")),
    "stored-data": _stored_data,
    "errors": _errors,
    "concurrency": partial(_libraries, "concurrency"),
    "security": partial(_libraries, "security"),
    "testing": _testing,
}
"""What cuts across the components, in the order of the pages, by the names of these without `.md`: each writes an empty
page, which stays empty where the repository doesn't have the subject."""
