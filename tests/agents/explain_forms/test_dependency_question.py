"""Which questions ask for dependencies or versions, and which only mention them."""

import pytest

from repopilot.agents.explain.forms.project.dependency_question import read_question


@pytest.mark.parametrize(
    "question",
    [
        "Which dependencies does it have?",
        "What are starlette's runtime dependencies?",
        "List all of the optional dependencies.",
        "Show me the dependencies",
        "Quelles sont les dépendances ?",
        "Donnez-moi toutes les dépendances",
        "Quelles sont les dépendances d’exécution ?",
    ],
)
def test_all_dependencies_are_asked_for(question):
    found = read_question(question)
    assert found is not None and found.asked == "all"


@pytest.mark.parametrize(
    "question",
    [
        "Which class resolves the dependencies?",
        "Which function sorts dependencies?",
        "Quelle classe résout les dépendances ?",
        "How does poetry decide which Python version to use for a new virtual environment?",
        "Pourquoi choisit-il la version minimale de Python ?",
    ],
)
def test_what_handles_them_is_no_question_for_a_manifest(question):
    assert read_question(question) is None


def test_the_version_that_is_required_is_asked_for():
    found = read_question("Which version of Python is required?")
    assert found is not None and (found.asked, found.name) == ("version", "Python")
