"""An agent model's answer: its final text, every sentence of it shown, checked against what it read, and marked."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.index_case import write
from support.shop_workspace import answering, offline, open_workspace, shop_workspace, traced

from repopilot import i18n
from repopilot.agents.explain.agent import explain
from repopilot.agents.explain.borne_out import strange_numbers
from repopilot.agents.explain.cited_prose import AnswerSoFar, CitedLines, parts_of
from repopilot.agents.explain.lines_read import LinesRead
from repopilot.agents.exploration import context_tokens
from repopilot.documents import ask_document
from repopilot.errors import ModelError, ModelSilent
from repopilot.llm.speed.model_speed import Speed
from repopilot.trace import Finished, Published

QUESTION = "how does a large order become cheaper, step by step?"


def call(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


READ = (call("read", path="shop/cart.py"), call("read", path="shop/prices.py"))


MADE = {"shop/flags.py": "def off(name, dry_run):\n    return '--no-' + name\n"}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return shop_workspace(tmp_path_factory.mktemp("shop"))


async def answered(shop, *replies: str, question: str = QUESTION):
    left = [*READ, *replies]
    model = answering(lambda prompt: left.pop(0) if left else "")
    agent = replace(shop, model=replace(model, way="agent"))
    done, _, events = await traced(lambda step: explain(question, agent, step))
    return done, events


def statuses(done) -> list[str]:
    return [sentence.status for sentence in done.sentences]


TRUE = (
    "`Cart.total` sums `price_of` for each article [shop/cart.py:22-27]. `with_discount` then takes 5 percent off from "
    "5000 cents [shop/prices.py:12-14]."
)


@pytest.mark.slow
async def test_the_final_text_is_the_answer_and_its_places_are_numbered(shop) -> None:
    done, _ = await answered(shop, TRUE)
    assert statuses(done) == ["checked", "checked"]
    assert done.sentences[0].text == "`Cart.total` sums `price_of` for each article [1]."
    assert done.sentences[0].places == ("shop/cart.py:22-27",)
    assert done.result.origin == "model" and "2 of 2 sentences checked." in done.result.lead
    assert [(c.number, c.path, c.supported) for c in done.citations[:2]] == [
        (1, "shop/cart.py", True),
        (2, "shop/prices.py", True),
    ]
    first, second, *further = done.evidence
    assert (first.lines[0][0], second.lines[-1][0]) == (22, 14)
    assert all(not place.lines for place in further), "what isn't cited is one line each"
    document = ask_document(done, [], "qwen3:8b")
    assert [each["status"] for each in document["sentences"]] == ["checked", "checked"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sentence", "status", "why"),
    [
        ("`with_rebate` lowers the sum [shop/prices.py:12-14].", "contradicted", "`with_rebate` exists neither"),
        ("`Cart.repay` pays it back [shop/cart.py:16-20].", "contradicted", "exists neither"),
        ("`with_discount` takes it off from 7000 cents [shop/prices.py:12-14].", "unchecked", "7000"),
        ("`with_discount` lowers the sum [shop/cart.py:12-14].", "unchecked", "don't contain"),
        ("`with_discount` lowers the sum [shop/prices.py:120-140].", "unchecked", "no lines"),
        ("`sign_token` signs it [shop/auth.py:7-10].", "unchecked", "wasn't read"),
        ("Large orders become cheaper.", "unchecked", "cites no lines"),
        ("For `--rebate=5` it lowers the sum [shop/prices.py:12-14].", "unchecked", "is nowhere in"),
        ("`with_discount` lowers the sum.", "checked", ""),
        ("An `EmptyCart` is raised without asking `with_discount` [shop/cart.py:24-25].", "checked", ""),
        ("It is called like `with_discount(sum)` [shop/prices.py:12-14].", "checked", ""),
        ("It takes 1 percent off [shop/prices.py:12-14].", "unchecked", "not in the cited lines: 1"),
        ("It begins at -7 cents [shop/prices.py:12-14].", "unchecked", "not in the cited lines: 7"),
        ("It raises `EmptyCart` without items [shop/cart.py:22-27].", "checked", ""),
        ("There is no `repay` anywhere.", "checked", "`repay` was searched for"),
        ("An empty cart has no discount or `rebate` [shop/cart.py:22-27].", "checked", ""),
        ("Whoever wants a `rebate` gets none [shop/cart.py:22-27].", "unchecked", "is nowhere in"),
        ("A signal like `SIGINT` ends it [shop/cart.py:22-27].", "unchecked", "is not in the lines"),
        ("Nothing else calls `with_discount`.", "unchecked", "cites no lines"),
    ],
)
async def test_a_sentence_is_shown_whatever_it_is_worth_and_marked(shop, sentence, status, why) -> None:
    done, _ = await answered(shop, f"{TRUE} {sentence}", "")
    last = done.sentences[-1]
    assert (len(done.sentences), last.status) == (3, status), last
    assert why in i18n.translated(last.why, "en")
    mark = {"checked": "", "unchecked": "*(not checked: ", "contradicted": "~~"}[status]
    assert mark in done.result.lead.partition("cents [2].")[2]


MEMBERS = """class Till:
    def ring(self):
        self.bell = 1


