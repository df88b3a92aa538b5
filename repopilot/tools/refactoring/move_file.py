"""Moves a Python module: its own imports and all files that import it follow."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import PurePosixPath

from repopilot.code.source_positions import Replacement, replaced
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.resolve.values import NameSpan, Occurrence
from repopilot.tools.file_change import syntax_error, with_line_ends
from repopilot.tools.refactoring.move_symbol import DATA, is_code, names_module, packages, plain_offset
from repopilot.tools.refactoring.python_imports import (
    Bound,
    ModuleText,
    dotted_below,
    is_package,
    module_as_written,
    plain,
    root_of,
    split_module,
    stem,
)
from repopilot.tools.refactoring.python_moves import dotted, free_names, relative_imports
from repopilot.tools.refactoring.python_source import PythonSource, enclosing
from repopilot.tools.refactoring.refactored import Texts
from repopilot.tools.working_copy import WorkingCopy

_HERE = ("__file__", "__path__")


class ModuleMove:
    """The changes when a Python module moves to another path. Blocking.

    Args:
        copy: the working copy.
        path: of the module.
        new: its new path.

    Attributes:
        texts: the new texts.
        left: places that may have to change and weren't.
        unread: files that can't be parsed.
        users: the Python files that name it.

    Raises:
        UsageError: its new name can't be imported.
    """

    def __init__(self, copy: WorkingCopy, path: str, new: str) -> None:
        self.copy = copy
        self.path = path
        self.new = new
        self.packages = packages(copy)
        self.left: set[NameSpan] = set()
        self.unread: list[str] = []
        self.name = PurePosixPath(stem(path)).name
        self._edits: dict[str, list[Replacement]] = defaultdict(list)
        self._made = self._new_packages()
        self._new_name = PurePosixPath(stem(new)).name
        for one in copy.resolver.occurrences(self.name):
            if one.kind != "code" and one.span.path != path:
                self._follow_text(one)
        holding = {one.span.path for one in copy.resolver.occurrences(self.name)} - {path}
        self.users = sorted(each for each in holding if each.endswith((".py", ".pyi")))
        for user in self.users:
            self._follow(user)
        self.texts = self._new_texts()

    def _text(self, path: str) -> str:
        return self.copy.resolver.text(path) or ""

    def _new_packages(self) -> list[str]:
        """The packages to create for the new path: new folders within a package."""
        folder = PurePosixPath(self.new).parent
        made = []
        while str(folder) not in (".", *self.packages):
            made.append(str(folder))
            folder = folder.parent
        there = any(path.startswith(f"{made[0]}/") for path in self.copy.searched()) if made else True
        return made if str(folder) in self.packages and not there else []

    def _new_texts(self) -> Texts:
        if any(path.endswith(".py") for path in self._edits) and not self._new_name.isidentifier():
            raise UsageError(message("refactor_tools.no_identifier", name=self._new_name))
        texts: Texts = {self.path: None, **{f"{folder}/__init__.py": "" for folder in self._made}}
        for path, edits in self._edits.items():
            texts[path] = with_line_ends(replaced(plain(self._text(path)), edits), self._text(path))
        texts[self.new] = self._own()
        return texts

    def _own(self) -> str:
        """The module's own text, with its relative imports adapted to the new path."""
        text = self._text(self.path)
        if syntax_error(self.path, text) is not None:
            return text
        module = ModuleText(self.path, plain(text), self.packages)
        moved = ModuleText(self.new, "", self.packages | set(self._made))
        found = relative_imports([module.tree], module, moved)
        if PurePosixPath(self.path).parent != PurePosixPath(self.new).parent and free_names(module.text) & set(_HERE):
            self.left.add(NameSpan(self.path, 0, 0))
        return with_line_ends(replaced(module.text, found), text)

    def _reference(self, user: ModuleText, module: str) -> str:
        return user.reference(module, self.path, self.new, dotted(self.new, self.packages | set(self._made)))

    def _follow(self, path: str) -> None:
        if syntax_error(path, self._text(path)) is not None:
            self.unread.append(path)
            return
        user = ModuleText(path, plain(self._text(path)), self.packages | set(self._made))
        tree = PythonSource(path, user.text)
        edits = self._edits[path]
        done = set()
        for bound in user.imports:
            if isinstance(bound.node, ast.ImportFrom) and user.means(bound.module, self.path):
                if id(bound.node) not in done:
                    edits.append(user.other_module(bound.node, self._reference(user, bound.module)))
                done.add(id(bound.node))
            elif not user.means(bound.whole, self.path):
                self._follow_package(user, tree, bound)
            elif isinstance(bound.node, ast.Import):
                self._other_import(user, tree, bound)
            else:
                self._other_member(user, tree, bound)
        if not edits:
            del self._edits[path]

    def _other_import(self, user: ModuleText, tree: PythonSource, bound: Bound) -> None:
        """Rewrite `import old` or `import package.old`."""
        old = bound.alias.name
        new = self._reference(user, bound.alias.name)
        start, _ = user.positions.span(bound.alias)
        edits = self._edits[user.path]
        edits.append(Replacement(start, start + len(old), new))
        if bound.alias.asname:
            return
        if "." not in old:
            uses = [] if "." in new else self._uses(user, tree, old, new)
            if not uses and self._is_used(tree, old):
                edits.append(Replacement(start + len(old), start + len(old), f" as {old}"))
            edits += [Replacement(*span, new) for span in uses]
            return
        for node in tree.walk(None, "attribute"):
            if tree.of(node) == old and enclosing(node, "import_statement") is None:
                edits.append(Replacement(*tree.span(node), new))
        first = old.partition(".")[0]
        if first != new.partition(".")[0] and self._is_used(tree, first, old):
            others = [b for b in user.imports if b is not bound and b.name.partition(".")[0] == first]
            if not others:
                edits.append(user.behind(bound.node, f"import {old.rpartition('.')[0]}"))

    def _is_used(self, tree: PythonSource, first: str, without: str = "") -> bool:
        for node in tree.words(first):
            around = node
            while around.parent is not None and around.parent.type == "attribute" and tree.of(around) != without:
                around = around.parent
            if enclosing(node, "import_statement", "import_from_statement") is None and tree.of(around) != without:
                return True
        return False

    def _uses(self, user: ModuleText, tree: PythonSource, old: str, new: str) -> list[tuple[int, int]]:
        """Where a file names the module, if its new name can be used there; [] where something else has either name."""
        bound = [b for b in user.imports if b.name == old]
        words = list(tree.words(old))
        held = [n for n in words if enclosing(n, "import_statement", "import_from_statement") is None]
        mine = all(user.means(b.whole, self.path) for b in bound)
        rebound = old in _bound_in_scopes(user.tree)
        if new in user.identifiers() or rebound or not mine or is_package(user.path):
            return []
        return [tree.span(node) for node in held]

    def _other_member(self, user: ModuleText, tree: PythonSource, bound: Bound) -> None:
        """Rewrite `from package import old`."""
        node = bound.node
        assert isinstance(node, ast.ImportFrom)
        module = self._reference(user, bound.whole)
        package, last = split_module(module)
        what = f"{last} as {bound.alias.asname}" if bound.alias.asname else last
        edits = self._edits[user.path]
        if not bound.alias.asname:
            uses = self._uses(user, tree, bound.alias.name, last) if last != bound.alias.name else []
            if uses:
                edits += [Replacement(*span, last) for span in uses]
            elif last != bound.alias.name and (self._is_used(tree, bound.alias.name) or is_package(user.path)):
                what = f"{last} as {bound.alias.name}"
        if package == module_as_written(node):
            edits.append(Replacement(*user.positions.span(bound.alias), what))
        elif not package:
            edits.append(user.behind(node, f"import {what}"))
            edits += user.without(node, [bound.alias], [*bound.body, node])
        elif len(node.names) == 1:
            edits += [user.other_module(node, package), Replacement(*user.positions.span(bound.alias), what)]
        else:
            edits.append(user.behind(node, f"from {package} import {what}"))
            edits += user.without(node, [bound.alias], bound.body)

    def _follow_package(self, user: ModuleText, tree: PythonSource, bound: Bound) -> None:
        """Rewrite `package.old` where only the package is imported."""
        whole = f"{bound.whole}{'/' if bound.whole.startswith('/') else '.'}{self.name}"
        named = f"{bound.name}.{self.name}"
        imported = any(user.means(b.whole, self.path) and b.name == named for b in user.imports)
        if imported or not user.means(whole, self.path) or self._is_bound_by_package():
            return
        for node in tree.walk(None, "attribute"):
            name = node.child_by_field_name("attribute")
            if name is None or tree.of(node) != named:
                continue
            if PurePosixPath(self.path).parent == PurePosixPath(self.new).parent:
                self._edits[user.path].append(Replacement(*tree.span(name), self._new_name))
            else:
                self.left.add(NameSpan(user.path, *tree.span(name)))

    def _is_bound_by_package(self) -> bool:
        """Whether the package itself imports the module by its name, so that `package.name` stays valid."""
        path = f"{PurePosixPath(self.path).parent}/__init__.py"
        text = plain(self._text(path))
        return is_code(path, text) and any(
            b.name == self.name for b in ModuleText(path, text, self.packages).imports if not b.lazy
        )

    def _follow_text(self, one: Occurrence) -> None:
        """Rewrite a dotted name of the module in a string or in configuration; list other mentions."""
        path = one.span.path
        text = self._text(one.span.path)
        begin = re.search(r"[A-Za-z_.][\w.]*$|$", text[: one.span.start])
        start = begin.start() if begin is not None else one.span.start
        name = text[start : one.span.end]
        root = root_of(name, self.path) if not name.startswith(".") else None
        loads = names_module(text[:start])
        sure = root is not None and ("." in name or loads or text[one.span.end : one.span.end + 1] == ":")
        if sure and (one.kind == "text" or (one.kind == "document" and path.endswith(DATA))):
            new = dotted_below(root, self.new) or dotted(self.new, self.packages | set(self._made))
            at = plain_offset(text, start)
            self._edits[path].append(Replacement(at, at + len(name), new))
        elif sure or loads or text[one.span.end :].startswith((".py", ".pyi")) or ("." in name and root is not None):
            self.left.add(one.span)


def _bound_in_scopes(tree: ast.Module) -> set[str]:
    """The names that a module binds otherwise than by imports, in any scope."""
    found = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    found |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return found | {
        n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
