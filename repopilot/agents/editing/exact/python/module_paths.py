"""How one Python file writes the name of another in its imports. Pure."""

from __future__ import annotations

import posixpath


def dotted_module(path: str) -> str:
    """The name of a file's module as its folders say, without a folder for sources."""
    whole = _folders(path)
    first, _, rest = whole.partition(".")
    return rest if first in ("src", "lib") and rest else whole


def _folders(path: str) -> str:
    return posixpath.splitext(path)[0].removesuffix("/__init__").replace("/", ".")


def module_written(importer: str, module: str, *, like: str, old: str) -> str:
    """A module's name as an import of a file writes it.

    Args:
        importer: the path of the importing file.
        module: the path of the module.
        like: the module of another import: with leading dots where it is relative, '' for none.
        old: the path of the module that `like` names, which tells the form of an absolute name.
    """
    if like.startswith("."):
        return _relative(importer, module)
    return (retargeted(like, old, module) if like else None) or dotted_module(module)


def _relative(importer: str, module: str) -> str:
    here = posixpath.dirname(importer).split("/") if posixpath.dirname(importer) else []
    there = _folders(module).split(".") if module != "__init__.py" else []
    common = 0
    while common < min(len(here), len(there)) and here[common] == there[common]:
        common += 1
    return "." * (len(here) - common + 1) + ".".join(there[common:])


def retargeted(written: str, old: str, new: str) -> str | None:
    """The name of another module in the form in which one is written.

    Args:
        written: how a text names the module `old`, without leading dots.
        old: its path.
        new: the path of the other module.

    Returns:
        The name; None where `written` isn't the old module's.
    """
    before, after = f".{_folders(old)}", f".{_folders(new)}"
    if not written or not before.endswith(f".{written}"):
        return None
    lead = before[: len(before) - len(written)]
    return after[len(lead) :] if after.startswith(lead) and len(after) > len(lead) else None
