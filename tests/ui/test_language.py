"""The interface speaks the browser's language, or the one that was set or chosen."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from repopilot import i18n
from repopilot.agents.planning.continuation import GoOn, is_continuation, wanted_parts
from repopilot.errors import SourceError
from repopilot.results import Plan, PlanPart
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.trace import Finished, Started
from repopilot.types import Progress
from repopilot.ui.answer.ask import language_to_answer_in
from repopilot.ui.chat import Chat, Process
from repopilot.ui.error_text import error_line, error_paragraphs
from repopilot.ui.progress_text import progress_line
from repopilot.ui.server.page import LOCALES, localized_query
from repopilot.ui.server.security import allowed_hosts, refusal
from repopilot.ui.settings.settings_panel import choose_language
from repopilot.ui.trace.step_text import body, finished_title

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("query", "referer", "setting", "language"),
    [
        ("language=fr-CA", "", "", "fr-FR"),
        ("language=de-DE&chat_profile=", "", "", "en-US"),
        ("language=en-GB", "http://127.0.0.1/?repo=x&lang=fr", "", "fr-FR"),
        ("language=en-GB", "", "fr", "fr-FR"),
        ("language=fr", "http://127.0.0.1/?lang=en", "fr", "en-US"),
    ],
)
def test_chainlits_menus_are_asked_for_in_a_language_we_have(query, referer, setting, language):
    assert parse_qs(localized_query(query, referer, setting))["language"] == [language]


def test_a_request_without_a_language_is_left_alone():
    assert localized_query("x=1", "", "fr") == "x=1"


def keys(table, prefix=""):
    for name, value in table.items():
        yield from keys(value, f"{prefix}{name}.") if isinstance(value, dict) else [prefix + name]


def test_chainlits_translations_are_complete():
    import chainlit

    folder = Path(chainlit.__file__).parent / "translations"
    wanted = set(keys(json.loads((folder / "en-US.json").read_text("utf-8"))))
    for locale in LOCALES.values():
        ours = json.loads((ROOT / f".chainlit/translations/{locale}.json").read_text("utf-8"))
        assert set(keys(ours)) == wanted
    assert (ROOT / "chainlit_fr-FR.md").exists()


def test_a_choice_in_the_chat_overrides_the_browser():
    chat = Chat(Process(Runtime(Settings())), browser_language="fr-CA")
    assert chat.language == "fr"
    assert choose_language(chat, "en") and chat.language == "en" and not choose_language(chat, "en")
    assert choose_language(chat, "auto") and chat.language == "fr" and chat.overrides == {}


@pytest.mark.parametrize(
    ("question", "chosen", "language"),
    [
        ("How is it counted?", "", ""),
        ("Où est le compte ?", "", ""),
        ("orchard/trees.py", "", "fr"),
        ("HarvestBasket", "", "fr"),
        ("Où est le compte ?", "en", "en"),
        ("/rename old new", "", "fr"),
    ],
)
def test_an_answer_is_in_the_language_of_its_question(question, chosen, language):
    chat = Chat(Process(Runtime(Settings())), browser_language="fr-FR")
    choose_language(chat, chosen)
    assert language_to_answer_in(chat, question) == language


def test_an_error_is_said_in_the_readers_language():
    error = SourceError(i18n.message("ui.errors.not_indexed", path="a.py"), "Plain hint.")
    assert str(error) == "a.py is not in the index. Plain hint."
    assert error_line(error, "fr").startswith("a.py n’est pas") and error_line(error, "fr").endswith("Plain hint.")
    assert error_paragraphs(error, "en") == "a.py is not in the index.\n\nPlain hint."


def test_steps_are_shown_in_french():
    started = Started("1", None, "iteration 2", "tool", "", 10.0)
    note = i18n.message("ui.errors.not_indexed", path="a.py")
    finished = Finished("1", "ok", "", "", 12.5, {"passed": 3, "failed": 1, "confidence": 0.25, "degraded": [note]})
    assert finished_title(started, finished, "fr") == "Itération 2 · 3 réussi(s), 1 échoué(s) · ⚠ · 2,5\u202fs"
    shown = body(finished, "", "fr")[0]
    assert shown.startswith("⚠ a.py n’est pas dans l’index.") and "| confiance | 0,25 |" in shown


def test_progress_is_shown_in_french():
    moment = Progress("parsing", 1200, 3400, "files", 31, 10.6)
    assert progress_line(moment, "fr") == "analyse · 1\u202f200 sur 3\u202f400 fichiers · 31/s · encore 10,6\u202fs"


def test_a_refused_request_is_told_why_in_the_browsers_language():
    headers = [(b"host", b"evil.example"), (b"accept-language", b"fr-FR,fr;q=0.9")]
    status, why = refusal({"type": "http", "path": "/", "headers": headers}, allowed_hosts("127.0.0.1"))
    assert status == 421 and why.startswith("RepoPilot n’accepte pas le nom d’hôte 'evil.example'")


def test_a_paused_build_says_why():
    moment = Progress("vectors", 10, 40, "chunks", detail=i18n.message("index.embedding_paused"))
    assert progress_line(moment, "en") == "vectors · 10 of 40 chunks · paused while a question is answered"
    assert progress_line(moment, "fr").endswith("en pause pendant la réponse à une question")


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_the_planner_understands_the_buttons_of_a_plan(language):
    words = i18n.section("ui.plan.words", language)
    plan = Plan("t", tuple(PlanPart(number, f"part {number}") for number in (1, 2, 3)))
    said = [words["say_next"], words["say_all"], words["say_part"].format(number=2), words["say_skip"].format(number=3)]
    said.append(words["say_redo"].format(number=1))
    assert [wanted_parts(text, plan) for text in said] == [
        GoOn((1,)),
        GoOn(None),
        GoOn((2,)),
        GoOn((), (3,)),
        GoOn((1,), redo=True),
    ]
    assert all(is_continuation(text) for text in said)