class Loud(Till):
    def shout(self):
        pass


class Shelf:
    def fill(self):
        pass

    def bell(self):
        pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("Till.ring", "checked"),
        ("Till.fill", "unchecked"),
        ("Shelf.ring", "unchecked"),
        ("Loud.ring", "checked"),
        ("Till.bell", "checked"),
    ],
)
async def test_a_member_of_another_class_is_marked_unless_it_may_be_inherited_or_set(tmp_path, name, status) -> None:
    workspace = shop_workspace(tmp_path, {"till.py": MEMBERS})
    done, _ = await answered(workspace, call("read", path="till.py"), f"`{name}` does it [till.py:1-16].", "")
    (last,) = done.sentences
    assert last.status == status and ("is defined only in" in i18n.translated(last.why, "en")) == (
        status == "unchecked"
    )


@pytest.mark.slow
async def test_the_model_may_correct_once_what_code_could_not_check(shop) -> None:
    wrong = "`with_discount` lowers the sum from 7000 cents [shop/prices.py:12-14]."
    right = "2: `with_discount` lowers the sum from 5000 cents. [shop/prices.py:12-14]"
    first = "`Cart.total` sums `price_of` for each article [shop/cart.py:22-27]."
    done, events = await answered(shop, f"{first} {wrong}", right)
    assert statuses(done) == ["checked", "checked"] and "7000" not in done.text
    assert any("not in the cited lines: 7000" in str(event) for event in events), "it was told why"


@pytest.mark.slow
async def test_the_model_takes_back_what_its_lines_alone_contradict(shop) -> None:
    turned = "`with_discount` leaves sums from 5000 cents as they are [shop/prices.py:12-14]."
    done, events = await answered(
        shop, f"{TRUE} {turned}", "1 supported\n2 supported.\n**3** contradicted: `tax` takes 5 %."
    )
    assert statuses(done) == ["checked", "checked", "unchecked"]
    assert i18n.translated(done.sentences[2].why, "en").endswith(
        "the model withdrew it after rereading only the cited lines: `tax` takes 5 %"
    )
    assert done.sentences[2].places and "2 of 3 sentences checked." in done.result.lead
    assert [event.answer for event in events if isinstance(event, Published)][-1].sentences == done.sentences


@pytest.mark.slow
async def test_what_its_lines_alone_do_not_tell_is_not_checked(shop) -> None:
    broad = "`Cart.total` is safe to call from several threads [shop/cart.py:22-27]."
    uncited = "`with_discount` is fast."
    done, _ = await answered(shop, f"{TRUE} {broad} {uncited}", "1 supported\n2 supported\n3 unclear\n4 Unclear.")
    assert statuses(done) == ["checked", "checked", "unchecked", "unchecked"]
    assert all(
        "can't confirm it from the cited lines alone" in i18n.translated(each.why, "en") for each in done.sentences[2:]
    )


