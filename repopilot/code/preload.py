"""Imported by name in the process that workers are forked from, so that they start with everything loaded."""

from repopilot.code.chunks import code_splitter
from repopilot.code.languages import grammar, languages
from repopilot.code.syntax import tags

code_splitter.preload()
for _language in languages():
    if grammar(_language):
        tags(_language)
