"""The generator: targets, checked replies, repair, follow-ups."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.shop_workspace import answering, fenced, shop_workspace, traced
from support.small_repo import FILES

from repopilot import trace
from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.editor import edit_by_code, edit_files
from repopilot.errors import GenerationFailed, ModelError, NameUndefined
from repopilot.results import Turn
from repopilot.types import FileChange
from repopilot.workspace import Workspace

PRICES = FILES["shop/prices.py"]
CHANGED = PRICES.replace("95 // 100", "90 // 100")
TASK = "raise the discount in @shop/prices.py to ten percent"
BIG = "".join(f"def step_{n}(x):\n    return x + {n}\n\n\n" for n in range(120))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    extra = {
        "shop/big.py": BIG,
        "shop/dos.py": "LIMIT = 1\r\n\r\n\r\ndef limit():\r\n    return LIMIT\r\n",
        "shop/keys.py": 'API_KEY = "sk-ant-api03-Zq8vN2xYp4Lw7Rt6Bk1Mc9Jd3Hs5Fg0AaQwErTyUiOp"\nRETRIES = 2\n',
    }
    return shop_workspace(tmp_path_factory.mktemp("generate"), extra)


async def generated(shop: Workspace, task: str, *replies, turns: tuple[Turn, ...] = (), **request):
    """Files, outline and prompts; the n-th call gets the n-th reply, the last one again and again."""
    prompts: list[str] = []

    def reply(prompt: str):
        prompts.append(prompt)
        return replies[min(len(prompts), len(replies)) - 1]

    workspace = replace(shop, model=answering(reply), turns=turns)
    outcome, outline, _ = await traced(lambda step: edit_files(EditRequest(task, **request), workspace, step))
    return outcome.changes, outline, prompts


async def test_a_named_file_is_rewritten(shop: Workspace) -> None:
    files, outline, prompts = await generated(shop, TASK, fenced("shop/prices.py", CHANGED))
    (file,) = files
    assert (file.path, file.change, file.content) == ("shop/prices.py", "modified", CHANGED)
    assert "-    return cents * 95" in file.diff and "+    return cents * 90" in file.diff
    assert outline == "turn\n  choose files\n  write\n  check syntax"
    assert PRICES.strip() in prompts[0]


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "I would raise the discount.",
        "```python\ndef with_discount(cents:\n```",
        f"```python\n{CHANGED[:150]}",
        "```python\n# ... existing code ...\ndef with_discount(cents):\n    return cents\n```",
        '{"files": []}',
        "```json\n{}\n```",
        fenced("shop/prices.py", PRICES),
        fenced("../outside.py", "x = 1\n"),
    ],
)
async def test_a_bad_reply_is_repaired_once(shop: Workspace, bad: str) -> None:
    files, outline, prompts = await generated(shop, TASK, bad, fenced("shop/prices.py", CHANGED))
    assert [f.content for f in files] == [CHANGED]
    assert outline == "turn\n  choose files\n  write\n  check syntax\n  repair\n  check syntax"
    assert "That can't be used" in prompts[1]


async def test_two_bad_replies_are_a_clear_failure(shop: Workspace) -> None:
    with pytest.raises(GenerationFailed, match="no code block"):
        await generated(shop, TASK, "I can't.", "I still can't.")


async def test_an_endless_reply_ends(shop: Workspace) -> None:
    def endless():
        yield "shop/prices.py\n```python\n"
        while True:
            yield "x = 1\n"

    with pytest.raises(GenerationFailed):
        await generated(shop, TASK, endless(), endless())


async def test_a_failing_model_is_its_own_error(shop: Workspace) -> None:
    with pytest.raises(ModelError):
        await generated(shop, TASK, [ModelError("gone")])


async def test_no_task_and_no_model(shop: Workspace) -> None:
    with pytest.raises(GenerationFailed, match="no task"):
        await generated(shop, "  ", "")
    with pytest.raises(GenerationFailed, match="No language model"):
        await traced(lambda step: edit_files(EditRequest("add a file"), shop, step))


async def test_a_file_that_does_not_exist_is_created(shop: Workspace) -> None:
    files, _, prompts = await generated(
        shop, "write shop/stock.py with a class Stock", "```python\nclass Stock:\n    pass\n```"
    )
    assert [(f.path, f.change) for f in files] == [("shop/stock.py", "added")]
    assert "shop/stock.py does not exist yet" in prompts[0]
    assert files[0].diff.startswith("diff --git a/shop/stock.py b/shop/stock.py\nnew file mode 100644\n--- /dev/null\n")


async def test_a_new_file_without_a_path_gets_one(shop: Workspace) -> None:
    files, *_ = await generated(shop, "write a rust function for the fibonacci numbers", "```rust\nfn fib() {}\n```")
    assert [f.path for f in files] == ["fibonacci_numbers.rs"]


async def test_a_path_outside_is_refused(shop: Workspace) -> None:
    with pytest.raises(GenerationFailed, match="not a path inside"):
        await generated(shop, "change ../other/secret.py", "")


async def test_in_a_large_file_symbols_are_replaced(shop: Workspace) -> None:
    reply = "```python\ndef step_60(x):\n    return 0\n```"
    files, _, prompts = await generated(shop, "make step_60 in big.py return zero", reply)
    assert files[0].content == BIG.replace("return x + 60\n", "return 0\n")
    assert "def step_60(x):\n    return x + 60" in prompts[0]
    assert len(prompts[0]) < len(BIG) + 8000


async def test_a_follow_up_refines_the_last_files(shop: Workspace) -> None:
    draft = FileChange("shop/prices.py", "modified", "", CHANGED)
    turns = (Turn(TASK, "done", "GENERATE", (draft,)),)
    newer = CHANGED.replace("90 // 100", "80 // 100")
    files, _, prompts = await generated(shop, "make it twenty", fenced("shop/prices.py", newer), turns=turns)
    assert "90 // 100" in prompts[0]
    assert "95 // 100" in files[0].diff and files[0].content == newer


async def test_a_lost_docstring_comes_back(shop: Workspace) -> None:
    files, *_ = await generated(shop, TASK, fenced("shop/prices.py", CHANGED.partition("\n\n")[2]))
    assert files[0].content == CHANGED


LOSSY = CHANGED.partition("def price_of")[0] + "def with_discount" + CHANGED.partition("def with_discount")[2]


async def test_lost_definitions_are_asked_back(shop: Workspace) -> None:
    replies = fenced("shop/prices.py", LOSSY), fenced("shop/prices.py", CHANGED)
    files, outline, prompts = await generated(shop, TASK, *replies)
    assert files[0].content == CHANGED and "repair" in outline
    assert "it loses price_of" in prompts[1]


@pytest.mark.parametrize("second", ["no code", fenced("shop/prices.py", LOSSY)])
async def test_definitions_that_stay_lost_are_said(shop: Workspace, second: str) -> None:
    replies = iter([fenced("shop/prices.py", LOSSY), second])
    workspace = replace(shop, model=answering(lambda _: next(replies)))
    outcome, _, events = await traced(lambda step: edit_files(EditRequest(TASK), workspace, step))
    assert outcome.changes[0].content == LOSSY
    assert trace.degraded(events) == ("removed without being requested: price_of",)


async def test_marks_of_the_prompt_do_not_get_into_the_code(shop: Workspace) -> None:
    def copying(prompt: str) -> str:
        mark = re.search(r"^[0-9a-f]{8}$", prompt, re.M)[0]
        return fenced("shop/prices.py", f"{mark}\n{CHANGED}{mark}\n")

    workspace = replace(shop, model=answering(copying))
    outcome, outline, _ = await traced(lambda step: edit_files(EditRequest(TASK), workspace, step))
    assert outcome.changes[0].content == CHANGED and "repair" not in outline


async def test_a_forgotten_import_is_added(shop: Workspace) -> None:
    code = "def line(article):\n    return price_of(article)\n"
    files, *_ = await generated(shop, "write shop/receipt.py with a function line", fenced("shop/receipt.py", code))
    assert files[0].content == f"from shop.prices import price_of\n\n\n{code}"


@pytest.mark.slow
async def test_of_new_tests_cut_off_the_complete_ones_are_kept(shop: Workspace) -> None:
    def endless():
        yield "tests/test_prices.py\n```python\nfrom shop.prices import price_of\n\n\ndef test_price():\n"
        while True:
            yield "    assert price_of('milk') == 120\n"

    files, outline, _ = await generated(shop, "write tests", endless(), paths=("tests/test_prices.py",))
    assert files[0].content.count("assert price_of('milk') == 120\n") > 5 and "repair" not in outline


async def test_windows_line_ends_stay(shop: Workspace) -> None:
    reply = fenced("shop/dos.py", "LIMIT = 2\n\n\ndef limit():\n    return LIMIT\n")
    files, *_ = await generated(shop, "set LIMIT in shop/dos.py to 2", reply)
    assert files[0].content == "LIMIT = 2\r\n\r\n\r\ndef limit():\r\n    return LIMIT\r\n"
    assert files[0].diff.count("\n+") == 2  # one line and the header


async def test_the_model_never_sees_a_secret_and_it_survives(shop: Workspace) -> None:
    raw = (shop.snapshot.root / "shop/keys.py").read_text()
    shown = shop.index.text("shop/keys.py")
    assert "REDACTED" in shown
    reply = fenced("shop/keys.py", shown.replace("RETRIES = 2", "RETRIES = 3"))
    files, _, prompts = await generated(shop, "set RETRIES in keys.py to 3", reply)
    assert "Zq8vN2xYp4" not in "".join(prompts)
    assert files[0].content == raw.replace("RETRIES = 2", "RETRIES = 3")


async def test_deleting_a_file_needs_no_model(shop: Workspace) -> None:
    files, outline, prompts = await generated(shop, "delete web/basket.js", "")
    assert [(f.path, f.change, f.content) for f in files] == [("web/basket.js", "deleted", "")]
    assert prompts == [] and "+++ /dev/null" in files[0].diff
    assert outline == "turn"


async def test_feedback_and_drafts_are_shown_to_the_model(shop: Workspace) -> None:
    draft = FileChange("shop/prices.py", "modified", "", CHANGED)
    reply = fenced("shop/prices.py", PRICES.replace("95 // 100", "85 // 100"))
    _, _, prompts = await generated(shop, TASK, reply, drafts=(draft,), feedback=("negative prices",), seed=1)
    assert "must be corrected:\n- negative prices" in prompts[0] and "90 // 100" in prompts[0]


def test_the_snapshot_is_never_touched(shop: Workspace) -> None:
    root: Path = shop.snapshot.root
    assert (root / "shop/prices.py").read_text() == PRICES
    assert not (root / "shop/stock.py").exists()


async def test_a_model_that_takes_too_long_ends_with_a_smaller_task(shop: Workspace) -> None:
    settings = shop.settings.model_copy(update={"edit_timeout_s": 0.2})
    workspace = replace(shop, model=answering(lambda _: [60.0]), settings=settings)
    with pytest.raises(GenerationFailed, match=r"within 0\.2 seconds.*one place at a time"):
        await traced(lambda step: edit_files(EditRequest("write shop/receipt.py"), workspace, step))


@pytest.mark.parametrize(
    ("task", "imports"),
    [
        (
            "Create shop/money.py that re-exports `with_discount` from the prices module",
            "from shop.prices import with_discount",
        ),
        ("re-export `with_discount` from prices in a new shop/money.py", "from shop.prices import with_discount"),
    ],
)
async def test_a_module_of_re_exports_needs_no_model(shop: Workspace, task: str, imports: str) -> None:
    outcome = edit_by_code(EditRequest(task), shop)
    assert outcome is not None
    assert outcome.changes[0].content == f'{imports}\n\n__all__ = ["with_discount"]\n'


async def test_a_new_function_that_has_to_be_listed_is_no_question_of_the_list(shop: Workspace) -> None:
    assert (
        edit_by_code(EditRequest("Add a function halved(cents) to shop/prices.py, and list it in __all__"), shop)
        is None
    )


def test_a_file_that_changed_after_it_was_indexed_is_not_edited_by_the_old_lines(tmp_path: Path) -> None:
    workspace = shop_workspace(tmp_path)
    prices = tmp_path / "shop" / "shop" / "prices.py"
    prices.write_text("# all is new\n")
    with pytest.raises(GenerationFailed, match=r"shop/prices\.py has changed since it was indexed"):
        edit_by_code(EditRequest("rename with_discount to rebate"), workspace)


@pytest.mark.parametrize(
    "task",
    [
        "set the frobnication limit of FrobPool to 12",
        "FrobPool should give up after 3 tries",
        "make the `frob_all` function faster",
        "add a method `close` to FrobPool",
        "Give FrobPool a close method",
        "change the default of frob_all's retries to 3",
        "augmente la limite de FrobPool à 12",
    ],
)
def test_what_a_task_names_and_nothing_is_called_ends_it_before_a_model_is_asked(shop: Workspace, task: str) -> None:
    with pytest.raises(NameUndefined, match=r"Nothing here is called `(?:FrobPool|frob_all)`"):
        edit_by_code(EditRequest(task), shop)


@pytest.mark.parametrize(
    "task",
    [
        "make with_discount give up after FrobPool does",
        "write a function that parses FrobNotation",
        "add a helper frob_all that sums prices",
        "make the Alacritty terminal (TERM is `alacritty`) use colours",
        "change the errors of @shop/prices.py to FrobError",
        "make WithDiscount faster",
    ],
)
def test_a_name_that_is_new_or_beside_the_point_may_be_unknown(shop: Workspace, task: str) -> None:
    assert edit_by_code(EditRequest(task), shop) is None
