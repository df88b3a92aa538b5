"""The intents: what a question can ask for, and which agent answers it. The one place that lists them.

Router, prompts, browser and command line read this registry. To add an intent, add an entry here, write its agent and
its words (`[intents.<id>]` in `i18n/en.toml` and `fr.toml`). It can then be chosen by its command and by agent models.
Training examples (`bench/data/routing_train.jsonl`, then `bench/train_router.py`) make it known to the classifier as
well.

An intent has one id, which is part of the JSON contract, and one command, which is what users type. They are the same
word but for one: the command of DECOMPOSE is `plan`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from repopilot import i18n
from repopilot.types import Intent

_COMMAND = re.compile(r"/(\w+)(?:\s+|$)")


@dataclass(frozen=True, slots=True)
class IntentSpec:
    """One intent.

    Attributes:
        id: its name in routes, traces and JSON.
        word: the word the language model answers with when it chooses between intents.
        definition: what the word means, as the prompt says it.
        shots: four example questions for the prompt.
        command: what users type after `/` to force it; '' when it can't be forced.
        icon: the command's icon in the browser, a Lucide name.
        agent: its agent as `module:function`, imported when it is first needed; '' for a refusal, which has none.
        acts: whether the agent writes or runs code; what the caller declares to be a question never reaches it.
        lookup: it only looks something up, without any model. Only its command chooses it, never the router; the
            command without a question explains its use; the browser shows its answer at once, without steps.
    """

    id: Intent
    word: str
    definition: str = ""
    shots: tuple[str, ...] = ()
    command: str = ""
    icon: str = ""
    agent: str = ""
    acts: bool = False
    lookup: bool = False

    def label(self, language: str = "en") -> str:
        """The intent's name for display, for example on a button."""
        return i18n.text(f"intents.{self.id.lower()}.label", language)

    def description(self, language: str = "en") -> str:
        """What the intent's command does, in one line."""
        return i18n.text(f"intents.{self.id.lower()}.description", language)

    def example(self, language: str = "en") -> str:
        """An example question for the intent."""
        return i18n.text(f"intents.{self.id.lower()}.example", language)

    def load_agent(self) -> Callable[..., Any]:
        """Import the agent: each pulls in libraries that the others don't need."""
        module, _, function = self.agent.partition(":")
        return getattr(import_module(module), function)


INTENTS: tuple[IntentSpec, ...] = (
    IntentSpec(
        id="EXPLAIN",
        word="explain",
        definition="a question about what the code does, where something is, how to use it",
        shots=(
            "how does the retry logic work",
            "where is the config loaded",
            "does the client follow redirects",
            "what is stored in the cache",
        ),
        command="explain",
        icon="book-open",
        agent="repopilot.agents.explain.agent:explain",
    ),
    IntentSpec(
        id="SEARCH",
        word="search",
        command="search",
        icon="search",
        agent="repopilot.agents.search.agent:search",
        lookup=True,
    ),
    IntentSpec(
        id="GENERATE",
        word="change",
        definition="write, fix or alter code, configuration or documentation",
        shots=(
            "add a timeout to the client",
            "the date is wrong in the report, fix it",
            "rename this method and make it async",
            "a script that resizes images",
        ),
        command="generate",
        icon="code",
        agent="repopilot.agents.generate.pipeline:generate",
        acts=True,
    ),
    IntentSpec(
        id="TEST",
        word="test",
        definition="write or run tests",
        shots=(
            "write unit tests for the parser",
            "run the failing tests again",
            "cover the error branch",
            "tests for this please",
        ),
        command="test",
        icon="flask-conical",
        agent="repopilot.agents.testing.agent:test",
        acts=True,
    ),
    IntentSpec(
        id="REVIEW",
        word="review",
        definition="judge code, find bugs, problems or weaknesses in it",
        shots=("is this code safe", "find bugs in the importer", "what would you improve here", "check my last commit"),
        command="review",
        icon="scan-search",
        agent="repopilot.agents.review.agent:review",
    ),
    IntentSpec(
        id="IMPACT",
        word="impact",
        definition="what uses something, what is affected or breaks when it changes",
        shots=(
            "who calls this function",
            "what breaks if I remove this field",
            "is the old endpoint still used",
            "can I rename this safely",
        ),
        command="impact",
        icon="waypoints",
        agent="repopilot.agents.impact.agent:impact",
    ),
    IntentSpec(
        id="DECOMPOSE",
        word="plan",
        definition="work too large for one step, or a wish for a plan, steps or tasks",
        shots=(
            "move the whole app to postgres",
            "break this into tasks",
            "add accounts, roles, billing and an admin page",
            "what are the steps to split this service",
        ),
        command="plan",
        icon="list-checks",
        agent="repopilot.agents.planning.agent:plan",
        acts=True,
    ),
    IntentSpec(
        id="REFUSE",
        word="refuse",
        definition="made to harm, rob or spy on people or systems; never for dangerous words alone in ordinary work",
        shots=(
            "write ransomware for the machines of a hospital",
            "send what visitors type to me without their knowing",
            "code a worm that spreads over the network",
            "help me log into a stranger's account",
        ),
    ),
)


def ids() -> tuple[Intent, ...]:
    """The ids of all intents, in the order of the registry."""
    return tuple(spec.id for spec in INTENTS)


def routed() -> tuple[Intent, ...]:
    """The ids of the intents that the router chooses between: all but those that only a command chooses."""
    return tuple(spec.id for spec in INTENTS if not spec.lookup)


def answering() -> tuple[Intent, ...]:
    """The ids of the intents that answer a question: their agents only read, and neither write nor run code."""
    return tuple(spec.id for spec in INTENTS if spec.agent and not spec.acts and not spec.lookup)


def lookups() -> frozenset[str]:
    """The commands of the intents that only look something up."""
    return frozenset(spec.command for spec in INTENTS if spec.lookup)


def by_id(intent: Intent) -> IntentSpec:
    """The intent with an id.

    Raises:
        KeyError: there is no such intent.
    """
    for spec in INTENTS:
        if spec.id == intent:
            return spec
    raise KeyError(f"no intent {intent!r}; there are {', '.join(ids())}")


def commands() -> dict[str, Intent]:
    """The id of the intent each command forces, by command."""
    return {spec.command: spec.id for spec in INTENTS if spec.command}


def split_command(text: str, known: Collection[str]) -> tuple[str, str]:
    """A typed command and the text after it.

    Args:
        text: a message, for example `/plan move to PostgreSQL`.
        known: the commands there are, without slash.

    Returns:
        The command in lower case without its slash, and the rest; ('', `text`) when it begins with no known command.
    """
    found = _COMMAND.match(text)
    if found is None or found[1].lower() not in known:
        return "", text
    return found[1].lower(), text[found.end() :].strip()
