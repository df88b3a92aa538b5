"""Whether what a model has written so far is complete, so that it need not go on. Pure."""

from __future__ import annotations

import re

from repopilot.agents.editing.placed.signature import signature_end
from repopilot.agents.editing.placed.slot import Slot
from repopilot.agents.editing.placed.splice import statement_end

_CLOSING = re.compile(r"\s*[)\]}]")
_STRINGS = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`|//[^\n]*")


def is_complete(slot: Slot, reply: str, language: str) -> bool:
    """Whether a reply holds all the lines of its slot.

    Args:
        slot: what is written, and how it begins.
        reply: what has been written behind the head.
        language: of the file.
    """
    if not reply.endswith("\n"):
        return False
    lines = (slot.prefix + reply).split("\n")[:-1]
    if slot.unit == "block":
        return False
    if slot.unit == "entry":
        return len(lines) > 1 and not lines[-1].strip()
    if slot.unit == "statement":
        return statement_end(lines, slot.indent) < len(lines) or lines[-1] == slot.indent + "}"
    if language == "python":
        return _dedented(lines, slot)
    return _balanced(_STRINGS.sub("''", "\n".join(lines)))


def _dedented(lines: list[str], slot: Slot) -> bool:
    """Whether the last line stands outside of the definition."""
    last = lines[-1]
    body = signature_end(lines, 0)
    if not last.strip() or len(lines) <= body or _CLOSING.match(last):
        return False
    outside = len(last) - len(last.lstrip()) <= len(slot.indent)
    text = "\n".join(lines[:-1])
    return outside and text.count('"""') % 2 == 0 and text.count("'''") % 2 == 0


def _balanced(code: str) -> bool:
    """Whether every brace that was opened is closed."""
    return "{" in code and code.count("{") == code.count("}") and code.count("(") == code.count(")")