@pytest.mark.slow
async def test_that_cut_lines_do_not_tell_says_nothing(tmp_path) -> None:
    long = "def run(cart):\n" + "".join(f"    cart.add({n})\n" for n in range(80))
    workspace = shop_workspace(tmp_path, {"shop/long.py": long})
    whole = "`run` adds articles [shop/long.py:1-81]."
    done, _ = await answered(workspace, call("read", path="shop/long.py"), whole, "1 unclear")
    assert statuses(done) == ["checked"]


SECOND_LOOK = "1 contradicted: it sums nothing\n2 contradicted\n7 contradicted: there is no such claim"


@pytest.mark.slow
async def test_a_second_look_shows_each_sentence_with_nothing_but_its_lines(shop) -> None:
    asked: list[str] = []
    left = [*READ, f"{TRUE} Large orders become cheaper.", "Nothing to correct.", SECOND_LOOK]

    def reply(prompt: str) -> str:
        asked.append(prompt)
        return left.pop(0)

    agent = replace(shop, model=replace(answering(reply), way="agent"))
    done, _, _ = await traced(lambda step: explain(QUESTION, agent, step))
    assert not left and "read" not in asked[-1] and QUESTION not in asked[-1]
    first, second = re.findall(r"^\d+\. .*$", asked[-1], re.M)
    assert "Cart.total" in first and "with_discount" in second and "become cheaper" not in asked[-1]
    assert "shop/prices.py:12-14 with_discount\n12 def with_discount" in asked[-1]
    assert statuses(done) == ["unchecked", "checked", "unchecked"], "what was asked about is taken back, with a reason"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("speed", "budget", "last"),
    [
        (Speed(10, 10), {}, "1 contradicted"),
        (None, {"loop_steps": 3}, "0 contradicted"),
        (None, {}, ModelError("Gone.")),
    ],
)
async def test_without_time_or_a_model_that_answers_code_alone_has_checked(shop, speed, budget, last) -> None:
    left = [*READ, TRUE, last]
    agent = replace(
        shop,
        model=replace(answering(lambda prompt: left.pop(0)), way="agent", speed=speed),
        settings=shop.settings.model_copy(update=budget),
    )
    done, _, events = await traced(lambda step: explain(QUESTION, agent, step))
    assert statuses(done) == ["checked", "checked"]
    said = any("didn't look at its answer again" in str(event) for event in events)
    assert said == (not budget), "a used-up budget is said anyway"


@pytest.mark.slow
async def test_what_is_complete_is_published_with_its_own_places(shop) -> None:
    done, events = await answered(shop, f"{TRUE} Large orders become cheaper. They do.", "")
    published = [event.answer for event in events if isinstance(event, Published)]
    so_far = published[0]
    assert 0 < len(so_far.sentences) < len(done.sentences) == len(published[-1].sentences)
    assert so_far.sentences == done.sentences[: len(so_far.sentences)]
    assert [(c.number, c.path) for c in so_far.citations[:1]] == [(1, "shop/cart.py")]
    assert so_far.result.cited == 1 and so_far.evidence[0].lines and not so_far.evidence[1].lines


@pytest.mark.slow
async def test_every_cited_place_is_shown_above_the_others_also_one_within_another(shop) -> None:
    inside = "`Cart.total` is a method [shop/cart.py:22-22]."
    done, _ = await answered(shop, f"{TRUE.replace('. `with', f'. {inside} `with')}", "")
    cited, _, others = done.text.partition("More places:")
    assert done.result.cited == 3 and "[3] `shop/prices.py:12-14`" in cited and "[4] `" in others


@pytest.mark.slow
async def test_a_heading_is_no_sentence(shop) -> None:
    done, _ = await answered(shop, f"**What happens**\n1. {TRUE}\n\nThe steps:\n\n## End")
    assert statuses(done) == ["checked", "checked"] and "**What happens**" in done.text


@pytest.mark.slow
async def test_a_name_in_another_case_or_of_a_kind_that_stands_there_is_no_invention(tmp_path) -> None:
    code = "def run(request):\n    try:\n        return Color.Force if request == http.MethodConnect else None\n"
    shop = shop_workspace(tmp_path, {"shop/flags.py": f"{code}    except BaseException:\n        raise\n"})
    text = (
        "With `force`, or for `CONNECT`, it answers [shop/flags.py:1-5]. Each `BaseException`, `KeyboardInterrupt` "
        "included, is raised again [shop/flags.py:4-5]. A `GeneratorExit` is stored [shop/flags.py:3]."
    )
    done, _ = await answered(shop, call("read", path="shop/flags.py"), text, "")
    assert statuses(done) == ["checked", "checked", "unchecked"]


