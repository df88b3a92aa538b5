"""The text of a new member in the way its siblings are written, in languages with braces."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.braces.containers import SCRIPTS, Container
from repopilot.agents.editing.exact.braces.known_names import unknown_names
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.sources import Sources, SourceText
from repopilot.agents.editing.exact.values.literals import is_number, is_string
from repopilot.errors import GenerationFailed

_PAIR = re.compile(r"(?P<key>\"[^\"]*\"|'[^']*'|[\w$.-]+)\s*(?::(?!:)|->|=>|=(?!=))\s*(?P<value>.+)", re.S)
_PLAIN = re.compile(r"[\w./:@+*#-]+")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_ENUM = {
    "typescript": re.compile(r"(?P<name>[A-Za-z_$][\w$]*)(?:\s*=\s*(?P<value>[^,;]+))?"),
    "rust": re.compile(r"(?P<name>[A-Z]\w*)\s*(?P<body>\(.*\)|\{.*\})?(?:\s*=\s*(?P<value>-?\w+))?", re.S),
    "java": re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?P<body>\(.*\))?", re.S),
    "go": re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\s+(?P<type>[\w.]+))?(?:\s*=\s*(?P<value>.+))?"),
}
_SENTINEL = re.compile(
    r"_|(?:num|n|max|last|end|count|total|sentinel)(?:[A-Z_]\w*)?|\w*(?:Count|Max|End|Last|Sentinel)"
)
_FIELDS = {
    "script_type": re.compile(
        r"(?:readonly\s+)?(?P<name>[\w$]+)\??\s*(?::\s*(?P<type>.+)|(?P<method>\(.*\)\s*:.+))", re.S
    ),
    "script_class": re.compile(
        r"(?P<modifiers>(?:(?:public|private|protected|static|readonly|declare|override)\s+)*)(?P<name>#?[\w$]+)[?!]?"
        r"\s*(?::\s*(?P<type>[^=]+?))?\s*(?:=\s*(?P<value>.+))?",
        re.S,
    ),
    "go": re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\s*:\s*|\s+)(?P<type>[^`]+?)\s*(?P<tag>`[^`]*`)?"),
    "rust": re.compile(r"(?P<modifiers>pub(?:\([^)]*\))?\s+)?(?P<name>[a-z_]\w*)\s*:\s*(?P<type>.+)", re.S),
    "java": re.compile(
        r"(?P<modifiers>(?:(?:public|private|protected|static|final|volatile|transient)\s+)*)"
        r"(?P<type>[A-Za-z_][\w.]*(?:<.+>)?(?:\[\])*)\s+(?P<name>[A-Za-z_]\w*)(?:\s*=\s*(?P<value>.+))?",
        re.S,
    ),
}  # fmt: skip


def member_name(source: SourceText, entry: Node, shape: str = "") -> str:
    """What a member is called: the name of a field or constant, the key of an entry, the text of an element.

    Args:
        source: the file.
        entry: the member.
        shape: of what has it.
    """
    if shape == "tuples":
        first = entry.named_child(0)
        return source.slice(first).strip("\"'`") if first is not None else ""
    if entry.type == "field_declaration" and (declarator := entry.child_by_field_name("declarator")) is not None:
        entry = declarator
    label = next((n for f in ("name", "key", "property") if (n := entry.child_by_field_name(f)) is not None), None)
    text = source.slice(label if label is not None else entry)
    return text.strip("\"'`")


def member_text(task: ExactTask, container: Container, sources: Sources) -> str | None:
    """The text of a new member.

    Args:
        task: with the member as the user wrote it in `new`.
        container: what it is added to.
        sources: the files.

    Returns:
        The text, without the comma or the like behind it; None where the task doesn't say enough, or the siblings
        follow no pattern that the member could follow.

    Raises:
        GenerationFailed: the member is there already.
    """
    return _MAKERS[container.shape](task, container, sources)


def _check_new(name: str, container: Container) -> None:
    """Refuse a member that is there.

    Raises:
        GenerationFailed: it is.
    """
    source = container.source
    if name in (member_name(source, e, container.shape) for e in container.entries):
        raise GenerationFailed(i18n.message("exact.already_there", name=name, path=source.path))


# Elements and entries


def _element(task: ExactTask, container: Container, sources: Sources) -> str | None:
    text = quoted_like(task.new.strip(), container, container.entries, sources)
    if text is not None:
        _check_new(text.strip("\"'`"), container)
    return text


def quoted_like(new: str, container: Container, siblings: Sequence[Node], sources: Sources) -> str | None:
    """A value as its siblings are written; None for one of another kind, or with names that nothing has.

    Args:
        new: the value as the user wrote it.
        container: what it is put into.
        siblings: the values that are there.
        sources: the files.
    """
    source = container.source
    texts = [source.slice(s) for s in siblings]
    quotes = [t[-1] for t in texts if is_string(t)]
    if is_string(new):
        if siblings and not quotes:
            return None
        quote = max(set(quotes), key=quotes.count) if quotes else _file_quote(source)
        body = new[1:-1]
        return f"{quote}{body}{quote}" if "\\" not in body and quote not in body else new
    if is_number(new) and siblings and len(quotes) == len(siblings):
        return f"{quotes[-1]}{new}{quotes[-1]}"
    if is_number(new):
        return new if all(is_number(t) for t in texts) or not quotes else None
    if siblings and len(quotes) == len(siblings):
        return f"{quotes[-1]}{new}{quotes[-1]}" if _PLAIN.fullmatch(new) else None
    plain = re.fullmatch(r"[A-Za-z_$&][\w$.:]*(?:\(.*\))?|[\[{(&/].*|new\s.*|\(.*=>.*|[\w$.]+\{.*\}", new, re.S)
    if plain is None or unknown_names(new, source, sources):
        return None
    return new if not _NAME.fullmatch(new) or not siblings or any(_NAME.match(t) for t in texts) else None


def _file_quote(source: SourceText) -> str:
    """The quotes that most strings of a file have."""
    if source.language not in SCRIPTS:
        return '"'
    return '"' if source.data.count(b'"') > source.data.count(b"'") else "'"


def _entry(task: ExactTask, container: Container, sources: Sources) -> str | None:
    source = container.source
    pairs = [e for e in container.entries if e.child_by_field_name("key") is not None]
    match = _PAIR.fullmatch(task.new.strip())
    if match is None:
        return _shorthand(task.new.strip(), container, sources)
    values = [v for e in pairs if (v := e.child_by_field_name("value")) is not None]
    if source.language == "go":
        values = [i for v in values if (i := v.named_child(0)) is not None]
    value = quoted_like(match["value"].strip(), container, _same_kind(source, match["value"], values), sources)
    key = _key(match["key"], container, [k for e in pairs if (k := e.child_by_field_name("key")) is not None])
    if value is None or key is None:
        return None
    _check_new(key.strip("\"'"), container)
    return f"{key}: {value}"


def _same_kind(source: SourceText, new: str, values: Sequence[Node]) -> Sequence[Node]:
    """The values whose style a new one has: all, or none where they are of several kinds."""
    if is_string(new.strip()):
        return [v for v in values if is_string(source.slice(v))]
    kinds = {is_string(source.slice(v)) for v in values}
    return values if kinds == {True} else []


def _key(key: str, container: Container, siblings: Sequence[Node]) -> str | None:
    source = container.source
    texts = [source.slice(s) for s in siblings]
    quotes = [t[-1] for t in texts if is_string(t)]
    plain = key.strip("\"'")
    if source.language in SCRIPTS:
        bare = _NAME.fullmatch(plain) is not None and len(quotes) < max(len(texts), 1)
        if bare and quotes and not any(is_string(t) and not _NAME.fullmatch(t[1:-1]) for t in texts):
            bare = not is_string(key)
        quote = quotes[-1] if quotes else _file_quote(source)
        return plain if bare or plain.isdigit() else f"{quote}{plain}{quote}"
    if not texts:
        return key if is_string(key) or _declares_strings(container) is False else f'"{plain}"'
    return f'"{plain}"' if len(quotes) == len(texts) else key if not quotes and not is_string(key) else None


def _declares_strings(container: Container) -> bool | None:
    """Whether the keys of an empty map are strings by its type; None where that isn't known."""
    text = container.source.slice(container.declaration)
    match = re.search(r"map\[(\w+)\]", text)
    return match[1] == "string" if match else None


