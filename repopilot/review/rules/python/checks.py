"""All checks of Python trees, by domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from repopilot.review.rules.python.access import access
from repopilot.review.rules.python.conditions import conditions
from repopilot.review.rules.python.contradictions import contradictions
from repopilot.review.rules.python.growth import growth
from repopilot.review.rules.python.naming import names
from repopilot.review.rules.python.orm_queries import database
from repopilot.review.rules.python.queries import queries
from repopilot.review.rules.python.responses import answers
from repopilot.review.rules.python.secret_handling import secrets
from repopilot.review.rules.python.security_flows import security
from repopilot.review.rules.python.speed import speed
from repopilot.review.rules.python.style import style
from repopilot.review.rules.python.tree import PythonTree
from repopilot.review.rules.python.values import values
from repopilot.types import Finding

Check = Callable[[PythonTree], Iterator[Finding]]

FLOWS: tuple[Check, ...] = (security, secrets, queries, access, answers)
LOOPS: tuple[Check, ...] = (speed, growth, database)
HABITS: tuple[Check, ...] = (style, conditions, values, contradictions, names)
