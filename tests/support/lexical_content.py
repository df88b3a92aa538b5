"""What a lexical index says, whatever numbers it gives to tokens, names, kinds and languages."""

from __future__ import annotations

from collections.abc import Iterable

from repopilot.index.lexical import FIELDS, FILE_ARRAYS, LABELS, ROW_ARRAYS, TABLES, LexicalIndex, Postings


def lexical_content(index: LexicalIndex) -> tuple:
    """Everything a search can see of an index, comparable with that of another one over the same chunks."""
    tokens = list(index.tokens)
    assert list(index.tokens.values()) == list(range(len(tokens)))
    found: dict[str, object] = {name: _by_key(index.fields[name], tokens) for name in FIELDS}
    for table, (keys, values) in TABLES.items():
        pairs, lengths = _by_key(getattr(index, table), tokens if keys == "tokens" else index.names)
        if values == "names":
            found[table] = (
                {k: sorted((index.names[n], c) for n, c in zip(*pair, strict=True)) for k, pair in pairs.items()},
                dict(zip(index.names, lengths, strict=True)),
            )
        else:
            found[table] = pairs, lengths
    for column, labels in LABELS.items():
        found[column] = [getattr(index, labels)[number] for number in getattr(index, column).tolist()]
    arrays = {name: getattr(index, name).tolist() for name in (*FILE_ARRAYS, *ROW_ARRAYS)}
    texts = [sorted(found) for found in (tokens, index.names, index.kinds, index.languages)]
    return found, arrays, index.files, texts, [array.dtype for _, array in index._arrays()]


def _by_key(postings: Postings, keys: Iterable[str]) -> tuple[dict, list]:
    found = {key: tuple(part.tolist() for part in postings.of(number)) for number, key in enumerate(keys)}
    return {key: pair for key, pair in found.items() if pair[0]}, postings.lengths.tolist()
