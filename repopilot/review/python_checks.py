"""All checks of Python trees, by domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from repopilot.review.python_access import access
from repopilot.review.python_answers import answers
from repopilot.review.python_caches import caches
from repopilot.review.python_conditions import conditions
from repopilot.review.python_contradictions import contradictions
from repopilot.review.python_database import database
from repopilot.review.python_growth import growth
from repopilot.review.python_names import names
from repopilot.review.python_queries import queries
from repopilot.review.python_secrets import secrets
from repopilot.review.python_security import security
from repopilot.review.python_speed import speed
from repopilot.review.python_style import style
from repopilot.review.python_tree import PythonTree
from repopilot.review.python_values import values
from repopilot.review.python_waiting import waiting
from repopilot.types import Finding

Check = Callable[[PythonTree], Iterator[Finding]]

FLOWS: tuple[Check, ...] = (security, secrets, queries, access, answers)
LOOPS: tuple[Check, ...] = (speed, growth, caches, database, waiting)
HABITS: tuple[Check, ...] = (style, conditions, values, contradictions, names)
