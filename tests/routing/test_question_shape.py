"""Plain questions are explained whatever words of change, test or harm they hold; others keep their intent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.routing.features import evidence, scores
from repopilot.routing.normalize import read
from repopilot.routing.question_shape import asked, is_plain, particular
from repopilot.routing.router import classify
from repopilot.types import Intent

PLAIN = [
    "Which class implements the round-robin scheduler?",
    "Which error classes extend ConfigError?",
    "Which hash is used by default?",
    "what version of sqlite is needed",
    "Which function removes the .. parts from a path before the file is opened?",
    "After configuring the build, what target compiles and runs all the tests?",
    "What do I type to run the tests and the linter in one go?",
    "My own handler returns a page, yet the traceback still ends up in the log. Why?",
    "Which flag deletes the cache? I need the complete list.",
    "If I don't change the setting, how long is a session kept?",
    "What happens if I register one more listener after the start?",
    "Why would removing the inherited method change the order of calls?",
    "how can I kill a hanging worker",
    "How do I steal the focus from another window?",
    "which service issues the tokens",
    "Combien de temps une entrée reste-t-elle en mémoire si je ne change rien ?",
    "Quelle option supprime les fichiers temporaires ?",
    "Mon fichier n'est plus lu depuis la mise à jour. Pourquoi ?",
    "Où est créé le répertoire de travail ?",
]


@pytest.mark.parametrize("question", PLAIN)
def test_a_plain_question_is_explained(question: str) -> None:
    found = evidence(read(question))
    assert found["plain_question"]
    assert max(scores(found).items(), key=lambda pair: pair[1])[0] == "EXPLAIN", "by the rules alone"
    assert classify(question).intent == "EXPLAIN"


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("what depends on the session store?", "IMPACT"),
        ("who calls normalize_path?", "IMPACT"),
        ("where is load_plugins called", "IMPACT"),
        ("What breaks if I rename the column?", "IMPACT"),
        ("which modules have to be touched when the timeout becomes mandatory?", "IMPACT"),
        ("is it safe to remove the flag?", "IMPACT"),
        ("Qu'est-ce qui casse si je renomme cette colonne ?", "IMPACT"),
        ("are there race conditions in the pool?", "REVIEW"),
        ("what could go wrong in this function?", "REVIEW"),
        ("Est-ce que ce code est correct ?", "REVIEW"),
        ("which cases of the parser are not covered by tests?", "TEST"),
        ("what steps are needed to split this service?", "DECOMPOSE"),
        ("In which order should we migrate the modules?", "DECOMPOSE"),
    ],
)
def test_a_question_about_a_change_a_judgement_or_a_plan_is_not_plain(question: str, intent: Intent) -> None:
    core = read(question).core
    assert not is_plain(core) and particular(asked(core)) == intent
    assert classify(question).intent == intent


@pytest.mark.parametrize(
    "request_",
    [
        "check whether a list contains an item",
        "get the largest value of each row",
        "read a csv file into a list of dictionaries",
        "Is it possible to add a filter? Add it to the list view.",
        "vérifie que le port est libre avant de démarrer",
    ],
)
def test_an_imperative_is_no_question(request_: str) -> None:
    assert not is_plain(read(request_).core)
    assert classify(request_).intent == "GENERATE"


@pytest.mark.parametrize(
    "request_",
    [
        "Disable duplicate-code warnings",
        "fix handling of killed workers",
        "After a redirect to a different domain my payload is gone. What's the reason?",
        "how are the private messages of users stored?",
    ],
)
def test_a_word_is_no_request_for_harm(request_: str) -> None:
    assert classify(request_).intent != "REFUSE"


@given(st.text(max_size=200))
def test_the_asked_sentence_is_part_of_the_request(text: str) -> None:
    core = read(text).core
    assert asked(core) in core
    assert not is_plain(core) or asked(core)
