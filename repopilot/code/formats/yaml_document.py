"""YAML of strangers: whatever is wrong with a text is a ValueError. Pure."""

from __future__ import annotations

from typing import Any

import yaml

_MERGE = "tag:yaml.org,2002:merge"
_TEXT = "tag:yaml.org,2002:str"


class _Loader(yaml.SafeLoader):
    """Merges nothing: what `<<` merges may double with every line. It is a key like any other."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        for key, _ in node.value:
            if key.tag == _MERGE:
                key.tag = _TEXT


def from_yaml(text: str) -> Any:
    """The value of a YAML text of one document. Raises ValueError: it is none, or nested too deeply."""
    try:
        return yaml.load(text, _Loader)
    except (RecursionError, yaml.YAMLError) as error:
        raise ValueError(str(error)) from error
