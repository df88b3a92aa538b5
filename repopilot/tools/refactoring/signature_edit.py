"""All that changes in a repository with the parameters of a Python function: its definitions, its calls, and places
that can't be resolved."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from tree_sitter import Node

from repopilot.code.languages import is_test_path
from repopilot.code.source_positions import Replacement
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.resolve.names import Resolver
from repopilot.resolve.python_scopes import decorators
from repopilot.resolve.values import NameSpan, Resolved
from repopilot.tools.refactoring import docstrings
from repopilot.tools.refactoring.python_source import (
    PythonSource,
    call_of,
    definition_of,
    enclosing,
    expression_of,
    is_attribute,
    is_field,
    is_keyword,
    last_name,
)
from repopilot.tools.refactoring.signature import (
    CallSite,
    Parameter,
    Signature,
    SignatureChange,
    call_at,
    changed_call,
    changed_definition,
    removed_items,
    signature_of,
)

HARMLESS = frozenset(
    "staticmethod classmethod property overload override abstractmethod final cache lru_cache cached_property fixture "
    "contextmanager asynccontextmanager wraps parametrize given".split()
)
"""Decorators that leave the names and the order of parameters as they are, or that are handled separately."""
_PASSED_ON = re.compile(r"\(\s*\*\w+,\s*\*\*\w+,?\s*\)")
_SEES_NAMES = frozenset(("locals", "vars", "eval", "exec"))
_ABOUT_CLASSES = frozenset("isinstance issubclass super cast TypeVar getattr hasattr".split())
CONSTRUCTORS = ("__init__", "__new__")


class SignatureEdit:
    """The edits that a change of parameters needs.

    Args:
        resolver: of the repository.
        definition: the place of the function's name.
        name: the name.
        signature: the function.
        change: of its parameters.

    Attributes:
        edits: the replacements by path.
        left: places that may have to change and weren't.

    Raises:
        UsageError: the change would break the program; the message says where.
    """

    def __init__(
        self, resolver: Resolver, definition: NameSpan, name: str, signature: Signature, change: SignatureChange
    ) -> None:
        self.resolver = resolver
        self.name = name
        self.change = change
        self.edits: dict[str, set[Replacement]] = defaultdict(set)
        self.left: set[NameSpan] = set()
        self._sources: dict[str, PythonSource] = {}
        self._escapes = False
        self._signature = signature
        family = resolver.family(definition, name)
        made = name in CONSTRUCTORS
        members = {definition} if made else set(family.members)
        found = map(self._signature_at, sorted(members | {definition}))
        self._functions = [function for function in found if function is not None]
        if family.outside and not made and (change.rename or change.moves_arguments):
            raise UsageError(message("signature.outside", name=name, files=", ".join(sorted(family.outside))))
        self._require_free()
        self._change_definitions()
        self._rename()
        self._follow(self._class_uses(definition) if made else members)
        self._list_unresolved(family.unsure)
        self._require_unused()

    # ------------------------------------------------------------------------------------------------ definitions

    def source(self, path: str) -> PythonSource:
        """A file's text with its tree."""
        if path not in self._sources:
            self._sources[path] = PythonSource(path, self.resolver.text(path) or "")
        return self._sources[path]

    def _node(self, span: NameSpan) -> Node | None:
        if not span.path.endswith((".py", ".pyi")):
            return None
        node = self.source(span.path).at(span.start, span.end)
        return node if node is not None and node.type == "identifier" else None

    def _span(self, source: PythonSource, node: Node) -> NameSpan:
        return NameSpan(source.path, *source.span(node))

    def _signature_at(self, span: NameSpan) -> Signature | None:
        """The function whose name stands at a place, None for other places."""
        node = self._node(span)
        function = definition_of(node) if node is not None else None
        if function is None or function.type != "function_definition":
            return None
        return signature_of(self.source(span.path), function)

    def _meant(self, source: PythonSource, name: Node) -> frozenset[NameSpan]:
        """The definitions of the repository that a name means."""
        return self.resolver.definition(self._span(source, name)).inside

    def _own(self, function: Signature) -> SignatureChange:
        """The change as far as it concerns a function that has some of the parameters."""
        names = function.names
        change = self.change
        order = change.order if set(change.order) <= set(function.positional) else ()
        if len(order) < len(change.order):
            self._leave(function.source, function.function)
        return SignatureChange(change.add, [n for n in change.remove if n in names], {}, order)

    def _require_free(self) -> None:
        """Raises UsageError where a new name is taken in a function."""
        for function in self._functions:
            for new in self._new_names:
                taken = list(function.source.words(new, function.function))
                if taken:
                    raise UsageError(message("signature.taken", name=new, places=self._places(function.source, taken)))

    def _places(self, source: PythonSource, nodes: Sequence[Node]) -> str:
        lines = dict.fromkeys(source.line(source.span(node)[0]) for node in nodes)
        return ", ".join(f"{source.path}:{line}" for line in list(lines)[:8])

    def _change_definitions(self) -> None:
        for function in self._functions:
            source = function.source
            self.edits[source.path].update(changed_definition(function, self._own(function)))
            self._change_docstring(function)
            self._look_at_decorators(function)
            for call in source.walk(function.function, "call"):
                if source.of(call.child_by_field_name("function")) in _SEES_NAMES:
                    self._leave(source, call)

    def _change_docstring(self, function: Signature) -> None:
        source = function.source
        body = function.function.child_by_field_name("body")
        first = next((each for each in (body.named_children if body else ()) if each.type != "comment"), None)
        node = first.named_children[0] if first is not None and first.type == "expression_statement" else first
        if node is None or node.type != "string":
            return
        start, end = source.span(node)
        text = source.text[start:end]
        for entry in docstrings.entries(text):
            if entry.name in self.change.remove:
                self.edits[source.path].add(Replacement(start + entry.span[0], start + entry.span[1], ""))
            elif entry.name in self.change.rename:
                place = start + entry.name_span[0], start + entry.name_span[1]
                self.edits[source.path].add(Replacement(*place, self.change.rename[entry.name]))
        for old, new in self.change.rename.items():
            for a, b in docstrings.marked(text, old):
                self.edits[source.path].add(Replacement(start + a, start + b, new))

    def _look_at_decorators(self, function: Signature) -> None:
        """List the decorators of a function that may depend on its parameters: they name one in a string or as a
        keyword, or their code is unknown."""
        source = function.source
        change = self.change
        gone = [name for name in (*change.rename, *change.remove) if name in function.names]
        for decorator in decorators(function.function):
            named = last_name(decorator.named_children[0])
            words = {word for node in source.walk(decorator, "string") for word in _words(source.of(node))}
            words |= {source.of(node) for node in source.walk(decorator, "identifier") if is_keyword(node)}
            known = source.of(named) in ("parametrize", "given")
            if known and not any(name in change.remove for name in words):
                continue
            unknown = source.of(named) not in HARMLESS and not self._passes_on(source, named)
            if words & set(gone) or (unknown and (gone or change.moves_arguments)):
                self._leave(source, decorator)

    def _passes_on(self, source: PythonSource, name: Node | None) -> bool:
        """Whether a decorator of the repository passes all arguments on as they are."""
        if name is None or source.of(name) == "setter":
            return name is not None
        found = [self._signature_at(span) for span in self._meant(source, name)]
        return bool(found) and all(function is not None and _calls_as_called(function) for function in found)

    # ------------------------------------------------------------------------------------------------- parameters

    def _parameters(self, name: str) -> Iterator[tuple[Signature, Parameter, set[NameSpan]]]:
        """A parameter in every function that has it, with all the places that mean it."""
        for function in self._functions:
            parameter = function.named(name)
            if parameter is None:
                continue
            span = NameSpan(function.source.path, *parameter.name_span)
            places = set(self.resolver.family(span, name).members) | {span}
            if self._is_given_by_name(function, places):
                raise UsageError(
                    message("signature.fixture", name=name, place=self._places(function.source, [parameter.node]))
                )
            yield function, parameter, places

    def _is_given_by_name(self, function: Signature, places: Collection[NameSpan]) -> bool:
        """Whether pytest fills a parameter by its name from a fixture, and not from `parametrize`."""
        source = function.source
        name = function.source.of(function.function.child_by_field_name("name"))
        texts = [source.of(each) for each in decorators(function.function)]
        tested = (name.startswith("test") and is_test_path(source.path)) or any("fixture" in text for text in texts)
        named = any(span.path == source.path and self._node(span) is None for span in places)
        return tested and not named and not any(re.search(r"\bgiven\b|\bpatch\b", text) for text in texts)

    def _rename(self) -> None:
        for old, new in self.change.rename.items():
            for _, _, places in self._parameters(old):
                for span in places:
                    node = self._node(span)
                    self.edits[span.path].add(Replacement(span.start, span.end, new))
                    if node is not None and _shows_name(node):
                        self.left.add(span)

    def _require_unused(self) -> None:
        """Raises UsageError where a removed parameter is still used."""
        for name in self.change.remove:
            for _, _, places in self._parameters(name):
                for span in sorted(places):
                    node = self._node(span)
                    if node is None or self._is_gone(span) or self._is_parameter(span):
                        continue
                    if is_keyword(node):
                        self._remove_keyword(span, node)
                        continue
                    where = self._places(self.source(span.path), [node])
                    raise UsageError(message("signature.used", name=name, places=where))

    def _remove_keyword(self, span: NameSpan, node: Node) -> None:
        """Remove a keyword argument from a call that was found only by it: of `cls(…)`, or of a function in a table."""
        around = enclosing(node, "call")
        if around is None or node.parent is None:
            self.left.add(span)
            return
        call = call_at(self.source(span.path), around)
        every = call.every
        spans = [call.span(each) for each in every]
        self.edits[span.path].update(removed_items(spans, [every.index(node.parent)], call.closing))
        if call.source.has_effects(node.parent):
            self.left.add(span)

    def _is_gone(self, span: NameSpan) -> bool:
        return any(e.start <= span.start and span.end <= e.end and not e.text for e in self.edits[span.path])

    def _is_parameter(self, span: NameSpan) -> bool:
        return any(
            function.source.path == span.path and each.name_span == (span.start, span.end)
            for function in self._functions
            for each in function.items
        )

    # ------------------------------------------------------------------------------------------------------- uses

    def _class_uses(self, definition: NameSpan) -> set[NameSpan]:
        """The uses of a constructor's class and of the subclasses that inherit the constructor, and those of its own
        name."""
        named = {r.occurrence.span for r in self.resolver.meanings(self.name) if definition in r.meaning.inside}
        owner = enclosing(self._signature.function, "class_definition")
        waiting = [(self._signature.source, owner)] if owner is not None else []
        seen: set[NameSpan] = set()
        while waiting:
            source, node = waiting.pop()
            name = node.child_by_field_name("name")
            assert name is not None
            for span in self.resolver.family(self._span(source, name), source.of(name)).members:
                use = self._node(span)
                if span in seen or use is None:
                    continue
                seen.add(span)
                below = enclosing(use, "class_definition")
                bases = below.child_by_field_name("superclasses") if below is not None else None
                if below is not None and expression_of(use).parent == bases and not self._has_own(span.path, below):
                    waiting.append((self.source(span.path), below))
        return named | seen

    def _has_own(self, path: str, owner: Node) -> bool:
        body = owner.child_by_field_name("body")
        heads = [
            n for n in self.source(path).walk(body, "function_definition") if enclosing(n, "class_definition") == owner
        ]
        return any(self.source(path).of(n.child_by_field_name("name")) in CONSTRUCTORS for n in heads)

    def _follow(self, places: Collection[NameSpan]) -> None:
        """Change the calls at some places, and those through aliases that the function gets there."""
        waiting = sorted(places)
        seen = set(places)
        while waiting:
            span = waiting.pop()
            node = self._node(span)
            if node is None:
                continue
            other = self._follow_use(self.source(span.path), node)
            if other is None:
                continue
            where = self._span(self.source(span.path), other)
            name = self.source(span.path).of(other)
            meant = {r.occurrence.span for r in self.resolver.meanings(name) if r.meaning.inside & self._named()}
            found = self.resolver.family(where, name).members | meant
            bound = [each for each in found if (n := self._node(each)) is not None and _is_bound(n)]
            if len(bound) > 1:
                self._escapes = True
                self.left |= set(bound) if self.change.moves_arguments else set()
            waiting += [each for each in found if each not in seen]
            seen |= set(found)

    def _follow_use(self, source: PythonSource, node: Node) -> Node | None:
        """Change a use of the function; returns an alias that it gets there, None for none."""
        if definition_of(node) is not None or _is_inert(node) or _is_bound(node):
            return _alias(node)
        call = call_of(node)
        if call is not None:
            self._change_call(source, node, call)
            return None
        expression = expression_of(node)
        parent = expression.parent
        around = enclosing(expression, "call")
        holder = parent.parent if parent is not None and parent.type == "keyword_argument" else parent
        if holder is not None and holder.type == "argument_list" and around is not None:
            called = source.of(last_name(around.child_by_field_name("function")))
            first = call_at(source, around).arguments[:1] == [expression]
            if called in _ABOUT_CLASSES:
                return None
            if called in ("partial", "partialmethod") and first:
                self._rename_keywords(source, call_at(source, around))
                if self.change.moves_arguments:
                    self._leave(source, around)
                return None
            self._leave_keys(source, around)
        if parent is not None and parent.type == "assignment" and is_field(expression, parent, "right"):
            left = parent.child_by_field_name("left")
            in_class = enclosing(parent, "class_definition", "function_definition")
            if (
                left is not None
                and left.type == "identifier"
                and (in_class is None or in_class.type != "class_definition")
            ):
                return left
        if not _is_type_use(expression):
            self._escapes = True
            if self.change.moves_arguments:
                self._leave(source, node)
        return None

    def _change_call(self, source: PythonSource, node: Node, found: Node) -> None:
        call = call_at(source, found)
        signature = self._called(source, node)
        bound = self._bound(source, node, signature)
        taken = [each for name, each in call.keywords if name in self._new_names and signature.takes_any]
        if taken:
            places = self._places(source, taken)
            raise UsageError(message("signature.taken", name=source.of(taken[0]).split("=")[0], places=places))
        made, complete = ([], False) if bound is None else changed_call(call, bound, signature, self.change)
        self.edits[source.path].update(made)
        if not complete and self.change.moves_arguments:
            self._leave(source, node)
        self._rename_keywords(source, call)

    @property
    def _new_names(self) -> list[str]:
        return [*self.change.rename.values(), *(each.name for each in self.change.add)]

    def _rename_keywords(self, source: PythonSource, call: CallSite) -> None:
        """Rename the keywords of a call, and those that it takes from a dictionary."""
        for name, node in call.keywords:
            if name in self.change.rename:
                start, _ = source.span(node)
                self.edits[source.path].add(Replacement(start, start + len(name), self.change.rename[name]))
        for option in call.options:
            self._change_options(source, option)

    def _change_options(self, source: PythonSource, option: Node) -> None:
        """Rename the keys of `**options`, where that is a dictionary literal, or a variable for one that is used for
        nothing else; else list the place."""
        if not self.change.rename and not self.change.remove:
            return
        value = option.named_children[0]
        holder: Node | None = value if value.type == "dictionary" else None
        if value.type == "identifier":
            holder = self._only_options(source, value)
        pairs = list(source.walk(holder, "pair")) if holder is not None else []
        keys = [key for each in pairs if (key := each.child_by_field_name("key")) is not None and each.parent == holder]
        spread = holder is None or any(child.type == "dictionary_splat" for child in holder.named_children)
        names = {source.text_value(key): key for key in keys}
        if spread or None in names or set(names) & set(self.change.remove):
            self._leave(source, option)
            self._leave_keys(source, None)
            return
        for old, new in self.change.rename.items():
            if old in names:
                start, end = source.span(names[old])
                found = source.text.index(old, start, end)
                self.edits[source.path].add(Replacement(found, found + len(old), new))

    def _only_options(self, source: PythonSource, value: Node) -> Node | None:
        """The dictionary literal of a variable that is bound once, and only passed to the function as `**options`."""
        span = self._span(source, value)
        places = self.resolver.family(span, source.of(value)).members
        nodes = [self._node(each) for each in places if each.path == source.path]
        bound = [node for node in nodes if node is not None and _is_bound(node)]
        used = [node for node in nodes if node is not None and node not in bound]
        right = bound[0].parent.child_by_field_name("right") if len(bound) == 1 and bound[0].parent else None
        alone = all(self._is_option_of_it(source, node) for node in used) and len(nodes) == len(places)
        return right if right is not None and right.type == "dictionary" and alone else None

    def _is_option_of_it(self, source: PythonSource, node: Node) -> bool:
        call = enclosing(node, "call")
        if node.parent is None or node.parent.type != "dictionary_splat" or call is None:
            return False
        name = last_name(call.child_by_field_name("function"))
        return name is not None and bool(self._meant(source, name) & self._named())

    def _named(self) -> set[NameSpan]:
        """The names of the functions where they are defined."""
        return set(map(self._name_of, self._functions))

    def _name_of(self, function: Signature) -> NameSpan:
        name = function.function.child_by_field_name("name")
        assert name is not None
        return self._span(function.source, name)

    def _leave_keys(self, source: PythonSource, within: Node | None) -> None:
        """List the strings of a file, or of a call, that are the name of a changed parameter."""
        self._escapes = True
        names = {*self.change.rename, *self.change.remove}
        for node in source.walk(within, "string"):
            if source.text_value(node) in names:
                self._leave(source, node)

    def _called(self, source: PythonSource, name: Node) -> Signature:
        """The function of the family that a call means."""
        meaning = self._meant(source, name)
        return next((function for function in self._functions if self._name_of(function) in meaning), self._signature)

    def _bound(self, source: PythonSource, name: Node, function: Signature) -> int | None:
        """How many parameters the object of a call fills: the `self` of a method, unless it is called on its class;
        None where that can't be told."""
        owner = enclosing(function.function, "class_definition", "function_definition")
        kinds = {function.source.of(each).strip("@ \n") for each in decorators(function.function)}
        if owner is None or owner.type != "class_definition" or "staticmethod" in kinds:
            return 0
        if not is_attribute(name) or source.of(name) != self.name:
            return 1 if self.name in CONSTRUCTORS else None
        value = expression_of(name).child_by_field_name("object")
        held = last_name(value)
        on_class = value is not None and value.type != "call" and held is not None and self._is_class(source, held)
        return 0 if on_class and "classmethod" not in kinds else 1

    def _is_class(self, source: PythonSource, name: Node) -> bool:
        found = [definition_of(node) for span in self._meant(source, name) if (node := self._node(span)) is not None]
        return any(each is not None and each.type == "class_definition" for each in found)

    # ------------------------------------------------------------------------------------------------- unresolved

    def _list_unresolved(self, unsure: Sequence[Resolved]) -> None:
        """List the calls that may mean the function, and the keywords that may be its parameters."""
        names = {*self.change.rename, *self.change.remove}
        for one in unsure:
            node = self._node(one.occurrence.span)
            call = call_of(node) if node is not None else None
            similar = self._signature_at(one.occurrence.span)
            if similar is not None and (self.change.add or self._changes(similar)):
                self.left.add(one.occurrence.span)  # it may be called in place of this one through a protocol
            if node is None or call is None:
                continue
            source = self.source(one.occurrence.span.path)
            found = call_at(source, call)
            if self.change.moves_arguments or found.options or any(name in names for name, _ in found.keywords):
                self._leave(source, node)
        for name in sorted(names):
            for one in self.resolver.meanings(name):
                node = self._node(one.occurrence.span)
                if one.meaning.known or node is None or not is_keyword(node):
                    continue
                source = self.source(one.occurrence.span.path)
                if self._may_reach(source, node) and not self._is_edited(one.occurrence.span):
                    self._leave(source, node)

    def _changes(self, function: Signature) -> bool:
        """Whether another function has a parameter that the change names."""
        return not {*self.change.rename, *self.change.remove, *self.change.order}.isdisjoint(function.names)

    def _may_reach(self, source: PythonSource, keyword: Node) -> bool:
        """Whether a keyword argument may reach the function: by a call of anything but a library's function, except
        `partial` and `dict`, which take any keyword."""
        call = enclosing(keyword, "call")
        if call is None or not self._escapes:
            return False
        name = last_name(call.child_by_field_name("function"))
        if name is None:
            return True
        meaning = self.resolver.definition(self._span(source, name))
        return not meaning.outside or source.of(name) in ("partial", "dict")

    def _is_edited(self, span: NameSpan) -> bool:
        return any(each.start <= span.start < each.end for each in self.edits[span.path])

    def _leave(self, source: PythonSource, node: Node) -> None:
        self.left.add(self._span(source, node))


