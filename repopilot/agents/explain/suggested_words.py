"""Words that the model expects in the code that answers a question: people ask in words of the problem, and code has
others.

Query expansion by a language model as in Wang, Yang and Wei, "Query2doc", EMNLP 2023, but with a few words instead of a
document: a small model on a CPU writes these in a second or two, and what it invents isn't in the index.
"""

from __future__ import annotations

import re

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.llm.backend import ChatOptions
from repopilot.llm.model import Model
from repopilot.llm.stream import chat
from repopilot.prompts import render
from repopilot.trace import Step
from repopilot.workspace import Workspace

MOST_WORDS = 6
LONGEST_QUESTION = 600
"""Characters. A longer one says what it means in words enough."""
LONGEST_S = 6.0
"""The model isn't asked where it would probably take longer."""
REPLY_TOKENS = 40
READ_TOKENS = 60
"""Tokens that a question adds to the prompt, whose stable part a local model has read before."""
_WORD = re.compile(r"[^\W\d_][\w.-]{1,30}|_\w{2,30}")
_GRAMMAR = f'root ::= word (", " word){{{MOST_WORDS - 1}}} "\\n"\nword ::= [A-Za-z_] [A-Za-z0-9_.-]{{1,20}}'


def may_suggest(question: str, workspace: Workspace) -> bool:
    """Whether the model should be asked for words: there is one, it is wanted, and fast enough.

    Args:
        question: as the user asked it.
        workspace: the repository, with its model.
    """
    model = workspace.model
    if model is None or not workspace.settings.suggest_words or len(question) > LONGEST_QUESTION:
        return False
    speed = model.speed
    return speed is None or speed.seconds(READ_TOKENS, REPLY_TOKENS) <= LONGEST_S


async def suggested_words(question: str, model: Model, step: Step) -> tuple[str, ...]:
    """Ask the model which words the code that answers a question has.

    Args:
        question: as the user asked it.
        model: the model to ask.
        step: gets a step for the reply. A model that fails is said there, and is no error.

    Returns:
        At most MOST_WORDS words or identifiers, likeliest first.
    """
    from llama_index.core.llms import ChatMessage

    messages = [
        ChatMessage(role="system", content=render("suggest_words")),
        ChatMessage(role="user", content=question),
    ]
    options = ChatOptions(REPLY_TOKENS, 0.0, stop=("\n",), grammar=_GRAMMAR if model.kind == "embedded" else "")
    async with step.child("suggest words", "llm") as asking:
        try:
            reply = await chat(model, messages, asking, options)
        except ModelError as error:
            asking.degrade(i18n.message("explain.degraded.no_words", why=i18n.reason(error)))
            return ()
        return words_of(reply)


def words_of(reply: str) -> tuple[str, ...]:
    """The words of a reply, each once.

    Args:
        reply: words between commas, as the model was asked for; of anything else the words are taken all the same.
    """
    return tuple(dict.fromkeys(_WORD.findall(reply.removeprefix("=>"))))[:MOST_WORDS]
