"""Answers questions about dependencies, versions and the licence from the manifests and the lines that name them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.agents.explain.forms.cited_places import CitedPlaces
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.manifests import dependencies, facts, manifests
from repopilot.agents.explain.forms.question_subject import Subject, subject_of
from repopilot.agents.explain.forms.recognise import Form
from repopilot.code.import_statements import Import
from repopilot.code.manifest_entries import Dependency, ProjectFact
from repopilot.index.store import Index
from repopilot.index.tokens import expand

MOST_ROWS = 40
"""Dependencies in one list; what is left out is counted."""
_GROUP_ORDER = ("runtime", "peer", "optional", "build", "dev")
_LEAST_SHARE = 0.45
_CLEAR_LEAD = 1.25
_MOST_CHUNKS = 120
_SHOWN_CANDIDATES = 3
_HIT_WEIGHT = 0.6
_LICENCE = re.compile(r"\blicen[cs]", re.I)
_VERSION = re.compile(r"\bversions? (?:of|de|d')\s*([\w.+#@/-]+)|\b([\w.+#@/-]+) versions?\b|\b(MSRV)\b", re.I)
FORM_WORDS = re.compile(
    r"\b(?:dependenc\w+|librar\w+|packages?|crates?|gems?|install\w*|rel(?:y|ies)|depends?|requires?d?|needs?|need|"
    r"project|repository|third|party|external|have|uses?|list|show|"
    r"dépendances?|bibliothèques?|paquets?|dépend|projet|quelles?|quels?|sont)\b",
    re.I,
)
"""The words that only say that a dependency is asked for."""


def answer_dependency(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which dependencies there are, which one serves a purpose, which version is required, or which licence.

    Args:
        form: of the question.
        inquiry: the question.

    Returns:
        The answer; None where no manifest says it.
    """
    if not manifests(inquiry.index):
        return None
    if _LICENCE.search(inquiry.question):
        return _own_fact(inquiry, "licence")
    if asked := _VERSION.search(inquiry.question):
        return _version(inquiry, asked[1] or asked[2] or asked[3])
    subject = subject_of(inquiry.results.query, inquiry.index.lexical, FORM_WORDS)
    return _one(inquiry, subject) if subject else _all(inquiry)


def _all(inquiry: Inquiry) -> CodeAnswer | None:
    needs = list(dependencies(inquiry.index))
    if not needs:
        return None
    needs.sort(key=lambda d: _GROUP_ORDER.index(d.group))
    language, cited = inquiry.language, CitedPlaces(inquiry.index)
    paths = ", ".join(f"`{path}`" for path in dict.fromkeys(d.path for d in needs))
    rows = [i18n.text("forms.dependencies.all", language, count=len(needs), paths=paths)]
    group = ""
    for need in needs[:MOST_ROWS]:
        if need.group != group:
            group = need.group
            rows.append(f"\n**{i18n.text(f'forms.dependencies.groups.{group}', language)}**")
        rows.append(f"- {_named(need)} {cited.cite(need.path, need.line)}")
    left_out = max(0, len(needs) - MOST_ROWS)
    if left_out:
        rows.append(i18n.text("forms.left_out", language, count=left_out))
    return CodeAnswer("dependency", "\n".join(rows), cited.places, True, left_out)


def _named(need: Dependency) -> str:
    return f"`{need.name}` {need.constraint}".strip() + (f" ({need.extra})" if need.extra else "")


def _version(inquiry: Inquiry, name: str) -> CodeAnswer | None:
    cited, language = CitedPlaces(inquiry.index), inquiry.language
    plain = _plain("rust" if name.upper() == "MSRV" else name)
    found = [f for f in facts(inquiry.index, "language") if _plain(f.subject) == plain]
    if found:
        best = found[0]
        values = {"name": best.subject, "value": best.value, "cite": cited.cite(best.path, best.line)}
        return CodeAnswer("version", i18n.text("forms.dependencies.required", language, **values), cited.places, True)
    needs = [d for d in dependencies(inquiry.index) if plain in map(_plain, aliases(d.name)) and d.constraint]
    if not needs:
        return None
    key = "forms.dependencies.required"
    rows = [
        i18n.text(key, language, name=f"`{d.name}`", value=d.constraint, cite=cited.cite(d.path, d.line)) for d in needs
    ]
    return CodeAnswer("version", "\n".join(dict.fromkeys(rows)), cited.places, True)


def _own_fact(inquiry: Inquiry, kind: str) -> CodeAnswer | None:
    found: ProjectFact | None = next(facts(inquiry.index, kind), None)
    if found is None:
        return None
    cited = CitedPlaces(inquiry.index)
    values = {"value": found.value, "path": found.path, "cite": cited.cite(found.path, found.line)}
    return CodeAnswer(kind, i18n.text(f"forms.dependencies.{kind}", inquiry.language, **values), cited.places, True)


def aliases(name: str) -> tuple[str, ...]:
    """The names by which text and code may call a dependency: of `github.com/a/mapstructure/v2` the last part."""
    short = re.sub(r"/v\d+$", "", name.split(":")[-1])
    short = re.sub(r"\.v\d+$", "", short.rpartition("/")[2])
    bare = re.sub(r"^(?:python|node|go|rust|ruby)-|[-.](?:js|py|go|rs|rb)$", "", short, flags=re.I)
    return tuple(dict.fromkeys(a for a in (name, short, bare, short.replace("-", "_")) if len(a) > 1))


