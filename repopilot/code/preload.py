"""Imported by name in a worker process before its first call, so that everything is loaded then."""

import llama_index.core.node_parser.text.code  # noqa: F401

from repopilot.code.languages import grammar, languages
from repopilot.code.syntax import tags

for _language in languages():
    if grammar(_language):
        tags(_language)
