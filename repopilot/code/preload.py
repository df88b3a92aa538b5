"""Imported by name in a worker process before its first call, so that everything is loaded then."""

from repopilot.code.chunks import code_splitter
from repopilot.code.languages import grammar, languages
from repopilot.code.syntax import tags

code_splitter.preload()
for _language in languages():
    if grammar(_language):
        tags(_language)
