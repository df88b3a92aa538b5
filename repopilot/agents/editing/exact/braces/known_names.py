"""Which names of a piece of code mean something where it is written, in languages with braces."""

from __future__ import annotations

import posixpath
import re

from repopilot.agents.editing.exact.sources import Sources, SourceText, word_pattern

_STRINGS = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`|//[^\n]*|/\*.*?\*/", re.S)
_NAMES = re.compile(r"(?<![\w$.@\"'])(?<!::)[A-Za-z_$][\w$]*")
_EVERYWHERE = frozenset(
    "true false null undefined nil None Some Ok Err new typeof void NaN Infinity this self super async await function "
    "return in of as is keyof readonly extends infer unique const let var static final public private protected "
    "internal abstract volatile transient mut ref pub crate dyn impl fn where map chan func struct interface make len "
    "cap append error string bool byte rune int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr "
    "float32 float64 complex64 complex128 any iota number boolean object symbol bigint never unknown Array Record "
    "Partial Required Readonly Pick Omit Promise Map Set WeakMap WeakSet Date RegExp Error Object Function String "
    "Number Boolean Symbol BigInt JSON Math URL Buffer Uint8Array ReadonlyArray NonNullable ReturnType Parameters "
    "process console require module exports globalThis u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 "
    "str char Vec Option Box Result Self vec format short long float double Integer Long Double Float Character Byte "
    "Short Iterable Class Thread Runnable Exception Throwable StringBuilder CharSequence Comparable static".split()
)


def unknown_names(code: str, source: SourceText, sources: Sources) -> set[str]:
    """The names in a piece of code that neither the language nor the file nor, in Go and Java, its package has.

    Args:
        code: an expression, a type or a declaration without the name that it declares.
        source: the file that it is put into.
        sources: the files.
    """
    plain = _STRINGS.sub('""', code)
    keys = set(re.findall(r"([A-Za-z_$][\w$]*)\s*\??:(?!:)", plain))
    names = set(_NAMES.findall(plain)) - _EVERYWHERE - keys
    return {n for n in names if not _is_known(n, source, sources)}


def _is_known(name: str, source: SourceText, sources: Sources) -> bool:
    if re.fullmatch(r"[A-Z]", name) or word_pattern(name).search(source.data):
        return True
    if source.language not in ("go", "java"):
        return False
    folder = posixpath.dirname(source.path)
    return any(posixpath.dirname(s.path) == folder for s in sources.workspace.index.symbols(name) if s.name == name)
