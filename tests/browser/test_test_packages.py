"""The question whether the packages that a repository's tests need may be fetched, in a real browser."""

import os

import pytest
from playwright.sync_api import expect
from support import git_server
from support.app import running
from support.orchard import FILES
from support.wheels import pack_installed, write_index, write_wheel

pytestmark = pytest.mark.browser

MANIFEST = '[project]\nname = "orchard"\nversion = "1"\ndependencies = ["greeting"]\n'
RENAME = "/generate rename the function `litres` to `{}`"


@pytest.fixture(scope="module")
def orchard(tmp_path_factory):
    """An application without a model, an index of packages, and a repository that declares one of them."""
    top = tmp_path_factory.mktemp("work")
    wheels = top / "wheels"
    wheels.mkdir()
    pack_installed(wheels)
    write_wheel(wheels, "greeting", "1.0", {"greeting.py": ""})
    git_server.commit(top / "orchard", {**FILES, "pyproject.toml": MANIFEST})
    index = write_index(wheels).as_uri()
    variables = {"UV_DEFAULT_INDEX": index, "UV_INDEX": index, "PIP_CONFIG_FILE": os.devnull}
    options = {"ollama_url": "", "auto_download": "false", "embedded": "false"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        with running(tmp_path_factory.mktemp("home"), **options) as app:
            yield app, top / "orchard"
            assert "Traceback" not in app.log.read_text(), app.log.read_text()[-4000:]


@pytest.mark.thorough
def test_it_is_asked_once_and_the_answer_is_remembered_for_the_repository(visitor, orchard):
    app, folder = orchard
    page = visitor.page
    page.goto(f"{app.url}/?repo={folder}")
    page.wait_for_selector('[data-answerable="true"]')
    visitor.say("What does harvest do?")
    expect(page.locator(".rp-footer").first).to_be_visible()
    question = page.get_by_text("The tests of this repository need 1 package that it declares")
    expect(question).to_have_count(0)
    visitor.say(RENAME.format("liters"))
    expect(question).to_have_count(1)
    page.get_by_role("button", name="Always for this repository").click()
    expect(page.locator("strong", has_text="Always for this repository")).to_be_visible()
    expect(page.locator('.rp-file[data-path="orchard/water.py"]')).to_be_visible()
    expect(page.get_by_text("Built: 6 packages").first).to_be_visible()
    expect(page.get_by_role("button", name="Always for this repository")).to_have_count(0)
    visitor.say(RENAME.format("water"))
    expect(page.locator('.rp-file[data-path="orchard/water.py"]')).to_have_count(2)
    expect(question).to_have_count(1)

    (folder / "pyproject.toml").write_text(MANIFEST.replace('"greeting"', '"greeting", "packaging"'))
    page.goto(f"{app.url}/?repo={folder}")
    page.wait_for_selector('[data-answerable="true"]')
    visitor.say(RENAME.format("amount"))
    expect(page.get_by_text("Built: 6 packages").last).to_be_visible()
    expect(page.get_by_role("button", name="Always for this repository")).to_have_count(0)
