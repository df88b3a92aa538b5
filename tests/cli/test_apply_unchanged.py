"""What others wrote into a folder while a change was made is never written over."""

from contextlib import AsyncExitStack

import pytest
from support.small_repo import lay_out

from repopilot.errors import StorageError
from repopilot.mcp.server import OfferedTools
from repopilot.repo.apply import check_unchanged
from repopilot.repo.read import blob_id
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import FileChange

OLD = b"A = 1\n"


@pytest.mark.parametrize(
    ("change", "on_disk", "fine"),
    [
        ("modified", OLD, True),
        ("modified", b"A = 1\nB = 2\n", False),
        ("modified", None, False),
        ("deleted", OLD, True),
        ("deleted", b"B = 2\n", False),
        ("added", None, True),
        ("added", b"", False),
    ],
)
def test_a_file_must_be_what_the_change_was_made_from(tmp_path, change, on_disk, fine):
    if on_disk is not None:
        (tmp_path / "a.py").write_bytes(on_disk)
    hashes = {} if change == "added" else {"a.py": blob_id(OLD)}
    files = [FileChange("a.py", change, "", "A = 3\n")]
    if fine:
        check_unchanged(tmp_path, files, hashes)
    else:
        with pytest.raises(StorageError, match=r"a\.py was changed on disk"):
            check_unchanged(tmp_path, files, hashes)


async def test_an_mcp_client_applies_its_edits_but_not_over_those_of_others(tmp_path):
    shop, source = lay_out(tmp_path / "shop"), str(tmp_path / "shop")
    prices = shop / "shop/prices.py"
    async with AsyncExitStack() as stack:
        with Runtime(Settings(_env_file=None, home=tmp_path / "home", dense=False)) as runtime:
            tools = OfferedTools(runtime, stack, may_apply=True)

            async def edit(old, new):
                given = {"source": source, "path": "shop/prices.py", "old": old, "new": new}
                assert not (await tools.call("replace_text", given)).isError
                return await tools.call("apply", {"source": source})

            assert not (await edit("= 5000", "= 6000")).isError
            assert not (await edit("= 6000", "= 7000")).isError, "what was applied is what is edited next"
            given = {"source": source, "path": "shop/prices.py", "old": "= 7000", "new": "= 8000"}
            await tools.call("replace_text", given)
            prices.write_text(prices.read_text() + "MINE = 1\n")
            refused = await tools.call("apply", {"source": source})
            assert refused.isError and "was changed on disk" in refused.content[0].text
            assert "= 7000" in prices.read_text() and "MINE" in prices.read_text()
            await stack.aclose()
