"""Finds the encoding of a file's bytes: by its byte order mark, declared, UTF-8, or guessed from the letters. Pure."""

from __future__ import annotations

import codecs
import io
import tokenize
from collections.abc import Iterator

from repopilot.code.languages import language_of

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Encodings for escapes and host names aren't used for files, and decoding a long text with one takes minutes.
_NO_FILE = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"})
_WESTERN = "cp1252"
_ALPHABETS = (_WESTERN, "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254")
_CHARACTER_SETS = ("cp932", "euc_jp", "gb18030", "big5", "cp949")
_SHOWING = 1 << 16  # most bytes of non-ASCII lines that are examined; more tell nothing new
_MOST_CHAOS = 0.1
_LEAST_COHERENCE = 0.2
_LEAST_CHARACTERS = 10  # Chinese, Japanese or Korean ones: any two bytes of another alphabet may look like one
_MARK = "\ufeff"


def decoded(data: bytes, path: str) -> tuple[str, str] | None:
    """The text of a file and its encoding.

    Args:
        data: the file's bytes.
        path: its path; a Python file may declare its encoding (PEP 263), which comes before UTF-8 then.

    Returns:
        The text, a byte order mark included, and the encoding, with which `encoded` gives the same bytes again; None if
        the bytes aren't text, or the encoding is uncertain.
    """
    for encoding in _candidates(data, path):
        text = _strictly(data, encoding)
        if text is not None:
            return text, encoding
    return None


def any_text(data: bytes, path: str) -> str:
    """The text of a file, as UTF-8 with replacement characters where `decoded` finds none; arguments as there."""
    found = decoded(data, path)
    return found[0] if found is not None else data.decode("utf-8", "replace")


def encoded(text: str, encoding: str) -> bytes:
    """The bytes of a text in an encoding that `decoded` gave. UTF-16 and UTF-32 always get their byte order mark.

    Raises:
        UnicodeEncodeError: the encoding has no such character.
    """
    wide = encoding.startswith(("utf-16", "utf-32"))
    return (_MARK + text if wide and not text.startswith(_MARK) else text).encode(encoding)


def encoding_after(data: bytes | None, text: str, path: str) -> str:
    """The encoding in which to write a file's new text: that of its bytes, unless the text now declares another.

    Args:
        data: the file's bytes; None for a new file.
        text: its new text.
        path: its path.
    """
    old = decoded(data, path) if data is not None else None
    before, encoding = old or ("", "utf-8")
    if language_of(path) == "python" and not before.startswith(_MARK):
        declared = _declared_by(text)
        if declared != _declared_by(before):
            return declared or "utf-8"
    return encoding


def _candidates(data: bytes, path: str) -> Iterator[str]:
    """Encodings to try, the surest first."""
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if marked is not None:
        yield marked
        return
    declared = _declared(data)
    if declared is not None and language_of(path) == "python":
        yield declared
    yield "utf-8"
    if b"\0" in data:
        return
    if declared is not None:
        yield declared
    shown = _shown(data)
    if shown is not None:
        yield shown


def _strictly(data: bytes, encoding: str) -> str | None:
    """The text in an encoding; None if it can't be decoded, or encoding it again gives other bytes."""
    try:
        text = data.decode(encoding)
        return text if text.encode(encoding) == data else None
    except (UnicodeError, LookupError):  # LookupError: a codec, but not for text
        return None


def _declared(data: bytes) -> str | None:
    """The encoding that a file declares; None if its first lines, decoded with it, declare something else."""
    head = b"\n".join(data.split(b"\n", 2)[:2])
    name = _declared_by(head.decode("ascii", "replace"))
    try:
        return name if name is not None and _declared_by(head.decode(name)) == name else None
    except (UnicodeError, LookupError):
        return None


def _declared_by(text: str) -> str | None:
    """The encoding that the first two lines declare, as Python reads them: `utf-8` if they declare none, None if it
    isn't an encoding for files."""
    head = "\n".join(text.split("\n", 2)[:2]).encode("ascii", "replace")
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(head).readline)
        return None if codecs.lookup(name).name.replace("-", "_") in _NO_FILE else name
    except (SyntaxError, LookupError):
        return None


def _shown(data: bytes) -> str | None:
    """The encoding of the non-ASCII lines, if it turns their letters into words of a language; None if none does."""
    # Imported here: files that need it are rare.
    from charset_normalizer import CharsetMatch, from_bytes

    def sure(match: CharsetMatch) -> bool:
        if match.chaos > _MOST_CHAOS:
            return False
        if match.encoding in _ALPHABETS:
            return match.coherence >= _LEAST_COHERENCE
        return sum(ord(letter) > 0x2E80 for letter in str(match)) >= _LEAST_CHARACTERS

    lines = b"\n".join(line for line in data.splitlines() if not line.isascii())[:_SHOWING]
    matches = [m for m in from_bytes(lines, cp_isolation=[*_ALPHABETS, *_CHARACTER_SETS]) if sure(m)]
    if not matches:
        return None
    # Western and Central European encodings share bytes; where both make sense, the more frequent Western is meant.
    western = any(_WESTERN in m.could_be_from_charset and m.coherence >= matches[0].coherence for m in matches)
    return _WESTERN if western else matches[0].encoding
