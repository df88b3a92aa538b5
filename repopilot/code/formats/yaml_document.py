"""Reads untrusted YAML: every fault of a text raises ValueError. Pure."""

from __future__ import annotations

from typing import Any

import yaml

_MERGE = "tag:yaml.org,2002:merge"
_TEXT = "tag:yaml.org,2002:str"


class _Loader(yaml.SafeLoader):
    """Treats `<<` as a key like any other: merged values may double in size with every line."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        for key, _ in node.value:
            if key.tag == _MERGE:
                key.tag = _TEXT


def from_yaml(text: str) -> Any:
    """The value of a YAML text of one document. Raises ValueError when it isn't one, or is nested too deeply."""
    try:
        return yaml.load(text, _Loader)
    except (RecursionError, yaml.YAMLError) as error:
        raise ValueError(str(error)) from error
