"""Answers which value a name has where it is defined: a constant, a default, an attribute, a key of a data file."""

from __future__ import annotations

from collections.abc import Iterator

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.compose import Item, listing, sentence
from repopilot.agents.explain.forms.known_symbols import dotted, is_program
from repopilot.agents.explain.forms.recognise import Form
from repopilot.code.value_sites import ValueSite, sites_in
from repopilot.foreign_text import code_span
from repopilot.index.store import Index
from repopilot.index.tokens import expand

MOST_VALUES = 8
"""Different values of one name that are still an answer."""
MOST_FILES = 60
"""Files that use the name and are read for its value."""


def answer_value(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer the value of a name; of two names, that of the one inside the other."""
    found = {(site.path, site.start): site for site in _sites(form.names, inquiry)}
    if not 0 < len(found) <= MOST_VALUES:
        return None
    items = [_item(site, inquiry) for site in found.values()]
    if len(items) == 1:
        return sentence(inquiry, "value", items[0].text, items)
    heading = i18n.text("forms.values", inquiry.language, name=f"`{form.names[-1]}`")
    return listing(inquiry, "value", heading, items, sure=False)


def _sites(names: tuple[str, ...], inquiry: Inquiry) -> Iterator[ValueSite]:
    index, parts = inquiry.index, [dotted(name).split(".") for name in names]
    wanted = {name[-1] for name in parts}
    around = {part for name in parts for part in name}
    paths = dict.fromkeys(path for name in wanted for path in files_with(name, index))
    usable = [p for p in paths if is_program(index, p) and index.files[p].kind in ("code", "config", "schema")]
    for path in [p for p in usable if index.files[p].parsed or index.files[p].kind == "config"][:MOST_FILES]:
        for site in sites_in(path, index.text(path) or ""):
            own = ".".join(site.keys).split(".")
            if own[-1] in wanted and around <= {*own, *path.replace(".", "/").split("/")}:
                yield site


def files_with(name: str, index: Index) -> list[str]:
    """The files in whose text a name occurs, by the last part of it."""
    lexical, parts = index.lexical, expand(dotted(name).rpartition(".")[2])
    token = lexical.tokens.get(parts[0]) if parts else None
    if token is None:
        return []
    numbers = {int(lexical.file_of[row]) for row in lexical.fields["body"].of(token)[0]}
    return [lexical.files[number] for number in sorted(numbers)]


def _item(site: ValueSite, inquiry: Inquiry) -> Item:
    text = (inquiry.index.text(site.path) or "").encode()
    line = text.count(b"\n", 0, site.start) + 1
    values = {"name": f"`{site.name}`", "value": code_span(site.text), "path": f"{site.path}:{line}"}
    return Item(i18n.text("forms.value", inquiry.language, **values), site.path, line, line, site.name)
