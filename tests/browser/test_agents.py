"""Generated files, plans, impact and reviews in a real browser, with a scripted model."""

import json
import re
import subprocess

import pytest
from playwright.sync_api import expect
from support import git_server
from support.orchard import FILES
from support.small_repo import run_git

pytestmark = pytest.mark.browser

WATER = FILES["orchard/water.py"]
RULE = "return 2.5 if degrees > 25 else 1.0"
THIRSTY = WATER.replace("degrees > 25", "degrees > 20")
PARTS = ["rename litres to litres_needed", "rename harvest to pick"]
"""Plain commands, which need no model."""


def scripted(messages):
    """What a good model would say to each of the prompts."""
    prompt = "\n".join(message["content"] for message in messages)
    if "SEARCH/REPLACE" in prompt:
        block = {"path": "orchard/water.py", "search": f"    {RULE}", "replace": f"    {RULE.replace('25', '20')}"}
        return json.dumps({"blocks": [block]})
    return "The function `litres` says how much water a tree gets [1]."


@pytest.fixture
def local(tab, world, tmp_path):
    """A tab with a local copy of the orchard open, and the copy's folder."""
    folder = tmp_path / "grove"
    git_server.commit(folder, FILES)
    before, world.ollama.state.reply = world.ollama.state.reply, scripted
    tab.page.goto(f"{world.app.url}/?repo={folder}")
    tab.page.wait_for_selector('[data-answerable="true"]')
    yield tab, folder
    world.ollama.state.reply = before


def test_generated_files_are_reviewed_accepted_and_downloaded(local, tmp_path):
    tab, folder = local
    page = tab.page
    tab.say("/generate water from 20 degrees on in orchard/water.py")
    file = page.locator('.rp-file[data-path="orchard/water.py"]')
    expect(file).to_be_visible()
    expect(file.locator("tr.rp-removed")).to_contain_text("degrees > 25")
    expect(file.locator("tr.rp-added")).to_contain_text("degrees > 20")
    expect(page.locator(".rp-footer")).to_be_visible()
    tab.unfold()
    for step in ("Generate", "Controller"):
        expect(page.locator(f'[id^="step-{step}"]').first).to_be_visible()
    assert (folder / "orchard/water.py").read_text() == WATER, "written before it was accepted"

    with page.expect_download() as download:
        page.get_by_role("button", name="Patch").click()
    patch = tmp_path / "change.patch"
    download.value.save_as(patch)
    subprocess.run(["git", "-C", str(folder), "apply", "--check", str(patch)], check=True)

    # What the user changed meanwhile is not overwritten: other lines are merged.
    (folder / "orchard/water.py").write_text("# mine\n")
    file.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_text("were changed on disk")).to_be_visible()
    assert (folder / "orchard/water.py").read_text() == "# mine\n"
    mine, later = "# mine\n", "# later\n"
    (folder / "orchard/water.py").write_text(mine + WATER)
    file.get_by_role("button", name="Accept", exact=True).click()
    expect(file).to_have_attribute("data-decision", "accepted")
    expect(page.get_by_text("Merged with what others changed on disk meanwhile: orchard/water.py")).to_be_visible()
    assert (folder / "orchard/water.py").read_text() == mine + THIRSTY
    (folder / "orchard/water.py").write_text(later + mine + THIRSTY)
    file.get_by_role("button", name="Undo").click()
    expect(file).to_have_attribute("data-decision", "")
    assert (folder / "orchard/water.py").read_text() == later + mine + WATER
    (folder / "orchard/water.py").write_text(WATER)
    file.get_by_role("button", name="Accept", exact=True).click()
    expect(file).to_have_attribute("data-decision", "accepted")
    expect(page.get_by_text("Merged with")).to_have_count(0)
    assert (folder / "orchard/water.py").read_text() == THIRSTY


LONG = "LITRES = 1\n" + "\n".join(f"ROW_{n} = {n}" for n in range(30)) + "\n\n\ndef poured():\n    return LITRES\n"


@pytest.fixture
def renamed(tab, world, tmp_path):
    """A tab with a rename of a name in two files, and their folder."""
    folder, page = tmp_path / "long", tab.page
    git_server.commit(folder, {"pour.py": LONG, "use.py": "from pour import LITRES\n\nprint(LITRES)\n"})
    page.goto(f"{world.app.url}/?repo={folder}")
    page.wait_for_selector('[data-answerable="true"]')
    tab.say("/rename LITRES AMOUNT")
    expect(page.locator(".rp-footer")).to_be_visible()
    return tab, folder


