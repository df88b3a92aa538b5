"""Which file a relative module name of JavaScript or TypeScript means, and how a file is named relatively."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterator

from tree_sitter import Node

from repopilot.agents.editing.exact.braces.containers import SCRIPTS
from repopilot.agents.editing.exact.sources import SourceText

SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".json")
_SUFFIX = re.compile(r"(?:\.d)?\.(?:[mc]?[jt]sx?|json)$")
_LIKE = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}


def module_file(path: str, written: str, files: Container[str]) -> str | None:
    """The file that a relative module name means.

    Args:
        path: of the file that imports.
        written: the module name.
        files: all paths.
    """
    if not written.startswith("."):
        return None
    base = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
    ending = posixpath.splitext(base)[1]
    candidates = [base, *(f"{base.removesuffix(ending)}{s}" for s in _LIKE.get(ending, ()))]
    candidates += [f"{base}{s}" for s in SUFFIXES]
    candidates += [posixpath.normpath(f"{base}/index{s}") for s in SUFFIXES]
    return next((c for c in candidates if c in files), None)


def module_names(source: SourceText) -> Iterator[Node]:
    """The string nodes that name modules in a file: in imports, exports, `require` and the like."""
    pending = [source.root] if source.root is not None and source.language in SCRIPTS else []
    while pending:
        node = pending.pop()
        pending.extend(node.named_children)
        if node.type != "string" or node.parent is None:
            continue
        parent, call = node.parent, node.parent.parent
        if parent.type in ("import_statement", "export_statement", "import_require_clause"):
            yield node
        elif parent.type == "arguments" and call is not None and call.type == "call_expression":
            function = call.child_by_field_name("function")
            written = source.slice(function) if function is not None else ""
            if re.fullmatch(r"require|import|require\.resolve|(?:jest|vi)\.\w*[mM]ock\w*|jest\.requireActual", written):
                yield node


def renamed_module(path: str, written: str, new: str) -> str:
    """A relative module name for a file that has a new path, with or without suffix as before.

    Args:
        path: of the file that imports.
        written: the old module name.
        new: the new path.
    """
    relative = posixpath.relpath(new, posixpath.dirname(path) or ".")
    suffix, had = _SUFFIX.search(relative), _SUFFIX.search(written)
    bare = relative[: suffix.start()] if suffix else relative
    if had:
        kept = suffix is None or suffix[0] in _LIKE.get(had[0], ())
        bare += had[0] if kept or suffix is None else suffix[0]
    elif bare.endswith("/index") and not written.endswith("/index"):
        bare = bare.removesuffix("/index")
    return bare if bare.startswith(".") else f"./{bare}"