def _plain(name: str) -> str:
    return re.sub(r"[-_.\s]|js$", "", name.lower())


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A dependency with how well its best mention fits the question, and where that is ('' and 0 for none)."""

    need: Dependency
    score: float
    path: str = ""
    line: int = 0


def _one(inquiry: Inquiry, subject: Subject) -> CodeAnswer | None:
    index = inquiry.index
    needs: dict[str, Dependency] = {}
    for need in dependencies(index):
        needs.setdefault(need.name.lower(), need)
    used = {path: index.imports(path) for path in dict.fromkeys(h.chunk.path for h in inquiry.results.hits)}
    found = sorted((_judged(inquiry, need, subject, used) for need in needs.values()), key=lambda c: -c.score)
    best = [c for c in found if c.score >= _LEAST_SHARE][:_SHOWN_CANDIDATES]
    if not best:
        return None
    sure = len(found) == 1 or best[0].score >= _CLEAR_LEAD * found[1].score
    return _told(inquiry, best[:1] if sure else best, sure)


def _told(inquiry: Inquiry, best: Sequence[_Candidate], sure: bool) -> CodeAnswer:
    cited, language = CitedPlaces(inquiry.index), inquiry.language
    rows = []
    for candidate in best:
        need = candidate.need
        row = f"{_named(need)} {cited.cite(need.path, need.line)}"
        if candidate.path and (candidate.path, candidate.line) != (need.path, need.line):
            quoted = " ".join((inquiry.index.lines(candidate.path, candidate.line, candidate.line) or "").split())
            row += f": `{quoted[:160].replace('`', '')}` {cited.cite(candidate.path, candidate.line)}"
        rows.append(row)
    if sure:
        text = i18n.text("forms.dependencies.one", language, row=rows[0])
    else:
        text = "\n".join([i18n.text("forms.dependencies.likely", language), *(f"- {row}" for row in rows)])
    return CodeAnswer("dependency", text, cited.places, sure)


def _judged(
    inquiry: Inquiry, need: Dependency, subject: Subject, imports: Mapping[str, Sequence[Import]]
) -> _Candidate:
    best = _Candidate(need, 0.9 * subject.share(_manifest_lines(inquiry.index, need)))
    for path, line, window in _mentions(inquiry.index, need):
        share = subject.share(window)
        if share > best.score:
            best = _Candidate(need, share, path, line)
    top = max((hit.score for hit in inquiry.results.hits), default=1.0) or 1.0
    chunks = ((hit.score / top, hit.chunk) for hit in inquiry.results.hits)
    used = (score for score, chunk in chunks if _used_in(need, imports[chunk.path], chunk.text))
    return _Candidate(need, best.score + _HIT_WEIGHT * max(used, default=0.0), best.path, best.line)


def _manifest_lines(index: Index, need: Dependency) -> str:
    """The line that declares a dependency, with the comment before or behind it."""
    lines = (index.text(need.path) or "").split("\n")
    before = lines[need.line - 2] if need.line > 1 and re.match(r"\s*(#|//|<!--)", lines[need.line - 2]) else ""
    return f"{before} {lines[need.line - 1]} {need.extra}"


def _mention(need: Dependency) -> re.Pattern[str]:
    names = "|".join(re.escape(alias) for alias in aliases(need.name))
    return re.compile(
        rf"[`\[\"'/](?:{names})(?:[`\]\"'/]|::|\.)|\b(?:{names})(?:::|\.[A-Za-z_])|^[^\S\n]*[-*]\s+(?:{names})\b|"
        rf"^[^\S\n]*(?:import|from|use|using|require\w*|extern crate)\b.*?\b(?:{names})\b",
        re.M,
    )


def _mentions(index: Index, need: Dependency) -> Iterator[tuple[str, int, str]]:
    """(path, line, text around it) of each place outside tests that names a dependency as code or as a link."""
    pattern = _mention(need)
    for row in _rows_naming(index, need):
        chunk = index.chunks[row]
        lines = chunk.text.split("\n")
        for match in pattern.finditer(chunk.text):
            at = chunk.text.count("\n", 0, match.start() + (match[0][:1] == "\n"))
            around = 0 if chunk.kind in ("doc", "config") else 3
            window = lines[max(0, at - around) : at + around + 1]
            yield chunk.path, chunk.start_line + at, f"{chunk.symbol} " * (around > 0) + "\n".join(window)


def _rows_naming(index: Index, need: Dependency) -> Iterator[int]:
    lexical, found = index.lexical, dict[int, None]()
    for alias in aliases(need.name):
        token = next((lexical.tokens[t] for t in expand(alias.replace("-", "_")) if t in lexical.tokens), None)
        if token is None or not re.fullmatch(r"[\w-]+", alias):
            continue
        found.update(dict.fromkeys(lexical.fields["body"].of(token)[0].tolist()))
    skipped = lexical.role("test") | lexical.role("generated") | lexical.role("vendored")
    usable = (row for row in found if not skipped[lexical.file_of[row]])
    yield from list(usable)[:_MOST_CHUNKS]


def _used_in(need: Dependency, imports: Sequence[Import], text: str) -> bool:
    """Whether a text uses something that its file imports from a dependency."""
    names = {_plain(alias) for alias in aliases(need.name)}
    for imported in imports:
        parts = re.split(r"::|[./\\]", imported.module)
        if {_plain(imported.module), *map(_plain, parts)} & names:
            bound = [name for name in (*imported.bound, parts[0], parts[-1]) if len(name) > 1]
            if any(re.search(rf"\b{re.escape(name)}\b", text) for name in bound):
                return True
    return False