@pytest.mark.slow
async def test_what_was_only_told_proves_nothing_by_itself(tmp_path) -> None:
    """A result named the test, and no line of it was read."""
    shop = shop_workspace(tmp_path, {"tests/test_rates.py": "def test_rate():\n    assert with_discount(1) == 1\n"})
    text = (
        "`with_discount` is covered by `tests/test_rates.py` [shop/prices.py:12-14]. "
        "That `with_discount` keeps a cent is what `tests/test_rates.py` shows."
    )
    calls = [call("read", path="shop/prices.py"), call("files", glob="tests/*")]
    done, _ = await answered(shop, *calls, text, "")
    assert [s.status for s in done.sentences] == ["checked", "unchecked"]
    assert "cites no lines" in str(done.sentences[1].why)


@pytest.mark.slow
async def test_a_sentence_with_its_own_lines_gets_no_further_ones_for_a_mere_mention(tmp_path) -> None:
    """A place is added where a name is defined, not where it is used, spelt like it, or stands in a comment."""
    code = "def stop(limit):\n    return later(limit)\n"
    other = "def later(limit):\n    return limit\n\n\n"
    other += "def start(limit):\n    # the flag, before stop(*later)\n    run(limit)\n"
    shop = shop_workspace(tmp_path, {"shop/stop.py": code, "shop/main.py": other})
    text = (
        "`stop` ends what `run` began [shop/stop.py:1-2]. "
        "Nothing like `--flag=false` changes `limit` [shop/stop.py:1-2]. "
        "`stop` hands on to `later`, and nothing to `start` [shop/stop.py:1-2]. "
        "It returns what `*later` gives [shop/stop.py:1-2]."
    )
    calls = [call("read", path=f"shop/{name}.py") for name in ("stop", "main")]
    done, _ = await answered(shop, *calls, text, "")
    own = "shop/stop.py:1-2"
    assert [s.places for s in done.sentences] == [(own,), (own,), (own, "shop/main.py:5-5"), (own,)]


@pytest.mark.slow
async def test_places_are_added_only_where_they_bear_on_the_sentence(tmp_path) -> None:
    code = "def stop(timeout):\n    if not timeout:\n        return\n    raise SystemExit\n"
    other = "def main(data):\n    if len(data) == 0:\n        raise KeyError\n    add('--dry-run', default=7)\n"
    shop = shop_workspace(tmp_path, {"shop/stop.py": code, "shop/main.py": other})
    text = (
        "With `timeout = 0` it returns [shop/stop.py:1-3]. `timeout` meets no `KeyError` there [shop/stop.py:1-4]. "
        "`--dry-run` ends with it [shop/stop.py:4]. `timeout` is 7 [shop/stop.py:1-3]."
    )
    calls = [call("read", path=f"shop/{name}.py") for name in ("stop", "main")]
    done, _ = await answered(shop, *calls, text, "")
    assert [s.places for s in done.sentences] == [
        ("shop/stop.py:1-3",),
        ("shop/stop.py:1-4",),
        ("shop/stop.py:4-4", "shop/main.py:4-4"),
        ("shop/stop.py:1-3",),
    ]
    assert statuses(done) == ["checked", "checked", "checked", "unchecked"]


@pytest.mark.slow
async def test_absence_may_rest_on_the_searches_made(shop) -> None:
    done, _ = await answered(shop, call("search", query="repay"), "There is no `repay` in this repository.", "")
    assert statuses(done) == ["checked"] and "searched for" in i18n.translated(done.sentences[0].why, "en")


@pytest.mark.slow
async def test_absence_may_rest_on_a_search_for_a_part_of_the_name(shop) -> None:
    done, _ = await answered(shop, call("search", query="repay"), "Nothing is called `repay_later`.", "")
    assert statuses(done) == ["checked"]