def test_hunks_are_accepted_and_rejected_one_by_one(renamed):
    tab, folder = renamed
    page, file = tab.page, tab.page.locator('.rp-file[data-path="pour.py"]')
    expect(file.get_by_role("button", name="Accept this change")).to_have_count(2)
    other = page.locator('.rp-file[data-path="use.py"]')
    expect(other.get_by_role("button", name="Accept this change")).to_have_count(1)
    expect(file.locator(".rp-added .rp-tm").first).to_have_text("AMOUNT")

    file.get_by_role("button", name="Accept this change").last.click()
    expect(file.locator('[data-decision="accepted"]')).to_have_count(1)
    second = LONG.replace("return LITRES", "return AMOUNT")
    assert (folder / "pour.py").read_text() == second
    file.get_by_role("button", name="Reject this change").click()
    expect(file).to_have_attribute("data-decision", "accepted")
    assert (folder / "pour.py").read_text() == second
    with page.expect_download() as download:
        page.get_by_role("button", name="Patch").click()
    patch = download.value.path().read_text()
    assert "+    return AMOUNT" in patch and "+AMOUNT = 1" not in patch and "use.py" in patch

    page.reload()  # what was decided is kept with the chat
    expect(file).to_have_attribute("data-decision", "accepted")
    file.get_by_role("button", name="Undo").click()
    expect(file.get_by_role("button", name="Accept this change")).to_have_count(2)
    assert (folder / "pour.py").read_text() == LONG
    file.get_by_role("button", name="Accept", exact=True).click()
    expect(file).to_have_attribute("data-decision", "accepted")
    assert (folder / "pour.py").read_text() == LONG.replace("LITRES", "AMOUNT")
    (folder / "pour.py").write_text("# mine\n")  # what was changed since is not written over
    file.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("were changed on disk")).to_be_visible()
    assert (folder / "pour.py").read_text() == "# mine\n"
    assert tab.problems == []


@pytest.mark.thorough
def test_two_pages_of_a_chat_decide_on_the_same(renamed):
    tab, folder = renamed
    other = tab.open()
    other.goto(tab.page.url)
    files = [page.locator('.rp-file[data-path="pour.py"]') for page in (tab.page, other)]
    expect(files[1]).to_be_visible()
    files[0].get_by_role("button", name="Accept this change").last.click()
    expect(files[0].locator('[data-decision="accepted"]')).to_have_count(1)
    text = (folder / "pour.py").read_text()
    files[1].get_by_role("button", name="Accept this change").last.click()
    expect(files[1].locator('[data-decision="accepted"]')).to_have_count(1)
    assert (folder / "pour.py").read_text() == text
    files[1].get_by_role("button", name="Accept this change").click()
    expect(files[1]).to_have_attribute("data-decision", "accepted")
    assert (folder / "pour.py").read_text() == LONG.replace("LITRES", "AMOUNT")
    assert tab.problems == []


@pytest.mark.thorough
def test_what_a_later_message_changes_is_a_further_version(renamed):
    tab, _ = renamed
    page = tab.page
    assert page.get_by_role("button", name="Version").count() == 0
    tab.say("/rename LITRES VOLUME")
    file = page.locator('.rp-file[data-path="use.py"]').last
    file.get_by_role("button", name="Version 2").click()
    expect(file.locator("tr.rp-removed").first).to_contain_text("AMOUNT")
    expect(file.locator("tr.rp-added").first).to_contain_text("VOLUME")
    assert file.get_by_role("button", name="Accept this change").count() == 0, "it is no change of the file on disk"
    file.get_by_role("button", name="Version 2").click()
    expect(file.locator("tr.rp-removed").first).to_contain_text("LITRES")
    assert tab.problems == []


