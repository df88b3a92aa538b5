"""Make `repopilot/redaction/known_formats.json` of a checkout of betterleaks (MIT), whose rules are the kept list of
formats of tokens: `python -m bench.vendor_secret_formats config/betterleaks.toml LICENSE COMMIT`.

Left out: rules that match any value beside a common word (ours do that, see `key_names.py`), rules for identifiers that
are no secrets, and the requests by which betterleaks tries whether a secret is valid.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

TARGET = Path(__file__).parents[1] / "repopilot" / "redaction" / "known_formats.json"
LEFT_OUT = frozenset(
    "generic-api-key kubernetes-secret-yaml curl-auth-header curl-auth-user hashicorp-tf-password pkcs12-file "
    "private-key aws-secret-access-key azure-storage-account-key nuget-config-password freemius-secret-key "
    "ovh-application-key ovh-consumer-key".split()
)
"""What `key_names.py` and `own_formats.py` do, or what needs a file's name."""
_ENTROPY = re.compile(r"entropy\(finding\[\"secret\"\]\) <=? ([\d.]+)")
_NO_SECRET = re.compile(r"-(?:id|url|host|name|address|account-name)(?:\.\d+)?$")
_COMMON_WORDS = frozenset(
    "access api auth key credential creds passwd password secret token client test_ live_ storage poly".split()
)


def converted(rule: Mapping) -> dict | None:
    """A rule in our form, None for one that is left out."""
    name, pattern = rule["id"], rule.get("regex", "")
    if not pattern or name in LEFT_OUT or _NO_SECRET.search(name) or "path" in rule:
        return None
    anchors = sorted({word.lower() for word in rule.get("keywords", ())} - _COMMON_WORDS)
    if not anchors:
        print("no anchor:", name, rule.get("keywords"), file=sys.stderr)
        return None
    entropy = _ENTROPY.search(rule.get("filter", ""))
    return {
        "name": name,
        "anchors": anchors,
        "pattern": in_python(pattern),
        "group": rule.get("secretGroup", 0),
        "entropy": float(entropy[1]) if entropy else 0.0,
    }


def in_python(pattern: str) -> str:
    """A pattern of Go's regexp in Python's syntax: flags inside a pattern apply to the rest of their group."""
    pattern = (
        pattern.replace(r"\z", r"\Z").replace("[[:alnum:]]", "[A-Za-z0-9]").replace("[[:^ascii:]]", r"[^\x00-\x7f]")
    )
    while match := re.search(r"(?<!^)\(\?([ims]+)\)", pattern):
        end = _end_of_group(pattern, match.end())
        pattern = f"{pattern[: match.start()]}(?{match[1]}:{pattern[match.end() : end]}){pattern[end:]}"
    re.compile(pattern)
    return pattern


def _end_of_group(pattern: str, at: int) -> int:
    depth, in_class = 0, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[" and not in_class:
            in_class = True
        elif char == "]":
            in_class = False
        elif not in_class and char in "()":
            depth += 1 if char == "(" else -1
            if depth < 0:
                return at
        at += 1
    return at


def main(config: str, licence: str, commit: str) -> None:
    """Write the file."""
    rules = tomllib.loads(Path(config).read_text("utf-8"))["rules"]
    formats = [found for rule in rules if (found := converted(rule))]
    head = {"origin": f"github.com/betterleaks/betterleaks, config/betterleaks.toml at {commit}, changed"}
    lines = ",\n".join(json.dumps(entry) for entry in formats)
    notice = json.dumps(head | {"licence": Path(licence).read_text("utf-8")}, indent=0)[:-2]
    TARGET.write_text(f'{notice},\n"formats": [\n{lines}\n]\n}}\n', "utf-8")
    print(len(rules), "rules,", len(formats), "kept")


if __name__ == "__main__":
    main(*sys.argv[1:])