def _shorthand(new: str, container: Container, sources: Sources) -> str | None:
    """`name` in an object whose other entries are like that."""
    shorthand = [e for e in container.entries if e.type == "shorthand_property_identifier"]
    if not _NAME.fullmatch(new) or not shorthand or unknown_names(new, container.source, sources):
        return None
    _check_new(new, container)
    return new


def _tuple(task: ExactTask, container: Container, sources: Sources) -> str | None:
    """A pair of `HashMap::from([("a", 1)])` or `new Map([["a", 1]])`."""
    match = _PAIR.fullmatch(task.new.strip()) or re.fullmatch(
        r"[(\[]\s*(?P<key>[^,]+?)\s*,\s*(?P<value>.+)[)\]]", task.new
    )
    if match is None or not container.entries:
        return None
    keys = [k for e in container.entries if (k := e.named_child(0)) is not None]
    values = [v for e in container.entries if (v := e.named_child(1)) is not None]
    key = quoted_like(match["key"], container, keys, sources)
    value = quoted_like(
        match["value"].strip(), container, _same_kind(container.source, match["value"], values), sources
    )
    if key is None or value is None:
        return None
    _check_new(key.strip("\"'"), container)
    opening, closing = ("(", ")") if container.source.language == "rust" else ("[", "]")
    return f"{opening}{key}, {value}{closing}"


