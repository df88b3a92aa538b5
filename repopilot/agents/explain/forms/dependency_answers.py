"""Answers questions about dependencies, versions and the licence from the manifests and the lines that name them."""

from __future__ import annotations

import re

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CitedPlaces, CodeAnswer, Inquiry
from repopilot.agents.explain.forms.recognise import Form
from repopilot.index.manifests import dependencies, facts, manifests
from repopilot.project.manifest import Dependency

MOST_ROWS = 40
"""Dependencies in one list; what is left out is counted."""
_GROUP_ORDER = ("runtime", "peer", "optional", "build", "dev")
_WORD = re.compile(r"(?<![\w.+#@/-])[\w.+#@/-]*[\w+#]")


def answer_dependency(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which dependencies there are, which version is required, or which licence.

    Args:
        form: the form of the question.
        inquiry: the question.

    Returns:
        The answer; None where no manifest says it.
    """
    if not manifests(inquiry.index):
        return None
    if form.kind == "licence":
        return _licence(inquiry)
    return _version(inquiry) if form.kind == "version" else _all(inquiry)


def _all(inquiry: Inquiry) -> CodeAnswer | None:
    needs = list(dependencies(inquiry.index))
    if not needs:
        return None
    needs.sort(key=lambda d: _GROUP_ORDER.index(d.group))
    language = inquiry.language
    cited = CitedPlaces(inquiry.index)
    paths = ", ".join(f"`{path}`" for path in dict.fromkeys(d.path for d in needs))
    rows = [i18n.text("forms.dependencies.all", language, count=len(needs), paths=paths)]
    group = ""
    for need in needs[:MOST_ROWS]:
        if need.group != group:
            group = need.group
            rows.append(f"\n**{i18n.text(f'forms.dependencies.groups.{group}', language)}**")
        rows.append(f"- {_named(need)} {cited.cite(need.path, need.line)}")
    if len(needs) > MOST_ROWS:
        rows.append(i18n.text("forms.left_out", language, count=len(needs) - MOST_ROWS))
    return CodeAnswer("dependency", "\n".join(rows), cited.places, True)


def _named(need: Dependency) -> str:
    return f"`{need.name}` {need.constraint}".strip() + (f" ({need.extra})" if need.extra else "")


def _version(inquiry: Inquiry) -> CodeAnswer | None:
    """Which version is required of the language or the dependency that the question names."""
    cited = CitedPlaces(inquiry.index)
    language = inquiry.language
    words = {_plain(word) for word in _WORD.findall(inquiry.question)}
    language_needs = [f for f in facts(inquiry.index, "language") if _plain(f.subject) in words]
    required = [(f.subject, f.value, f.path, f.line) for f in language_needs[:1]] or [
        (f"`{d.name}`", d.constraint, d.path, d.line)
        for d in dependencies(inquiry.index)
        if words & set(map(_plain, aliases(d.name))) and d.constraint
    ]
    rows = [
        i18n.text("forms.dependencies.required", language, name=name, value=value, cite=cited.cite(path, line))
        for name, value, path, line in required
    ]
    return CodeAnswer("version", "\n".join(dict.fromkeys(rows)), cited.places, True) if rows else None


def _licence(inquiry: Inquiry) -> CodeAnswer | None:
    found = next(facts(inquiry.index, "licence"), None)
    if found is None:
        return None
    cited = CitedPlaces(inquiry.index)
    values = {"value": found.value, "path": found.path, "cite": cited.cite(found.path, found.line)}
    return CodeAnswer(
        "licence", i18n.text("forms.dependencies.licence", inquiry.language, **values), cited.places, True
    )


def aliases(name: str) -> tuple[str, ...]:
    """The names that text and code may use for a dependency: `mapstructure` for `github.com/a/mapstructure/v2`."""
    short = re.sub(r"/v\d+$", "", name.split(":")[-1])
    short = re.sub(r"\.v\d+$", "", short.rpartition("/")[2])
    bare = re.sub(r"^(?:python|node|go|rust|ruby)-|[-.](?:js|py|go|rs|rb)$", "", short, flags=re.I)
    return tuple(dict.fromkeys(a for a in (name, short, bare, short.replace("-", "_")) if len(a) > 1))


def _plain(name: str) -> str:
    return re.sub(r"[-_.\s]|js$", "", name.lower())
