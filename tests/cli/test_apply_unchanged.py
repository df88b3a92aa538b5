"""What others wrote into a folder while a change was made is kept: merged, or the change is refused with the places."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from mcp.types import CallToolResult
from support.index_case import runtime_for
from support.small_repo import lay_out

from repopilot.errors import StorageError
from repopilot.mcp.server import OfferedTools
from repopilot.repo.patches.apply import apply_changes
from repopilot.settings import Settings
from repopilot.tools.file_change import change, deletion
from repopilot.types import FileChange

OLD = "A = 1\n\n\n\nB = 2\n"
NEW = "A = 3\n\n\n\nB = 2\n"
MODIFIED, ADDED, DELETED = change("a.py", NEW, OLD), change("a.py", NEW, None), deletion("a.py", OLD)


@pytest.mark.parametrize(
    ("made", "on_disk", "written"),
    [
        (MODIFIED, OLD, NEW),
        (MODIFIED, NEW, NEW),
        (MODIFIED, OLD + "C = 4\n", NEW + "C = 4\n"),
        (MODIFIED, OLD.replace("\n", "\r\n"), None),
        (MODIFIED, OLD.replace("= 1", "= 5"), None),
        (MODIFIED, None, None),
        (DELETED, OLD, None),
        (DELETED, OLD + "C = 4\n", None),
        (ADDED, None, NEW),
        (ADDED, NEW, NEW),
        (ADDED, "", None),
    ],
)
def test_a_change_is_merged_with_what_others_did_or_refused(
    tmp_path: Path, made: FileChange, on_disk: str | None, written: str | None
) -> None:
    file = tmp_path / "a.py"
    if on_disk is not None:
        file.write_bytes(on_disk.encode())
    gone = made is DELETED and on_disk == OLD
    if written is not None or gone:
        notes = apply_changes(tmp_path, [made])
        assert bool(notes) == (written not in (None, NEW))
        assert (file.read_bytes().decode() if file.exists() else None) == written
        return
    with pytest.raises(StorageError, match=r"a\.py"):
        apply_changes(tmp_path, [made, change("b.py", "x = 1\n", None)])
    assert (file.read_bytes().decode() if file.exists() else None) == on_disk
    assert not (tmp_path / "b.py").exists()


def test_the_places_of_a_conflict_are_those_of_the_file_on_disk(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("# new\n# new\n" + OLD.replace("= 2", "= 5"))
    made = change("a.py", OLD.replace("= 2", "= 6"), OLD)
    with pytest.raises(StorageError, match=r"a\.py:7-7"):
        apply_changes(tmp_path, [made])


def test_a_change_stored_without_its_secrets_is_merged_with_them(tmp_path: Path) -> None:
    secret = 'PASSWORD = "xJ4&bNf9Rt2uYc"\n'
    (tmp_path / "a.py").write_text(secret + OLD + "C = 4\n")
    stored = 'PASSWORD = "[REDACTED:password]"\n'
    apply_changes(tmp_path, [change("a.py", stored + NEW, stored + OLD)])
    assert (tmp_path / "a.py").read_text() == secret + NEW + "C = 4\n"


Call = Callable[..., Awaitable[CallToolResult]]


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[tuple[Path, Call]]:
    folder = lay_out(tmp_path / "shop")
    async with AsyncExitStack() as stack:
        with runtime_for(Settings(_env_file=None, home=tmp_path / "home", dense=False)) as runtime:
            tools = OfferedTools(runtime, stack, may_apply=True, folders=(folder,))

            async def call(name: str, **arguments: object) -> CallToolResult:
                return await tools.call(name, {"source": str(folder), **arguments})

            yield folder / "shop/prices.py", call
            await stack.aclose()


@pytest.mark.slow
async def test_an_mcp_client_applies_its_edits_and_keeps_those_of_others(shop: tuple[Path, Call]) -> None:
    prices, call = shop
    for old, new in (("= 5000", "= 6000"), ("= 6000", "= 7000")):
        assert not (await call("replace_text", path="shop/prices.py", old=old, new=new)).isError
        assert not (await call("apply")).isError, "what was applied is what is edited next"
    await call("replace_text", path="shop/prices.py", old="= 7000", new="= 8000")
    prices.write_text(prices.read_text() + "MINE = 1\n")
    (prices.parent / "new.py").write_text("N = 1\n")
    (prices.parent / "auth.py").unlink()

    shown = await call("changes")
    said = shown.content[0].text
    assert "-DISCOUNT_FROM = 7000" in said and "+DISCOUNT_FROM = 8000" in said and "MINE" not in said
    assert "shop/auth.py, shop/new.py, shop/prices.py" in said
    assert shown.structuredContent["on_disk"] == {
        "shop/auth.py": "deleted",
        "shop/new.py": "added",
        "shop/prices.py": "modified",
    }
    applied = await call("apply")
    assert not applied.isError and "Merged" in applied.content[0].text
    assert "= 8000" in prices.read_text() and "MINE = 1\n" in prices.read_text()


@pytest.mark.slow
async def test_edits_at_the_lines_of_others_are_refused_with_the_places(shop: tuple[Path, Call]) -> None:
    prices, call = shop
    await call("replace_text", path="shop/prices.py", old="= 5000", new="= 8000")
    theirs = prices.read_text().replace("= 5000", "= 9000")
    prices.write_text(theirs)
    assert "shop/prices.py:4-4" in (await call("changes")).content[0].text
    refused = await call("apply")
    assert refused.isError and "shop/prices.py:4-4" in refused.content[0].text
    assert prices.read_text() == theirs
    await call("undo")
    assert not (await call("replace_text", path="shop/prices.py", old="= 9000", new="= 9500")).isError
    assert not (await call("apply")).isError and "= 9500" in prices.read_text()
