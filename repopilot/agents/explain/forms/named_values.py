"""Answers which value a name has: the default of a parameter, option or field, a constant's value, a declared type."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.compose import Item, code, listing, sentence
from repopilot.agents.explain.forms.known_symbols import definitions, dotted
from repopilot.agents.explain.forms.recognise import Form
from repopilot.agents.explain.forms.syntax.bindings import Binding, bindings
from repopilot.agents.explain.forms.syntax.occurrences import files_with, occurrences
from repopilot.index.store import Index
from repopilot.types import Symbol, innermost

MOST_VALUES = 8
"""Different defaults of one name that are still an answer."""
_VALUES = ("variable", "field")
_REFERENCE = re.compile(r"^(?:[A-Za-z_]\w*(?:\.|::))*([A-Za-z_]\w*)$")
_CALLED_DEFAULT = re.compile(r"\bdefault\s*=\s*([^,()]+|\w+\([^()]*\))\s*[,)]")


def answer_default(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer the default of a parameter, an option, a field or a constant."""
    if not form.named:
        return None
    named = _constant_of_default(inquiry.index, form.names)
    found = named or _bindings(inquiry.index, form.names)
    if found is None:
        return None
    tiers: Sequence[Callable[[Binding], bool]] = (
        lambda b: b.role in ("parameter", "option") and bool(b.value),
        lambda b: b.role in ("constant", "field") and bool(b.value),
        lambda b: b.role in ("attribute", "key", "local") and bool(b.value) and b.in_constructor,
    )
    for fits in tiers:
        chosen = [binding for binding in found if fits(binding) and not _is_variable(inquiry.index, binding)]
        if chosen:
            return _values(form, inquiry, chosen, "forms.default")
    return _required(form, inquiry, found)


def _is_variable(index: Index, binding: Binding) -> bool:
    """Whether the value is only a name, and of no known constant: then it is no value yet."""
    is_name = re.fullmatch(r"[a-z_]\w*(?:\.[a-z_]\w*)*", binding.value) is not None
    literal = binding.value in ("true", "false", "nil", "null", "undefined")
    return is_name and not literal and resolved(index, binding) is None