@pytest.mark.slow
async def test_a_name_that_the_program_puts_together_is_no_invention(tmp_path) -> None:
    shop = shop_workspace(tmp_path, MADE)
    said = "`--no-colour` is made by `off` [{0}]. `--yes-colour` isn't [{0}]. `off` gets `--dry-run` [{0}]."
    done, _ = await answered(shop, call("read", path="shop/flags.py"), said.format("shop/flags.py:1-2"), "")
    assert statuses(done) == ["checked", "unchecked", "checked"]


@pytest.mark.slow
async def test_a_model_whose_steps_are_used_up_is_asked_once_more(shop) -> None:
    shop = replace(shop, settings=shop.settings.model_copy(update={"loop_steps": 2}))
    done, _ = await answered(shop, TRUE)
    assert statuses(done) == ["checked", "checked"]


GONE = ModelError("Connection refused.", "Start it.")
SILENT = ModelSilent("No word for 60 s.")
MALFORMED = '{"name": "read", "arguments": {"path": '
NOTE = "`Cart.total` sums up [shop/cart.py:22-27]. It raises `EmptyCart` too [shop/cart.py:22-27]. Then `with_"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replies", "said", "origin"),
    [
        (("", "", ""), "The model returned nothing.", "extractive"),
        ((MALFORMED,) * 3, "its tool calls could not be read", "extractive"),
        ((MALFORMED + '"shop',) * 3, "its tool calls could not be read", "extractive"),
        (([GONE],), "The model failed: Connection refused.", "extractive"),
        (([SILENT],), "No word for 60 s.", "extractive"),
        ((READ[0],) * 5, "it made the same tool call again and again", "extractive"),
        (
            ([*re.findall(r"\S+ ?", NOTE), GONE],),
            "Start it. What it had written until then:\n\n`Cart.total` sums up [1]. It raises",
            "model",
        ),
        (("`nothing_like_it` does it [shop/cart.py:1-3].", ""), "Every sentence of the model names code", "model"),
    ],
)
async def test_it_is_said_why_there_is_no_answer(shop, replies, said, origin) -> None:
    done, _ = await answered(shop, *replies)
    assert said in done.result.lead and done.evidence and done.result.origin == origin
    assert "changed nothing" not in done.result.lead and "failed: The model" not in done.result.lead


@pytest.mark.slow
async def test_a_summary_given_to_finish_is_the_answer(shop) -> None:
    done, _ = await answered(shop, call("finish", summary=TRUE))
    assert statuses(done) == ["checked", "checked"]


@pytest.mark.slow
async def test_a_note_that_cites_lines_is_no_part_of_the_answer(shop) -> None:
    note = "First `price_of` [shop/cart.py:22-27]. Then the discount [shop/prices.py:12]. I look at it once more. So. "
    done, events = await answered(shop, note + call("read", path="shop/auth.py"), TRUE)
    assert statuses(done) == ["checked", "checked"] and "once more" not in done.text
    assert any(isinstance(event, Published) and "Then the discount" in event.answer.text for event in events)


@pytest.mark.slow
async def test_numbers_in_the_place_of_lines_are_no_citations(shop) -> None:
    done, _ = await answered(shop, "Large orders become cheaper [1]. `with_discount` does it [2].", "")
    assert [(each.text, each.status) for each in done.sentences] == [
        ("Large orders become cheaper.", "unchecked"),
        ("`with_discount` does it [1].", "checked"),
    ]


@pytest.mark.slow
async def test_an_answer_in_french_is_checked_as_well(shop) -> None:
    said = "`Cart.total` lève `EmptyCart` si le panier est vide [shop/cart.py:22-27]. Il n'existe pas de `repay`."
    done, _ = await answered(shop, call("search", query="repay"), said, question="comment le total est-il calculé ?")
    assert statuses(done) == ["checked", "checked"]
    assert "2 phrases vérifiées sur 2" in done.result.lead


