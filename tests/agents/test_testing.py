"""The test agent: runs what there is; without an agent model it says what is missing."""

from __future__ import annotations

import asyncio
import shutil
import sysconfig
import venv
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock
from support.more_tests import MORE_TESTS
from support.shop_workspace import answering, shop_workspace, traced, workspace_of
from support.small_repo import FILES

from repopilot.agents.generate.debate import TriedTest, try_objection
from repopilot.agents.generate.evidence import ChangeContext
from repopilot.agents.testing.agent import test as answer_test
from repopilot.agents.testing.loop_tests import run_shown
from repopilot.project_environment import needed_packages
from repopilot.resolve.uses.covering_tests import all_tests, covering_tests, reaching_tests
from repopilot.results import Turn
from repopilot.types import FileChange
from repopilot.workspace import Workspace

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return shop_workspace(tmp_path_factory.mktemp("tester"))


async def asked(shop: Workspace, question: str, *replies: str, turns: tuple[Turn, ...] = ()):
    prompts: list[str] = []

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        return replies[min(len(prompts), len(replies)) - 1]

    workspace = replace(shop, model=answering(reply), turns=turns)
    answer, outline, events = await traced(lambda step: answer_test(question, workspace, step))
    return answer, outline, prompts, events


@pytest.mark.parametrize("question", ["run the tests", "pytest", "please re-run tests/test_cart.py", "lance les tests"])
@pytest.mark.sampled(2)
async def test_existing_tests_are_run_without_a_model(shop: Workspace, question: str) -> None:
    answer, outline, prompts, _ = await asked(shop, question, "")
    said = "✓ 18 tests of the repository pass.  \n✓ Verified"  # in part: which assertions are inverted is drawn
    if "lance" in question:
        said = "✓ 18 tests du dépôt réussissent.  \n✓ Vérifié"
    assert answer.result.genuine and answer.text.startswith(said)
    assert outline == "turn\n  tests\n  answer" and prompts == []


@pytest.mark.thorough
async def test_packages_that_came_after_the_repository_was_opened_are_there(tmp_path: Path) -> None:
    test = "import late\n\n\ndef test_it():\n    assert late.VALUE == 1\n" + MORE_TESTS
    opened = workspace_of(tmp_path, {"test_it.py": test})
    venv.create(tmp_path / "venv", with_pip=False)
    site = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    (site / "late.py").write_text("VALUE = 1\n")
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):  # without any plugin
        shutil.copytree(Path(sysconfig.get_path("purelib"), name), site / name)
    shutil.copy(Path(sysconfig.get_path("purelib"), "py.py"), site)
    settings = opened.settings.model_copy(update={"test_python": str(tmp_path / "venv/bin/python")})
    later = replace(opened, settings=settings)
    answer, *_ = await asked(later, "run the tests", "")
    assert answer.result.run.passed == 18, answer.text
    added = FileChange("calc.py", "added", "", "def one():\n    return 1\n")
    body = f"{test}\n\ndef test_one():\n    from calc import one\n\n    assert one() == 1\n"
    context = ChangeContext("", later)
    written = TriedTest(test=body, path="test_calc_review.py")
    tried, *_ = await traced(lambda step: try_objection(written, (added,), {}, context, step))
    assert tried.shown == "refuted"


async def test_the_last_generated_files_are_what_is_tested(shop: Workspace) -> None:
    broken = FILES["shop/cart.py"].replace("self.items.get(article, 0) + count", "0")
    turns = (Turn("break it", "", "GENERATE", (FileChange("shop/cart.py", "modified", "", broken),)),)
    answer, *_ = await asked(shop, "run the tests", "", turns=turns)
    assert answer.result.run.failed == 18 and "test_total" in answer.text


async def test_a_small_model_is_not_asked_for_tests_and_what_has_none_is_named(shop: Workspace) -> None:
    answer, outline, prompts, _ = await asked(
        shop, "write tests for shop/prices.py and shop/auth.py", "def test(): ..."
    )
    assert prompts == [] and not answer.files and outline == "turn\n  answer"
    assert "only a model that calls tools" in answer.text and "run the tests" in answer.text
    assert "`sign_token`" in answer.text
    assert answer.result.run is None and answer.result.stopped_because


def test_a_file_without_tests_is_reached_by_those_of_its_users(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "",
        "shop/coins.py": "RATE = 3\n\n\ndef coins(cents):\n    return cents * RATE\n",
        "shop/till.py": "from shop.coins import coins\n\n\ndef change_of(cents):\n    return coins(cents)\n",
        "tests/test_till.py": "from shop.till import change_of\n\n\ndef test_it():\n    assert change_of(1) == 3\n",
        "test.py": "from shop.other import other\n\n\ndef test_other():\n    assert other\n",
        "shop/other.py": "other = 1\n\n\ndef others():\n    return 1\n",
    }
    index = workspace_of(tmp_path, files).index
    assert covering_tests(index, "shop/coins.py") == []
    assert reaching_tests(index, "shop/coins.py", ["coins"]) == ["tests/test_till.py"]
    assert reaching_tests(index, "shop/till.py") == ["tests/test_till.py"]
    assert "test.py" in all_tests(index)


def test_of_two_definitions_of_a_name_a_test_covers_the_one_it_imports(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "",
        "shop/one.py": "def load(x):\n    return x\n",
        "shop/two.py": "def load(x):\n    return x + 1\n",
        "tests/test_both.py": "from shop.two import load\n\n\ndef test_it():\n    assert load(1) == 2\n",
    }
    index = workspace_of(tmp_path, files).index
    assert covering_tests(index, "shop/two.py", ["load"]) == ["tests/test_both.py"]
    assert covering_tests(index, "shop/one.py", ["load"]) == []


def test_which_tests_cover_a_file(shop: Workspace) -> None:
    assert covering_tests(shop.index, "shop/cart.py") == ["tests/test_cart.py"]
    assert covering_tests(shop.index, "shop/auth.py") == []


@pytest.mark.slow
async def test_tests_wait_for_packages_that_are_being_fetched(tmp_path):
    files = {
        "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\ndependencies = ["nothing-of-this-name"]\n',
        "test_shop.py": "def test_sum():\n    assert 1 + 1 == 2\n",
    }
    workspace = workspace_of(tmp_path, files)
    needed = needed_packages(workspace.snapshot, workspace.index, workspace.settings)
    folder = workspace.settings.environments_folder
    folder.mkdir(parents=True)
    order = []

    async def run(step):
        await run_shown(["test_shop.py"], {}, workspace, step)
        order.append("run")

    with FileLock(folder / f"{needed.keys[0]}.lock"):
        running = asyncio.create_task(traced(run))
        await asyncio.sleep(1.5)
        order.append("fetched")
    await running
    assert order == ["fetched", "run"]