def answer_value(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer the value of a constant or field."""
    if not form.named:
        return None
    found = _bindings(inquiry.index, form.names) or []
    constants = [b for b in found if b.role in ("constant", "field") and b.value]
    return _values(form, inquiry, constants, "forms.value") if constants else None


def answer_type(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer the declared type of a parameter, field, constant or variable."""
    if not form.named:
        return None
    typed = [b for b in _bindings(inquiry.index, form.names) or [] if b.type]
    if not typed or len({b.type for b in typed}) > 1:
        return None
    text = i18n.text("forms.type", inquiry.language, name=f"`{typed[0].name}`", type=code(typed[0].type))
    return sentence(inquiry, form.kind, text, [_item(inquiry.index, b) for b in typed[:3]])


def resolved(index: Index, binding: Binding) -> Binding | None:
    """The constant whose name is the value of a binding; None where the value is no name of a known constant.

    Args:
        index: the repository.
        binding: for example a parameter whose default is `DEFAULT_SIZE`.
    """
    match = _REFERENCE.match(binding.value)
    if match is None or match.group(1) in ("None", "True", "False", "nil", "null", "true", "false", "self"):
        return None
    places = [s.path for s in index.symbols(match.group(1)) if s.kind in ("variable", "field", "macro", "enum")]
    if not places:
        return None
    paths = [binding.path] if binding.path in places else list(dict.fromkeys(places))
    found = occurrences(index, match.group(1), paths) or []
    constants = [b for b in bindings(found) if b.role in ("constant", "field") and b.value]
    return constants[0] if len({b.value for b in constants}) == 1 else None


def _constant_of_default(index: Index, names: Sequence[str]) -> list[Binding]:
    """The constant named as the default of a thing: `DEFAULT_TIMEOUT` for `timeout`."""
    last = dotted(names[0]).rpartition(".")[2].lstrip("-").replace("-", "_")
    camel = "".join(part[:1].upper() + part[1:] for part in last.split("_"))
    spellings = (f"DEFAULT_{last.upper()}", f"{last.upper()}_DEFAULT", f"Default{camel}", f"default{camel}")
    for spelling in spellings:
        symbols = [s for s in definitions(index, (spelling, *names[1:])) if s.kind in ("variable", "field", "macro")]
        if symbols:
            found = occurrences(index, spelling, dict.fromkeys(s.path for s in symbols)) or []
            return [b for b in bindings(found) if b.role in ("constant", "field") and b.value]
    return []


def _bindings(index: Index, names: Sequence[str]) -> list[Binding] | None:
    """What the thing is bound to, inside what it belongs to. None where it can't be read."""
    parts = dotted(names[0]).split(".")
    last, owners = parts[-1], (*names[1:], *([".".join(parts[:-1])] if parts[:-1] else ()))
    found: list[Binding] = []
    for spelling in _spellings(last):
        scopes = _scopes(index, owners)
        if scopes is None:
            return None
        paths = list(dict.fromkeys(s.path for s in scopes)) if owners else files_with(index, spelling)
        at = occurrences(index, spelling, paths)
        if at is None:
            return None
        found += [b for b in bindings(at) if not owners or any(_inside(b, scope) for scope in scopes)]
    return found


def _spellings(name: str) -> list[str]:
    bare = name.lstrip("-")
    return list(dict.fromkeys([bare, bare.replace("-", "_")]))


def _scopes(index: Index, owners: Sequence[str]) -> list[Symbol] | None:
    """The definitions that a thing belongs to; None where they are unknown or too many."""
    if not owners:
        return []
    found = definitions(index, owners)
    if not found:
        wanted = owners[0].lower().strip("/")
        paths = [p for p in index.files if p.lower().endswith(f"/{wanted}") or p.lower() == wanted]
        found = [Symbol(p, p, "file", p, 1, index.files[p].lines) for p in paths]
    return found if 0 < len(found) <= MOST_VALUES else None


def _inside(binding: Binding, scope: Symbol) -> bool:
    return binding.path == scope.path and scope.start_line <= binding.first <= scope.end_line


def _values(form: Form, inquiry: Inquiry, found: Sequence[Binding], key: str) -> CodeAnswer | None:
    by_value: dict[str, list[Binding]] = {}
    for binding in found:
        by_value.setdefault(_shown(binding), []).append(binding)
    if len(by_value) > MOST_VALUES:
        return None
    name, language = f"`{found[0].name}`", inquiry.language
    if len(by_value) == 1:
        return _one_value(form, inquiry, found, key)
    rows = []
    for value, alike in by_value.items():
        first = alike[0]
        item = _item(inquiry.index, first)
        where = f"`{item.symbol}`" if item.symbol else f"`{item.path}:{item.start_line}`"
        rows.append(Item(f"{code(value)}: {where}", item.path, item.start_line, item.end_line, item.symbol))
    heading = i18n.text(f"{key}.several", language, name=name, count=len(rows))
    return listing(inquiry, form.kind, heading, rows, sure=False)


def _one_value(form: Form, inquiry: Inquiry, found: Sequence[Binding], key: str) -> CodeAnswer | None:
    binding = found[0]
    value = _shown(binding)
    if not value:
        return None
    items = [_item(inquiry.index, b) for b in found[:3]]
    text = i18n.text(f"{key}.one", inquiry.language, name=f"`{binding.name}`", value=code(value))
    constant = resolved(inquiry.index, binding)
    if constant is not None:
        text = i18n.text("forms.which_is", inquiry.language, text=text, value=code(constant.value))
        items = [items[0], _item(inquiry.index, constant)]
    return sentence(inquiry, form.kind, text, items)


def _shown(binding: Binding) -> str:
    """The value; that of `default=` where it is a call that describes a field."""
    match = _CALLED_DEFAULT.search(binding.value)
    return match.group(1).strip() if match and "(" in binding.value else binding.value


def _required(form: Form, inquiry: Inquiry, found: Sequence[Binding]) -> CodeAnswer | None:
    """Say that a parameter has no default, where all that is known of the name are parameters of one function."""
    parameters = [b for b in found if b.role == "parameter"]
    owners = {(b.path, b.owner) for b in parameters}
    if len(form.names) < 2 or len(owners) != 1 or not parameters[0].owner or not parameters[0].path.endswith(".py"):
        return None
    values = {"name": f"`{parameters[0].name}`", "owner": f"`{parameters[0].owner}`"}
    text = i18n.text("forms.default.none", inquiry.language, **values)
    return sentence(inquiry, form.kind, text, [_item(inquiry.index, parameters[0])])


def _item(index: Index, binding: Binding) -> Item:
    others = (s for s in index.outline(binding.path) if s.name != binding.name and s.kind not in _VALUES)
    symbol = innermost(others, binding.first)
    end = min(binding.last, binding.first + 4)
    return Item("", binding.path, binding.first, end, symbol.qualified if symbol else "")