@pytest.mark.slow
async def test_a_model_that_is_sent_back_may_write_the_whole_answer_anew(shop) -> None:
    first = "Orders become cheaper. `with_discount` takes 7000 [shop/prices.py:12-14]."
    done, _ = await answered(shop, first, f"Here it is.\n\n1. {TRUE.replace('. ', '.' + chr(10) + '2. ', 1)}")
    assert statuses(done).count("checked") == 2 and "7000" not in done.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    ["who calls price_of, and what does with_discount change then?", "when was the discount added, and what is it?"],
)
async def test_what_code_computed_settles_a_question_only_with_all_that_it_names(shop, question) -> None:
    done, _ = await answered(shop, TRUE, question=question)
    assert done.result.origin == "model" and statuses(done) == ["checked", "checked"]


@pytest.mark.slow
async def test_what_code_computed_is_the_answer_where_it_tells_all(shop) -> None:
    done, _ = await answered(shop, question="who calls price_of?")
    assert done.result.origin == "code"


@pytest.mark.slow
async def test_the_repository_as_a_whole_is_told_by_its_computed_overview(shop) -> None:
    done, _ = await answered(shop, question="give me an overview of this repository")
    assert done.result.origin == "code" and "shop/cart.py" in done.text


@pytest.mark.slow
async def test_a_name_that_the_index_lacks_keeps_no_model_from_looking(shop) -> None:
    done, _ = await answered(shop, TRUE, question="how does apply_rebate lower the sum?")
    assert done.result.origin == "model"


def test_citations_are_read_in_every_form() -> None:
    answer = (
        "One [a/b.py:1-3]. Two. [a/b.py#L4] [c.py:5-6, 9]\n\n- Three `x[0]` (see `d.go:7`).\n  [Makefile:3]\n"
        "```python\ny = x[0]\n```\nAt http://localhost:8000 [2] it ends."
    )
    found = [each for each in parts_of(answer) if each.text.strip()]
    assert [(each.bare, [(p.path, p.start, p.end) for p in each.places]) for each in found] == [
        ("One.", [("a/b.py", 1, 3)]),
        ("Two.", [("a/b.py", 4, 4), ("c.py", 5, 6), ("c.py", 9, 9)]),
        ("Three `x[0]` (see).", [("d.go", 7, 7), ("Makefile", 3, 3)]),
        ("```python\ny = x[0]\n```\n", []),
        ("At http://localhost:8000 it ends.", []),
    ]
    assert found[1].cited_as(["1", "2", "3"], ["4"]) == "Two. [1][2][3][4]"


def test_a_sentence_goes_on_behind_what_it_quotes() -> None:
    text = (
        'It adds "Please report it." to the text (why?) and "stops…" there [a.py:1]. Then it "ends." The rest follows.'
    )
    assert [part.bare for part in parts_of(text)] == [
        'It adds "Please report it." to the text (why?) and "stops…" there.',
        'Then it "ends."',
        "The rest follows.",
    ]


def test_brackets_that_cite_nothing_stay_as_they_are() -> None:
    (done,) = parts_of("- [ ] RFC [2119] says `must`. [a.py:3]")
    assert (done.lead, done.cited_as(["1"])) == ("- ", "[ ] RFC [2119] says `must`. [1]")


@given(st.text("ab.`[]():-1,/\n ~\ue000\ue001", max_size=120))
def test_any_text_is_taken_apart_without_loss(text: str) -> None:
    found = parts_of(text)
    assert all(isinstance(place, CitedLines) for each in found for place in each.places)
    letters = [c for c in text if c in "ab"]
    cited = [c for each in found for place in each.places for c in place.path if c in "ab"]
    kept = [c for each in found for c in each.lead + each.bare + each.gap if c in "ab"]
    assert len(kept) <= len(letters) <= len(kept) + 120 * bool(cited)


PIECES = st.sampled_from(
    "One. |two `a.b`|e.g. |[a/b.py:1-3]|[c.py:5|-6, 9]| (see `d.go:7`)| [2]|[^3]|\n|\n\n|- |1. |# Head|| a ||? |…|"
    "```python\n|```|~~~|``|(an aside|**bold.** |> q |x.py:12|    code|\r\n".split("|")
) | st.text("ab.`[]():-1,/\n ~|#>", max_size=3)


