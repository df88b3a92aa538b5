"""The prompts, one text file each, with strict placeholders `{{name}}`.

The stable part of a prompt stands first, what changes with every call last: local models reuse a repeated prefix.
"""

from __future__ import annotations

import hmac
import re
import secrets
from functools import cache
from importlib.resources import files

_SECRET = secrets.token_bytes(32)
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")


def render(name: str, /, **values: object) -> str:
    """Fill the placeholders of the prompt `prompts/<name>.txt`.

    Args:
        name: of the prompt's file, without `.txt`.
        values: one for each placeholder, and no others.

    Returns:
        The prompt.

    Raises:
        KeyError: values and placeholders don't have the same names.
        FileNotFoundError: there is no such prompt.
    """
    template = _template(name)
    wanted = set(_PLACEHOLDER.findall(template))
    if wanted != set(values):
        raise KeyError(f"prompt {name!r}: placeholders {sorted(wanted)}, values {sorted(values)}")
    return _PLACEHOLDER.sub(lambda m: str(values[m.group(1)]), template)


def nonce() -> str:
    """A new random delimiter, eight hexadecimal digits, which the author of untrusted text can't guess."""
    return secrets.token_hex(4)


def delimiter(content: str) -> str:
    """The delimiter for untrusted text: eight hexadecimal digits that its author can't guess.

    Args:
        content: what the prompt shows, or what identifies it. The same content has the same delimiter as long as the
            process runs, so that an identical prompt is found in the caches.
    """
    return hmac.new(_SECRET, content.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:8]


def sanitized(text: str, mark: str) -> str:
    """Untrusted text without the delimiter `mark` and without invisible characters, which could hide instructions."""
    return _INVISIBLE.sub("", text).replace(mark, "")


def below_text(name: str, task: str, text: str) -> str:
    """A task below a text by others, which is marked as such; the task alone where there is no text.

    Args:
        name: the prompt that says whose text it is, with the placeholders task, mark and text.
        task: what a model is asked.
        text: by others.
    """
    mark = delimiter(text)
    return render(name, task=task, mark=mark, text=sanitized(text, mark)) if text else task


@cache
def _template(name: str) -> str:
    return (files(__package__) / f"{name}.txt").read_text("utf-8").strip()