@pytest.mark.thorough
def test_a_change_is_edited_and_committed_on_a_branch(renamed):
    tab, folder = renamed
    page, file = tab.page, tab.page.locator('.rp-file[data-path="use.py"]')
    page.get_by_role("button", name="Side by side").click()
    expect(page.locator(".rp-beside").first).to_be_visible()
    text = "from pour import AMOUNT\n\nprint(AMOUNT, 'litres')\n"
    file.get_by_role("button", name="Edit").click()
    file.get_by_role("textbox").fill(text)
    file.get_by_role("button", name="Use this text").click()
    expect(file.locator("tr", has_text="'litres'").first).to_be_visible()
    page.get_by_role("button", name="Commit on a branch").click()
    page.get_by_role("button", name="Commit on a new branch?").click()
    expect(page.get_by_text("holds the change")).to_be_visible()
    assert run_git(folder, "show", "repopilot/rename-litres-amount:use.py").strip() == text.strip()
    assert (folder / "use.py").read_text().count("LITRES") == 2

    file.get_by_role("button", name="Accept", exact=True).click()
    expect(file).to_have_attribute("data-decision", "accepted")
    assert (folder / "use.py").read_text() == text
    run_git(folder, "branch", "-D", "repopilot/rename-litres-amount")
    page.get_by_role("button", name="Commit on a branch").click()
    page.get_by_role("button", name="Commit on a new branch?").click()
    expect(page.get_by_text("has uncommitted changes")).to_be_visible()  # what was accepted has been written
    assert tab.problems == []


@pytest.mark.thorough
def test_a_plan_is_asked_for_edited_and_worked_on_part_by_part(local):
    tab, folder = local
    page = tab.page
    tab.say("/plan improve it")
    asking = page.locator(".rp-plan").last
    expect(asking).to_contain_text("One more detail is needed")
    asking.get_by_role("button", name="@orchard/water.py").click()
    asking.get_by_role("button", name="Plan again with these answers").click()
    plan = page.locator(".rp-plan").last
    expect(plan).to_contain_text("the task names it")
    expect(plan).to_contain_text("orchard/water.py")
    plan.get_by_role("button", name="Edit").click()
    plan.get_by_role("textbox").fill("\n".join(PARTS))
    plan.get_by_role("button", name="Use this plan").click()
    expect(plan).to_contain_text("1. rename litres")

    plan.get_by_role("button", name=re.compile("^Proceed$")).click()
    expect(page.locator('.rp-file[data-path="orchard/water.py"]')).to_be_visible()
    newest = page.locator(".rp-plan").last
    expect(newest.locator('li[data-state="done"]')).to_contain_text("litres_needed")
    expect(page.locator(".rp-plan").first).to_contain_text("A newer plan is below")
    newest.get_by_role("button", name="Skip").first.click()
    expect(page.locator(".rp-plan").last.locator('li[data-state="skipped"]')).to_have_count(1)
    page.locator(".rp-plan").last.get_by_role("button", name="Do it again").last.click()
    expect(page.locator(".rp-plan").last.locator('li[data-state="done"]')).to_have_count(2)
    expect(page.locator('.rp-file[data-path="orchard/trees.py"]')).to_be_visible()
    page.locator(".rp-plan").last.get_by_role("button", name="Create a branch").click()
    expect(page.locator(".rp-plan").last).to_contain_text("holds the change")
    assert "def litres_needed" in run_git(folder, "show", "repopilot/improve-it-orchard-water-py:orchard/water.py")
    assert (folder / "orchard/water.py").read_text() == WATER


def test_impact_is_drawn_and_a_review_is_listed(local, tmp_path):
    tab, folder = local
    page = tab.page
    tab.say("/impact orchard/trees.py")
    picture = page.locator(".rp-impact .rp-picture")
    expect(picture.locator(".rp-diagram-subject")).to_contain_text("trees.py")
    expect(page.locator(".rp-risk")).to_contain_text("Risk")

    unsafe = "import subprocess\n\n\ndef run(command):\n    subprocess.call(command, shell=True)\n"
    (folder / "orchard/tools.py").write_text(unsafe)
    page.get_by_role("button", name="Fetch updates").click()
    expect(page.locator(".rp-badge")).to_contain_text("Indexed: 5 files")
    tab.say("/review orchard/tools.py")
    finding = page.locator(".rp-finding", has_text="shell").first
    expect(finding).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="SARIF").click()
    report = json.loads(download.value.path().read_text())
    assert report["version"] == "2.1.0" and report["runs"][0]["results"]
    finding.get_by_role("button", name="Fix this").click()
    expect(page.get_by_text("Fix this in orchard/tools.py").last).to_be_visible()
    assert tab.problems == []