def _pair_of_arguments(task: ExactTask, container: Container, sources: Sources) -> str | None:
    """A key and value of `Map.of("a", 1)`."""
    match = _PAIR.fullmatch(task.new.strip())
    if match is None or len(container.entries) % 2 or not 0 < len(container.entries) < 20:
        return None
    key = quoted_like(match["key"], container, container.entries[::2], sources)
    values = _same_kind(container.source, match["value"], container.entries[1::2])
    value = quoted_like(match["value"].strip(), container, values, sources)
    if key is None or value is None:
        return None
    if key in [container.source.slice(e) for e in container.entries[::2]]:
        raise GenerationFailed(i18n.message("exact.already_there", name=key, path=container.source.path))
    return f"{key}, {value}"


def _union(task: ExactTask, container: Container, sources: Sources) -> str | None:
    """A literal of a union whose members are literals of one kind."""
    source = container.source
    texts = [source.slice(e) for e in container.entries]
    if not texts or not all(e.type == "literal_type" for e in container.entries):
        return None
    strings = all(is_string(t) for t in texts)
    if not strings and not (all(is_number(t) for t in texts) and is_number(task.new)):
        return None
    return _element(task, container, sources)


# Enumerations and blocks of constants


def _enum_member(task: ExactTask, container: Container, sources: Sources) -> str | None:
    source = container.source
    language = "typescript" if source.language in SCRIPTS else source.language
    match = _ENUM[language].fullmatch(task.new.strip()) if language in _ENUM else None
    if match is None or not container.entries:
        return None
    _check_new(match["name"], container)
    parts = match.groupdict()
    given = parts.get("body") or parts.get("value") or ""
    if given and unknown_names(given, source, sources):
        return None
    if language == "java":
        return _java_constant(match["name"], parts["body"], container)
    if language == "rust" and (parts["body"] or _has_attributes(container)):
        return re.sub(r"\s+", " ", task.new.strip()) if not _has_attributes(container) else None
    names = [member_name(source, e) for e in container.entries]
    values = [source.slice(v) if (v := e.child_by_field_name("value")) is not None else "" for e in container.entries]
    value = parts["value"]
    if value is None and any(values):
        value = next_value(match["name"], names, values)
        if value is None and not (values[-1] == "" and language == "rust"):
            return None
    if value is not None and values and all(is_string(v) for v in values) and is_string(value):
        value = f"{values[-1][-1]}{value[1:-1]}{values[-1][-1]}"
    return f"{match['name']} = {value}" if value is not None else match["name"]


