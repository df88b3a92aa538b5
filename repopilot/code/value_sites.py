"""The values that a file gives to names: constants, defaults, attributes, and the keys of data files. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tree_sitter import Node, Tree

from repopilot.code.formats.setting_lines import setting_lines
from repopilot.code.languages import language_of
from repopilot.code.syntax import parse, parse_data, text_of

PARSE_S = 5.0
DATA = ("toml", "yaml", "json")
"""Data files with a grammar."""
_KEYS = ("left", "key", "property", "pattern", "declarator", "name")
_PAIR = ("key", "property", "name")
_FUNCTIONS = re.compile(r"function|method|lambda|arrow|closure|func_literal|constructor")
_PARAMETERS = re.compile(r"parameter|assignment_pattern")
_LISTS = ("parameters", "formal_parameters")
_UNNAMED = re.compile(r"^(?:class|object|interface|function)_(?:declaration|definition)$")
_NO_SCOPE = re.compile(r"assignment|pair|(?<!function_)declarator$|spec$|parameter|keyword_argument")
_NAMES = ("identifier", "simple_identifier", "type_identifier", "field_identifier", "variable_name", "name")
_WRAPPED = ("expression_list", "flow_node", "block_node", "expression")
_ASIDE = ("comment", "anchor", "tag")
_MAPPINGS = ("inline_table", "object", "block_mapping", "flow_mapping")
_SEQUENCES = ("array", "block_sequence", "flow_sequence")
_COMMENT = re.compile(rb"""((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?!//|/\*).)*?)\s*(?:(?://|/\*).*)?""", re.S)


@dataclass(frozen=True, slots=True)
class ValueSite:
    """A value in a file.

    Attributes:
        path: the file.
        keys: the parts of its name, from the outermost.
        start, end: its bytes in UTF-8.
        text: the value as written.
        is_text: whether it is a quoted string.
    """

    path: str
    keys: tuple[str, ...]
    start: int
    end: int
    text: str
    is_text: bool

    @property
    def name(self) -> str:
        """The dotted name, with quotes around parts that contain a dot."""
        return ".".join(f'"{key}"' if "." in key else key for key in self.keys)

    @property
    def is_plain(self) -> bool:
        """Whether it is a single text, number or name, rather than code."""
        return self.is_text or re.fullmatch(r"-?[\w.]+", self.text) is not None

    def is_called(self, name: str) -> bool:
        """Whether its name ends with a dotted name, which may omit positions in sequences and quotes around parts."""
        wanted = keys_of(name)
        bare = [re.sub(r"\[\d+\]$", "", key) for key in self.keys[:-1]] + [*self.keys[-1:]]
        if re.search(r"[\"']", name):
            return any(tuple(each[-len(wanted) :]) == wanted for each in (self.keys, bare))
        tails = (".".join(each[start:]) for each in (self.keys, bare) for start in range(len(bare)))
        return ".".join(wanted) in tails


def keys_of(name: str) -> tuple[str, ...]:
    """The parts of a dotted name, without the quotes around them; () for anything else."""
    text = name.strip()
    if re.fullmatch(r"(?:[^\s.\"']+|\"[^\"]+\"|'[^']+')(?:\s*\.\s*(?:[^\s.\"']+|\"[^\"]+\"|'[^']+'))*", text) is None:
        return ()
    return tuple(part.strip("\"'") for part in re.findall(r"\"[^\"]+\"|'[^']+'|[^\s.\"']+", text))


def sites_in(path: str, text: str, *, outermost: bool = False) -> Iterator[ValueSite]:
    """The named values in a file, except those of local variables; none for a file that is nested too deeply to be
    walked.

    Args:
        path: the file, which tells its language.
        text: its text.
        outermost: leave out values inside anything that has a name.
    """
    if (language_of(path) or "") == "ini":
        for line in setting_lines(path, text):
            value = text.encode()[line.start : line.end].decode()
            yield ValueSite(
                path, (*line.section, *line.key.split(".")), line.start, line.end, value, value[:1] in ("'", '"')
            )
        return
    data = _as_parsed(path, text)
    tree = _value_tree(path, data)
    if tree is not None:
        try:
            found = list(
                _Walk(path, language_of(path) or "", data, _shift(path), outermost).below(
                    tree.root_node, (), local=False
                )
            )
        except RecursionError:
            return
        yield from found


def _as_parsed(path: str, text: str) -> bytes:
    """The bytes to parse. JSON is parsed as JavaScript, which allows comments, trailing commas and bare keys; the added
    parenthesis shifts positions by `_shift`."""
    return b"(" + text.encode() + b"\n)" if language_of(path) == "json" else text.encode()


def _value_tree(path: str, data: bytes) -> Tree | None:
    language = language_of(path) or ""
    if language == "toml":
        return parse_data(data, "toml", PARSE_S)
    if language == "yaml":
        return parse_data(data, "yaml", PARSE_S)
    return parse(data, "javascript" if language == "json" else language, PARSE_S)


def only_differs_at(site: ValueSite, before: str, after: str, length: int) -> bool:
    """Whether an edit changes one value and nothing else: the new text is one node in place of the old one, all other
    tokens are the same, and there is no new syntax error.

    Args:
        site: the value before the edit.
        before: the file's text before it.
        after: the file's text after it.
        length: of the new value, in bytes.
    """
    if (language_of(site.path) or "") == "ini":
        return _lines_differ_at(site, before, after, length)
    texts = _as_parsed(site.path, before), _as_parsed(site.path, after)
    old, new = (_value_tree(site.path, data) for data in texts)
    if old is None or new is None or (new.root_node.has_error and not old.root_node.has_error):
        return False
    start = site.start + _shift(site.path)
    span = (site.keys, site.start, site.start + length)
    if all((each.keys, each.start, each.end) != span for each in sites_in(site.path, after)):
        return False
    kept = list(_tokens(old.root_node, texts[0], start, site.end + _shift(site.path)))
    return kept == list(_tokens(new.root_node, texts[1], start, start + length))


def _lines_differ_at(site: ValueSite, before: str, after: str, length: int) -> bool:
    old = list(setting_lines(site.path, before))
    new = list(setting_lines(site.path, after))
    if [(line.section, line.key) for line in old] != [(line.section, line.key) for line in new]:
        return False
    spans = [(line.start, line.end) for line in new]
    data = (before.encode(), after.encode())
    values = [[text[line.start : line.end] for line in lines] for text, lines in zip(data, (old, new), strict=True)]
    at = [(line.start, line.end) for line in old].index((site.start, site.end))
    values[0][at] = values[1][at]
    return values[0] == values[1] and spans[at] == (site.start, site.start + length)


def _tokens(node: Node, data: bytes, start: int, end: int) -> Iterator[tuple[str, bytes]]:
    """The leaves of a tree that don't begin in a range."""
    open_nodes = [node]
    while open_nodes:
        each = open_nodes.pop()
        if each.child_count:
            open_nodes += reversed(each.children)
        elif each.end_byte > each.start_byte and not start <= each.start_byte < end:
            yield each.type, data[each.start_byte : each.end_byte]


def _shift(path: str) -> int:
    return 1 if language_of(path) == "json" else 0


@dataclass(frozen=True, slots=True)
class _Walk:
    """A walk over one file's syntax tree. In `data`, the parsed bytes, `shift` bytes precede the file's text."""

    path: str
    language: str
    data: bytes
    shift: int
    outermost: bool

    def below(self, node: Node, scope: tuple[str, ...], *, local: bool) -> Iterator[ValueSite]:
        """The values in and below a node."""
        if self.language == "toml" and node.type in ("table", "table_array_element"):
            scope = self._table(node)
        is_function = _FUNCTIONS.search(node.type) is not None
        inner = (*scope, *self._own_name(node))
        if self.outermost and scope:
            return
        taken: set[int] = set()
        for key, value in _pairs(node):
            names = keys_of(self._text(key))
            inside = local and not _PARAMETERS.search(node.type) and not is_function
            outer = inner if is_function else scope
            if names and not inside:
                yield from self._value(value, (*outer, *names))
            taken.add(value.id)
            opens = outer if "assignment" in value.type else (*outer, *names)
            yield from self._inside(value, opens, local=local)
        for child in node.children:
            if child.id not in taken and child.type not in _ASIDE:
                yield from self.below(child, inner, local=local or (is_function and child.type not in _LISTS))

    def _inside(self, value: Node, scope: tuple[str, ...], *, local: bool) -> Iterator[ValueSite]:
        content = _content(value)
        if self.language in DATA and content.type in _SEQUENCES:
            items = [item for item in content.named_children if item.type not in _ASIDE]
            for number, item in enumerate(items):
                inner = item.named_children[-1] if item.type == "block_sequence_item" and item.named_children else item
                place = (*scope[:-1], f"{scope[-1]}[{number}]") if scope else (f"[{number}]",)
                yield from self._value(inner, place)
                yield from self._inside(inner, place, local=local)
        else:
            yield from self.below(value, scope, local=local)

    def _value(self, value: Node, keys: tuple[str, ...]) -> Iterator[ValueSite]:
        node = _content(value)
        if (self.language in DATA and node.type in _MAPPINGS) or "assignment" in node.type:
            return
        start = node.start_byte
        end = node.end_byte
        text = self.data[node.start_byte : node.end_byte]
        if node.type == "preproc_arg":
            found = _COMMENT.fullmatch(text)
            text = found[1] if found else text
            end = start + len(text)
        is_text = "string" in node.type.replace("string_scalar", "") or "quote" in node.type
        is_text = is_text or re.match(rb"[\"'`]", text) is not None
        yield ValueSite(self.path, keys, start - self.shift, end - self.shift, text.decode("utf-8", "replace"), is_text)

    def _table(self, node: Node) -> tuple[str, ...]:
        keys = keys_of(self._text(node.named_children[0]))
        if node.type == "table":
            return keys
        if not keys:
            return ()
        number = 0
        before = node.prev_named_sibling
        while before is not None:
            number += before.type == node.type and keys_of(self._text(before.named_children[0])) == keys
            before = before.prev_named_sibling
        return (*keys[:-1], f"{keys[-1]}[{number}]")

    def _own_name(self, node: Node) -> tuple[str, ...]:
        """The parts that a definition adds to the names of the values inside it."""
        if self.language in DATA or _NO_SCOPE.search(node.type):
            return ()
        named = node.child_by_field_name("declarator" if node.type == "function_declarator" else "name")
        if named is None and _UNNAMED.match(node.type):
            named = next((child for child in node.children if child.type in _NAMES), None)
        return keys_of(self._text(named).replace("::", ".")) if named is not None else ()

    def _text(self, node: Node) -> str:
        return text_of(node, self.data)


def _pairs(node: Node) -> Iterator[tuple[Node, Node]]:
    """The names that a node assigns, each with its value."""
    children = [child for child in node.children if child.type not in _ASIDE]
    equals = [n for n, child in enumerate(children) if child.type == "=" and 0 < n < len(children) - 1]
    for at in equals:
        key = None if len(equals) > 1 or _FUNCTIONS.search(node.type) else _field(node, _KEYS)
        if len(node.children_by_field_name("name")) > 1 and key is not None:
            return  # `a, b = 1, 2` gives neither a value of its own
        yield _leaf(key or _before(children[:at])), children[at + 1]
    if not equals and not _FUNCTIONS.search(node.type):
        key = _field(node, _PAIR)
        value = node.child_by_field_name("value")
        if key is not None and value is not None and key.id != value.id:
            yield _leaf(key), value


def _before(children: list[Node]) -> Node:
    """The node with the name, among those before the `=`; a type may follow the name."""
    colon = next((n for n, child in enumerate(children) if child.type == ":" and n), None)
    return children[-1 if colon is None else colon - 1]


def _leaf(node: Node) -> Node:
    """The name within a declarator, a parameter or a pattern; the node itself where it holds none."""
    while True:
        inner = _field(node, ("declarator", "name")) or next(
            (c for c in node.named_children if c.type in _NAMES and node.type in _DECLARE), None
        )
        if inner is None or inner.id == node.id:
            return node
        node = inner


_DECLARE = ("parameter", "variable_declaration", "pattern", "variable_name", "variable_list")


def _content(value: Node) -> Node:
    """A value without its wrapping: an anchor, a tag, a list of one."""
    while value.type in _WRAPPED:
        inner = [child for child in value.named_children if child.type not in _ASIDE]
        if len(inner) != 1:
            return value
        value = inner[0]
    return value


def _field(node: Node, names: Iterable[str]) -> Node | None:
    return next((found for name in names if (found := node.child_by_field_name(name))), None)
