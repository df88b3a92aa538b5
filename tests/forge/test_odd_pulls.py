"""Pull requests with files of any name and size: reviewed and commented on, with what can't be reviewed named."""

import pytest
from support import git_server

FAULT = "import subprocess\n\n\ndef f(x):\n    subprocess.call(x, shell=True)\n"
NAMES = ("a b/x.py", "d b/y z.py", 'q"uote.py', "-dash.py", "new\nline.py", "caf\u00e9 \u96ea.py")


@pytest.mark.slow
def test_odd_names_and_large_files_are_reviewed_named_and_posted(world, run):
    large = {"data.csv": "1,2,3\n" * 300_000, "big.py": "x = 1  # filler\n" * 90_000}
    world.push_pull({"README.md": "# Shop\n\nMore.\n"})
    git_server.git(world.work, "checkout", "-q", "change")
    head = git_server.commit(world.work, dict.fromkeys(NAMES, FAULT) | large, "odd")
    world.publish()
    git_server.git(world.served / "shop.git", "update-ref", "refs/pull/7/head", head)
    base = git_server.git(world.work, "rev-parse", "main")
    world.hub.add_pull(7, (base, "main"), (head, "change"), f"{world.git.url}/shop.git")
    patch = "@@ -0,0 +1,5 @@\n" + "".join(f"+{line}\n" for line in FAULT.splitlines())
    world.hub.files = [{"filename": name, "patch": patch, "status": "added"} for name in NAMES]
    status, found, said = run("review", f"{world.hub.url}/o/r/pull/7", "--post", "--json")
    assert status == 0, said
    assert {each["path"] for each in found["findings"] if each["rule"] == "B602"} == set(NAMES)
    assert {each["path"] for each in world.hub.inline} == set(NAMES)
    (summary,) = [each["body"] for each in world.hub.summaries]
    for name in large:
        assert any(f"`{name}`" in note for note in found["notes"]) and f"`{name}`" in summary