def _has_attributes(container: Container) -> bool:
    """Whether the last variant has attributes, which a new one would need, too."""
    above = container.entries[-1].prev_named_sibling
    while above is not None and "comment" in above.type:
        above = above.prev_named_sibling
    return above is not None and above.type == "attribute_item"


def _java_constant(name: str, body: str | None, container: Container) -> str | None:
    arguments = [
        container.source.slice(a) if (a := e.child_by_field_name("arguments")) is not None else ""
        for e in container.entries
    ]
    if any(e.child_by_field_name("body") is not None for e in container.entries):
        return None
    if body is None and all(re.fullmatch(r"\([^,()]+\)", a) for a in arguments):
        names = [member_name(container.source, e) for e in container.entries]
        value = next_value(name, names, [a[1:-1] for a in arguments])
        body = f"({value})" if value is not None else None
    if any(arguments) and body is None and all(arguments):
        return None
    return f"{name}{body or ''}"


def next_value(name: str, names: Sequence[str], values: Sequence[str]) -> str | None:
    """The value of a new constant by the pattern of the others; None where there is none.

    Args:
        name: of the new one.
        names: of the others.
        values: of the others, '' for none.
    """
    if not values or not all(values):
        return None
    if all(re.fullmatch(r"\d+", v) for v in values):
        numbers = [int(v) for v in values]
        flags = len(numbers) > 2 and all(n and not n & (n - 1) for n in numbers) and max(numbers) > len(numbers)
        steps = {b - a for a, b in pairwise(numbers)}
        return str(max(numbers) * 2) if flags else str(numbers[-1] + 1) if steps <= {1} else None
    if all(re.fullmatch(r"1\s*<<\s*\d+", v) for v in values):
        return re.sub(r"\d+$", lambda m: str(int(m[0]) + 1), max(values, key=lambda v: int(v.rpartition("<")[2])))
    if not all(is_string(v) for v in values):
        return None
    quote, plain = values[-1][-1], [v[1:-1] for v in values]
    shared = _common_prefix(names)
    for cut in (0, shared) if shared and name.startswith(names[0][:shared]) else (0,):
        made = {change(name[cut:]) for change in _CHANGES if [change(n[cut:]) for n in names] == plain}
        if made:
            return f"{quote}{made.pop()}{quote}" if len(made) == 1 else None
    return None


def _words(name: str) -> list[str]:
    return re.findall(r"[A-Z]+(?=[A-Z][a-z]|\b|_|\d)|[A-Z]?[a-z]+|\d+|[A-Z]+", name)


_CHANGES: tuple[Callable[[str], str], ...] = (
    str,
    str.lower,
    str.upper,
    lambda n: "-".join(_words(n)).lower(),
    lambda n: "_".join(_words(n)).lower(),
    lambda n: " ".join(_words(n)).lower(),
    lambda n: n[:1].lower() + n[1:],
)


def _common_prefix(names: Sequence[str]) -> int:
    """How many characters all names begin with, up to the beginning of a word."""
    shared = 0
    while len(names) > 1 and all(len(n) > shared and n[shared] == names[0][shared] for n in names):
        shared += 1
    while shared and not all(n[shared : shared + 1].isupper() or n[shared - 1] == "_" for n in names):
        shared -= 1
    return shared


def _constant(task: ExactTask, container: Container, sources: Sources) -> str | None:
    """A constant of a Go block: with `iota` only its name, else with a value."""
    source, specs = container.source, container.entries
    match = _ENUM["go"].fullmatch(task.new.strip())
    if match is None or not specs or any(len(s.children_by_field_name("name")) != 1 for s in specs):
        return None
    name = match["name"]
    _check_new(name, container)
    names = [member_name(source, s) for s in specs]
    folder = posixpath.dirname(source.path)
    taken = any(
        posixpath.dirname(s.path) == folder for s in sources.workspace.index.symbols(name) if s.qualified == name
    )
    if _SENTINEL.fullmatch(names[-1]) or taken:
        return None
    if match["value"] is not None and unknown_names(match["value"], source, sources):
        return None
    values = [source.slice(v) if (v := s.child_by_field_name("value")) is not None else "" for s in specs]
    if "iota" in " ".join(values) and not any(values[1:]):
        return name if match["value"] is None and specs[0].child_by_field_name("type") is not None else None
    value = match["value"] or next_value(name, names, values)
    if value is None or not all(values):
        return None
    types = [source.slice(t) for s in specs if (t := s.child_by_field_name("type")) is not None]
    kind = match["type"] or (types[-1] if len(types) == len(specs) else "")
    return f"{name} {kind} = {value}" if kind else f"{name} = {value}" if not types else None


