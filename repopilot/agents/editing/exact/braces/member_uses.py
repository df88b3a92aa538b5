"""What a new or removed member leaves to decide: code that lists all members of its kind, or names one that is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.braces.containers import Container
from repopilot.agents.editing.exact.braces.member_texts import member_name
from repopilot.agents.editing.exact.polyglot import is_identifier
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText, word_pattern
from repopilot.code.graph.import_resolver import family
from repopilot.errors import GenerationFailed

_CASES = frozenset("match_block switch_body switch_block expression_switch_statement".split())
_LITERALS = frozenset("struct_expression composite_literal".split())


def leave_listings_open(container: Container, name: str, sources: Sources, patch: Patch) -> None:
    """List the places that a new member may have to be added to, too.

    Args:
        container: what it was added to.
        name: of the member.
        sources: the files.
        patch: receives the places.
    """
    if container.shape in ("enum", "consts"):
        _leave_cases_open(container, name, sources, patch)
    elif container.shape == "fields" and container.source.language in ("rust", "go"):
        _leave_literals_open(container, name, sources, patch)


def _related(container: Container, name: str, sources: Sources) -> Iterator[SourceText]:
    index = sources.workspace.index
    for path in sources.mentioning(name):
        source = sources.get(path)
        same = family(index.files[path].language) == family(container.source.language)
        if same and source is not None and source.root is not None:
            yield source


def _leave_cases_open(container: Container, name: str, sources: Sources, patch: Patch) -> None:
    """List the `match` and `switch` that name most members and have no branch for others."""
    names = [member_name(container.source, e) for e in container.entries]
    if len(names) < 2:
        return
    for source in _related(container, names[-1], sources):
        for block in _found(source.root, _CASES):
            if _has_rest(source, block):
                continue
            labels = " ".join(_labels(source, block))
            named = sum(re.search(rf"\b{re.escape(n)}\b", labels) is not None for n in names)
            if named * 2 > len(names):
                patch.leave_open(source, block.start_byte, i18n.message("exact.open.cases", name=name))


def _found(root: Node | None, kinds: frozenset[str]) -> Iterator[Node]:
    pending = [root] if root is not None else []
    while pending:
        node = pending.pop()
        if node.type in kinds:
            yield node
        pending.extend(node.named_children)


def _labels(source: SourceText, block: Node) -> Iterator[str]:
    for child in block.named_children:
        if child.type == "match_arm":
            pattern = child.child_by_field_name("pattern")
            yield source.slice(pattern) if pattern is not None else ""
        elif child.type in ("switch_block_statement_group", "switch_rule"):
            yield from (source.slice(c) for c in child.named_children if c.type == "switch_label")
        elif child.type in ("switch_case", "expression_case"):
            value = child.child_by_field_name("value")
            yield source.slice(value) if value is not None else ""


def _has_rest(source: SourceText, block: Node) -> bool:
    """Whether a block has a branch for what it doesn't name."""
    if any(c.type in ("switch_default", "default_case") for c in block.named_children):
        return True
    return any(re.fullmatch(r"_|default|[a-z_]\w*", label.strip()) for label in _labels(source, block))


def _leave_literals_open(container: Container, name: str, sources: Sources, patch: Patch) -> None:
    """List the literals of a struct that must name every field."""
    label = container.declaration.child_by_field_name("name")
    struct = container.source.slice(label) if label is not None else ""
    for source in _related(container, struct, sources) if struct else ():
        for literal in _found(source.root, _LITERALS):
            written = literal.child_by_field_name("name") or literal.child_by_field_name("type")
            body = literal.child_by_field_name("body")
            if written is None or body is None or re.split(r"::|\.|<", source.slice(written))[-1] != struct:
                continue
            entries = [c.type for c in body.named_children if "comment" not in c.type]
            if source.language == "go":
                partial = not entries or "keyed_element" in entries
            else:
                partial = "base_field_initializer" in entries
            if not partial:
                patch.leave_open(source, literal.start_byte, i18n.message("exact.open.all_fields", name=name))


def leave_uses_open(container: Container, removed: Node, sources: Sources, patch: Patch) -> None:
    """List what names a member that is removed.

    Args:
        container: what it is removed from.
        removed: the member.
        sources: the files.
        patch: receives the places.

    Raises:
        GenerationFailed: a method of its own uses it.
    """
    name = member_name(container.source, removed, container.shape)
    if container.shape not in ("enum", "consts", "fields") or not re.fullmatch(r"#?[\w$]+", name):
        return
    label = container.declaration.child_by_field_name("name")
    owner = container.source.slice(label) if label is not None else ""
    for source in _related(container, name, sources):
        for match in word_pattern(name).finditer(source.data):
            node = source.root.descendant_for_byte_range(*match.span()) if source.root is not None else None
            own = source.path == container.source.path and removed.start_byte <= match.start() < removed.end_byte
            if node is None or own or not is_identifier(node):
                continue
            if container.shape == "fields" and _is_own(source, node, owner):
                line = source.line_of(match.start())
                raise GenerationFailed(i18n.message("exact.still_used", name=name, path=source.path, line=line))
            if _may_mean(source, match.start(), container, owner):
                reason = i18n.message("exact.open.deleted", name=f"{owner}.{name}" if owner else name)
                patch.leave_open(source, match.start(), reason)


_HOLDERS = {"selector_expression": "operand", "member_expression": "object", "field_expression": "value"}


def _is_own(source: SourceText, node: Node, owner: str) -> bool:
    """Whether a method of a type uses a field of its own object."""
    access = node.parent
    held = access.child_by_field_name(_HOLDERS.get(access.type, "")) if access is not None else None
    around = node.parent
    while around is not None and around.type not in ("method_declaration", "impl_item", "class_declaration"):
        around = around.parent
    if held is None or around is None:
        return False
    if around.type == "method_declaration":  # Go
        receiver = around.child_by_field_name("receiver")
        said = source.slice(receiver) if receiver is not None else ""
        return re.fullmatch(rf"\(\s*{re.escape(source.slice(held))}\s+\*?{re.escape(owner)}\b.*\)", said) is not None
    named = around.child_by_field_name("type") or around.child_by_field_name("name")
    of_owner = named is not None and re.match(rf"{re.escape(owner)}\b", source.slice(named)) is not None
    return of_owner and source.slice(held) in ("this", "self")


def _may_mean(source: SourceText, start: int, container: Container, owner: str) -> bool:
    """Whether a name may be that of a member: behind its owner, an object or, where constants need no owner, alone."""
    before = source.data[max(0, start - 200) : start].decode("utf-8", "replace")
    if container.shape == "consts":
        return True
    if container.shape == "enum":
        behind = re.search(r"(\w+)\s*(?:::|\.)\s*$", before)
        line = source.line_text(source.line_of(start))
        bare = re.search(r"\bcase\s+(?:\w+,\s*)*$", before) is not None or "import" in line
        return behind[1] in (owner, "Self") if behind else bare
    behind = re.search(r"(\w*)[^\w\s]*\.\s*$", before)
    if behind is not None:
        return not behind[1][:1].isupper() or behind[1] == owner or container.source.language == "go"
    return re.search(r"[{,]\s*$", before) is not None
