"""An estimate of the tokens of a text, for models whose tokenizer is not available."""

from __future__ import annotations

import math

CHARS_PER_TOKEN = 3.2
"""Lower than the 3.3–4 that Qwen and Llama tokenizers reach on code and English: estimates err on the high side."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of `text` where the model's own tokenizer is not available: ASCII characters by
    `CHARS_PER_TOKEN`, every other character as one token (true of CJK, too many for accents)."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_count / CHARS_PER_TOKEN) + len(text) - ascii_count