# Fields


def _field(task: ExactTask, container: Container, sources: Sources) -> str | None:
    source, holder = container.source, container.holder
    written = task.new.strip().rstrip(";,")
    key = source.language
    if source.language in SCRIPTS:
        key = "script_class" if holder.type == "class_body" else "script_type"
    if holder.type == "interface_type":
        return _interface_method(written, container, sources)
    match = _FIELDS[key].fullmatch(written) if key in _FIELDS else None
    if match is None or (key == "java" and match["type"] in ("return", "package", "import", "class", "new")):
        return None
    parts = match.groupdict()
    code = " ".join(parts.get(p) or "" for p in ("type", "value", "method"))
    if not code.strip() or unknown_names(code, source, sources):
        return None
    _check_new(parts["name"], container)
    if key == "go":
        return _go_field(match, container)
    if key in ("rust", "java") and not parts["modifiers"]:
        shared = _shared_modifiers(container, static=bool(re.search(r"\bstatic\b", written)))
        written = f"{shared}{written}"
    return written


def _shared_modifiers(container: Container, *, static: bool) -> str:
    """The modifiers that all fields beside a new one have."""
    found = set()
    for entry in container.entries:
        if entry.type != "field_declaration":
            continue
        first = next((c for c in entry.named_children if c.type in ("modifiers", "visibility_modifier")), None)
        text = container.source.slice(first) if first is not None else ""
        if container.source.language == "rust" or bool(re.search(r"\bstatic\b", text)) == static:
            found.add(text)
    shared = found.pop() if len(found) == 1 else ""
    return f"{shared} " if shared and "@" not in shared else ""


def _interface_method(written: str, container: Container, sources: Sources) -> str | None:
    """A method of a Go interface."""
    match = re.fullmatch(r"(?:func\s+)?(?P<name>[A-Za-z_]\w*)\s*(?P<rest>\(.*)", written, re.S)
    if match is None:
        return None
    types = re.sub(r"[a-z_]\w*(?:\s*,\s*[a-z_]\w*)*\s+(?=[\[\]*\w.])", "", match["rest"])
    if unknown_names(types, container.source, sources):
        return None
    _check_new(match["name"], container)
    return f"{match['name']}{match['rest']}"


def _go_field(match: re.Match[str], container: Container) -> str | None:
    kind = match["type"].strip()
    if re.search(r"\s", kind) and not re.match(r"(?:map|chan|func|struct|interface|<-chan|\[)", kind):
        return None
    tag = match["tag"] or _next_tag(match["name"], container)
    return f"{match['name']} {kind}" + (f" {tag}" if tag else "")


def _next_tag(name: str, container: Container) -> str:
    """The tag of a new field where those of all others follow from their names."""
    source = container.source
    named = [e for e in container.entries if len(e.children_by_field_name("name")) == 1]
    tags = [source.slice(t) for e in named if (t := e.child_by_field_name("tag")) is not None]
    if len(named) < 2 or len(tags) != len(named):
        return ""
    names = [member_name(source, e) for e in named]
    made: set[str] = set()
    for change in _CHANGES:
        shapes = {re.sub(re.escape(change(n)) + r'(?=[,"])', "\0", t) for n, t in zip(names, tags, strict=True)}
        if len(shapes) == 1 and "\0" in (shape := shapes.pop()):
            made.add(shape.replace("\0", change(name)))
    return made.pop() if len(made) == 1 else ""


_MAKERS: dict[str, Callable[[ExactTask, Container, Sources], str | None]] = {
    "list": _element,
    "map": _entry,
    "tuples": _tuple,
    "pairs": _pair_of_arguments,
    "union": _union,
    "enum": _enum_member,
    "consts": _constant,
    "fields": _field,
}