@pytest.mark.slow
@given(st.lists(PIECES, max_size=25).map("".join), st.lists(st.integers(0, 200), max_size=12).map(sorted))
def test_what_is_taken_apart_while_it_is_written_stays_so_wherever_it_is_cut(text: str, cuts: list[int]) -> None:
    whole, so_far = parts_of(text), AnswerSoFar()
    for cut in (*cuts, len(text)):
        complete = so_far.complete(text[:cut])
        assert complete == whole[: len(complete)]


def test_a_sentence_is_complete_before_its_line_is() -> None:
    so_far = AnswerSoFar()
    assert [each.bare for each in so_far.complete("One [a.py:1]. Two `b.c`. And `thr")] == ["One."]
    assert [each.bare for each in so_far.complete("Another answer. It has [a.py:2, 7] two sentences. No")] == [
        "Another answer."
    ]


@pytest.mark.parametrize(
    ("sentence", "lines", "strange"),
    [
        ("It answers 303.", "return Response(SEE_OTHER)", []),
        ("It reads 64 KiB at a time.", "CHUNK = 65536", []),
        ("It reads 4 MiB at a time.", "read(2**22)", []),
        ("It waits for 10 minutes.", "TIMEOUT = 600", []),
        ("It waits 600 seconds.", "TIMEOUT = 10 * 60", []),
        ("On signal 15 it stops.", "signal.SIGTERM: stop", []),
        ("It answers 405.", "HandleMethodNotAllowed: true", []),
        ("It redirects with 302.", "code := http.StatusFound", []),
        ("It redirects with 302.", "if not_found_again: pass", ["302"]),
        ("It reads `0x10` as 16.", "strtol(text, &end, 0)", []),
        ("It tries 5 times.", "RETRIES = 4", ["5"]),
        ("It takes two of them, HTTP/1.1 first.", "", []),
        ("With code 1012, it closes; else it sends a 500.", "send_500_response()\nfail(1012)", []),
    ],
)
def test_a_number_stands_in_the_lines_or_follows_from_them(sentence, lines, strange) -> None:
    assert strange_numbers(sentence, lines, "") == strange


@pytest.mark.slow
async def test_depth_and_context_follow_the_window_of_an_agent_model_and_the_list_shown_stays_short(tmp_path) -> None:
    files = {f"app/part{n}.py": f"def refill_queue_{n}(queue):\n    return queue + {n}\n" for n in range(60)}
    shop = open_workspace(write(tmp_path / "many", files), offline(tmp_path / "home"))
    prompts: list[str] = []

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        return "It refills [app/part1.py:1-2]."

    async def begun(window: int, prompt_speed: float, **chosen: int) -> tuple[int, int]:
        prompts.clear()
        settings = shop.settings.model_copy(update=chosen)
        model = replace(answering(reply, context_window=window), way="agent", speed=Speed(prompt_speed, 20.0))
        agent = replace(shop, settings=settings, model=model)
        _, _, events = await traced(lambda step: explain("how is the queue refilled?", agent, step))
        shown = next(e.data["evidence"] for e in events if isinstance(e, Finished) and "evidence" in e.data)
        return prompts[0].count(".py:1-2 "), len(shown)

    assert await begun(8192, 5000.0) == (12, 8)
    assert await begun(32_768, 5000.0) == (43, 8)
    assert await begun(131_072, 5000.0) == (60, 8)
    assert await begun(131_072, 100.0) == (12, 8), "no more than it reads in ten seconds"
    assert await begun(131_072, 5000.0, search_depth=20) == (20, 8), "what the user sets holds"
    elsewhere = replace(answering(reply, context_window=32_768), kind="openai")
    assert context_tokens(elsewhere) == 6000, "a small model's context stays small"
    assert context_tokens(replace(elsewhere, way="agent")) == 32_768 // 3


def test_a_place_was_read_when_most_of_its_lines_were():
    read = LinesRead({"a.js": dict.fromkeys(range(10, 15), "")})
    assert read.holds("a.js", 12, 12) and read.holds("a.js", 10, 17)
    assert not read.holds("a.js", 1, 10) and not read.holds("a.js", 20, 20) and not read.holds("b.js", 12, 12)