def _calls_as_called(decorator: Signature) -> bool:
    """Whether a decorator's function calls what it wraps with all arguments as they are."""
    source = decorator.source
    inner = [signature_of(source, each) for each in source.walk(decorator.function, "function_definition")]
    wrapped = {name for each in inner for name in each.names[:1]}
    called = [
        call
        for call in source.walk(decorator.function, "call")
        if source.of(call.child_by_field_name("function")) in wrapped
    ]
    texts = [source.of(call.child_by_field_name("arguments")) for call in called]
    return bool(texts) and all(map(_PASSED_ON.fullmatch, texts))


def _words(text: str) -> set[str]:
    return {word.strip("_") for word in re.findall(r"\w+", f"{text} {text.replace('-', '_')}")}


def _shows_name(node: Node) -> bool:
    """Whether an f-string shows an expression with its value: `{name=}`."""
    around = enclosing(node, "interpolation")
    return around is not None and any(child.type == "=" for child in around.children)


def _is_inert(node: Node) -> bool:
    """Whether a name is only imported, deleted or declared."""
    return enclosing(node, "import_from_statement", "import_statement") is not None or (
        node.parent is not None and node.parent.type in ("global_statement", "nonlocal_statement", "delete_statement")
    )


def _alias(node: Node) -> Node | None:
    """The alias that an import gives a name, None without one."""
    around = enclosing(node, "aliased_import")
    found = around.child_by_field_name("alias") if around is not None else None
    return found if found is not None and found != node else None


def _is_bound(node: Node) -> bool:
    """Whether a name is assigned to."""
    parent = node.parent
    return (
        parent is not None and parent.type in ("assignment", "augmented_assignment") and is_field(node, parent, "left")
    )


def _is_type_use(expression: Node) -> bool:
    """Whether an expression is a base class, a type, or the object of an attribute."""
    parent = expression.parent
    if parent is None:
        return True
    if parent.type == "attribute" or enclosing(expression, "type", "except_clause") is not None:
        return True
    return parent.type == "argument_list" and parent.parent is not None and parent.parent.type == "class_definition"
