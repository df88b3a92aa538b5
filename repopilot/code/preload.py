"""Imported by name in the process that worker processes are forked from, so that they start with everything loaded."""

from repopilot.code import structure
from repopilot.code.languages import grammar, languages
from repopilot.code.syntax import tags

structure.preload()
for _language in languages():
    if grammar(_language):
        tags(_language)
