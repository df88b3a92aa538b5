"""Finds which Go types implement which interfaces of the repository, by Go's own rule: the names, parameters and
results of their methods. A type alias counts as a different type. Pure."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from repopilot.code.brackets import closed_at, split_outside
from repopilot.code.file_analysis import FileAnalysis
from repopilot.types import Symbol

_MOST_TYPES = 200
"""An interface that more types implement is left out."""
_NAMED = re.compile(r"(?!(?:func|map|chan|struct|interface)\b)[^\W\d]\w*\s+(?=\S)")
_PACKAGE = re.compile(r"\b\w+\.(?=\w)")
_Place = tuple[str, str, str]
"""Folder, package and name of a type."""


@dataclass(slots=True)
class _Type:
    """A type of Go, with its methods by name, and the names of what it embeds."""

    own: dict[str, Symbol] = field(default_factory=dict)
    embedded: list[str] = field(default_factory=list)
    symbol: Symbol | None = None


def implementations(files: Iterable[FileAnalysis]) -> Iterator[tuple[Symbol, Symbol]]:
    """Pairs of a type and an interface that it implements, and of their corresponding methods."""
    types = _types(files)
    named: dict[str, list[_Place]] = defaultdict(list)
    for place in types:
        named[place[2]].append(place)
    methods = {place: _methods(place, types, named, set()) for place in types}
    interfaces = {place for place, each in types.items() if each.symbol and each.symbol.kind == "interface"}
    having: dict[str, list[_Place]] = defaultdict(list)
    for place in types.keys() - interfaces:
        for name in methods[place]:
            having[name].append(place)
    for interface in sorted(interfaces):
        wanted = methods[interface]
        rarest = min((having[name] for name in wanted), key=len, default=[])
        fitting = [place for place in rarest if _fits(place, methods[place], interface, wanted)]
        for place in sorted(fitting) if len(fitting) <= _MOST_TYPES else ():
            whole = (types[place].symbol, types[interface].symbol)
            for one, other in (whole, *((methods[place][name], method) for name, method in wanted.items())):
                if one is not None and other is not None:
                    yield one, other


def shape(method: Symbol) -> tuple[tuple[str, ...], ...]:
    """The types of the parameters and of the results of a method of Go, without packages."""
    _, _, rest = method.signature.partition(f"{method.name}(")
    end = closed_at(rest)
    results = rest[end + 1 :].strip()
    return _kinds(rest[:end]), _kinds(results[1:-1] if results.startswith("(") else results)


def _types(files: Iterable[FileAnalysis]) -> dict[_Place, _Type]:
    found: dict[_Place, _Type] = defaultdict(_Type)
    for file in files:
        if file.language != "go":
            continue
        around = (posixpath.dirname(file.path), file.package)
        for symbol in file.symbols:
            owner, _, name = symbol.qualified.rpartition(".")
            if owner and symbol.kind == "method":
                found[*around, owner].own[name] = symbol
            elif symbol.kind in ("struct", "type", "interface"):
                found[*around, name].symbol = symbol
        for use in file.uses:
            if use.kind == "inherit":
                found[*around, use.scope].embedded.append(use.name)
    return dict(found)


def _methods(
    place: _Place, types: Mapping[_Place, _Type], named: Mapping[str, list[_Place]], seen: set[_Place]
) -> dict[str, Symbol]:
    """The methods of a type and of the types it embeds, which are looked up in its package, else as the only type of
    the name."""
    seen.add(place)
    found: dict[str, Symbol] = {}
    for name in types[place].embedded:
        near = (place[0], place[1], name)
        others = [near] if near in types else named.get(name, [])
        if len(others) == 1 and others[0] not in seen:
            found |= _methods(others[0], types, named, seen)
    return found | types[place].own


def _fits(place: _Place, own: Mapping[str, Symbol], interface: _Place, wanted: Mapping[str, Symbol]) -> bool:
    """Whether a type has all methods of an interface; types of another package can't have unexported ones."""
    return all(
        name in own and shape(own[name]) == shape(method) and (name[0].isupper() or place[:2] == interface[:2])
        for name, method in wanted.items()
    )


def _kinds(parameters: str) -> tuple[str, ...]:
    """The type of each of some parameters or results, `a, b string` being two of one type."""
    written = [part.strip() for part in split_outside(parameters, ",") if part.strip()]
    if any(_NAMED.match(part) for part in written):
        kinds: list[str] = []
        for part in reversed(written):
            name = _NAMED.match(part)
            kinds.insert(0, part[name.end() :] if name is not None else kinds[0] if kinds else part)
        written = kinds
    return tuple(re.sub(r"\s+", "", _PACKAGE.sub("", kind)).replace("interface{}", "any") for kind in written)
