"""Recognizes well-known licences by their texts. Pure."""

from __future__ import annotations

import re

_SAYINGS = {
    "Apache-2.0": r"Apache License,?\s+Version 2\.0",
    "MPL-2.0": r"Mozilla Public License,?\s+Version 2\.0",
    "AGPL-3.0": r"GNU AFFERO GENERAL PUBLIC LICENSE\s+Version 3",
    "LGPL-3.0": r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 3",
    "LGPL-2.1": r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 2\.1",
    "GPL-3.0": r"GNU GENERAL PUBLIC LICENSE\s+Version 3",
    "GPL-2.0": r"GNU GENERAL PUBLIC LICENSE\s+Version 2",
    "CC0-1.0": r"CC0 1\.0 Universal",
    "BSL-1.0": r"Boost Software License\W+Version 1\.0",
    "Unlicense": r"free and unencumbered software released into the public domain",
    "MIT": r"Permission is hereby granted, free of charge, to any person",
    "ISC": r"Permission to use, copy, modify, and(?:/or)? distribute this\s+software",
    "BSD-3-Clause": r"Redistribution and use in source and binary forms(?=.*\b(?:neither the name|endorse\s+or)\b)",
    "BSD-2-Clause": r"Redistribution and use in source and binary forms",
}
"""What only the text of a licence says, by its SPDX identifier."""
_PATTERN = re.compile("|".join(f"(?P<_{n}>{said})" for n, said in enumerate(_SAYINGS.values())), re.I | re.S)


def licence_in(text: str) -> str:
    """The SPDX identifier of the licence whose text a file holds first, '' for none that is well known.

    Args:
        text: of a file such as LICENSE.
    """
    found = _PATTERN.search(" ".join(text.split()))
    return list(_SAYINGS)[int((found.lastgroup or "")[1:])] if found else ""
