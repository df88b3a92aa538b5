"""The forms of questions that symbols, syntax and the code graph answer, and what answers each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from repopilot.agents.explain.forms.behaviour import answer_parameters, answer_raises, answer_returns
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.definition_places import (
    answer_checked,
    answer_defined,
    answer_raised,
    answer_set,
    answer_used,
)
from repopilot.agents.explain.forms.described.described_errors import answer_error_when
from repopilot.agents.explain.forms.described.described_symbols import answer_which
from repopilot.agents.explain.forms.described.described_values import answer_quantity
from repopilot.agents.explain.forms.false_premise import answer_false_premise
from repopilot.agents.explain.forms.named_values import answer_default, answer_type, answer_value
from repopilot.agents.explain.forms.recognise import Form, FormKind, recognise
from repopilot.agents.explain.forms.relations import (
    answer_bases,
    answer_callees,
    answer_callers,
    answer_subclasses,
)

_BY_FORM: Mapping[FormKind, Callable[[Form, Inquiry], CodeAnswer | None]] = {
    "callers": answer_callers,
    "callees": answer_callees,
    "subclasses": answer_subclasses,
    "bases": answer_bases,
    "raises": answer_raises,
    "returns": answer_returns,
    "parameters": answer_parameters,
    "default": answer_default,
    "value": answer_value,
    "type": answer_type,
    "quantity": answer_quantity,
    "error_when": answer_error_when,
    "which": answer_which,
    "why_does": answer_false_premise,
    "defined": answer_defined,
    "checked": answer_checked,
    "used": answer_used,
    "set": answer_set,
    "raised": answer_raised,
}


def answer_code_form(inquiry: Inquiry) -> CodeAnswer | None:
    """Answer a question of a form that symbols, syntax or the code graph can answer."""
    form = recognise(inquiry.question)
    answer = _BY_FORM.get(form.kind) if form else None
    return answer(form, inquiry) if form and answer else None
