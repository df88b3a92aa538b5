"""An index handed over as a file: the same answers elsewhere, nothing forged, cut off or of another version."""

import io
import json
import tarfile

import pytest
from support import git_server
from support.index_case import FILES, jobs_for, settings

from repopilot.errors import IndexFailed, StorageError
from repopilot.index.build.job import IndexRequest
from repopilot.index.store import IndexStore
from repopilot.index.transfer import export_index, import_index
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.retrieval.search import search


@pytest.fixture
def exported(tmp_path):
    """(the file, the snapshot, the facts, the index)."""
    git_server.commit(tmp_path / "shop", FILES)
    conf = settings(tmp_path / "home")
    snapshot = open_source(parse_source(str(tmp_path / "shop")), conf)
    index = jobs_for(conf).build(IndexRequest(snapshot, conf))
    file = tmp_path / "shop.index"
    return file, snapshot, export_index(conf.indexes / snapshot.key, file), index


@pytest.mark.slow
def test_the_index_answers_the_same_elsewhere(exported, tmp_path):
    file, snapshot, facts, index = exported
    folder = tmp_path / "elsewhere" / snapshot.key
    taken = import_index(file, folder, facts["sha256"], index.commit)
    assert taken["commit"] == facts["commit"] == index.commit
    found = IndexStore(tmp_path / "elsewhere").open(snapshot)
    for query in ("validate token", "price"):
        ours, theirs = ([hit.chunk.id for hit in search(each, query, 5).hits] for each in (index, found))
        assert ours == theirs
    import_index(file, folder)  # in place of the one there is
    assert [each.name for each in folder.glob("g0*")] == ["g00000002"] and not list(folder.glob("old-import-*"))


@pytest.mark.slow
def test_what_is_not_as_exported_is_refused(exported, tmp_path):
    file, snapshot, _, _ = exported
    folder = tmp_path / "elsewhere" / snapshot.key
    data = file.read_bytes()
    with pytest.raises(IndexFailed, match="is not the expected one"):
        import_index(file, folder, "0" * 64)
    with pytest.raises(IndexFailed, match="not of"):
        import_index(file, folder, commit="0" * 40)
    for broken in (data[: len(data) // 2], b"", b"no archive", data[:200] + bytes(100) + data[300:]):
        file.write_bytes(broken)
        with pytest.raises((IndexFailed, StorageError)):
            import_index(file, folder)
    assert not list(folder.glob("g0*"))
    with pytest.raises(StorageError):
        import_index(tmp_path / "missing", folder)


@pytest.mark.slow
@pytest.mark.parametrize("change", ["content", "outside", "link", "version", "more"])
def test_a_forged_archive_is_refused(exported, tmp_path, change):
    file, snapshot, _, _ = exported
    forged = tmp_path / "forged.index"
    with tarfile.open(file) as source, tarfile.open(forged, "w:gz") as target:
        for member in source:
            content = source.extractfile(member).read()
            if change == "version" and member.name == "manifest.json":
                content = json.dumps({**json.loads(content), "version": "0"}).encode()
            if change == "content" and member.name.endswith("index.db"):
                content = content[:-1] + bytes([content[-1] ^ 1])
            member.size = len(content)
            target.addfile(member, io.BytesIO(content))
        if change in ("outside", "link", "more"):
            extra = tarfile.TarInfo("../../outside" if change == "outside" else "generation/extra")
            if change == "link":
                extra.type, extra.linkname = tarfile.SYMTYPE, "/etc/passwd"
            target.addfile(extra, io.BytesIO(b""))
    with pytest.raises(IndexFailed):
        import_index(forged, tmp_path / "elsewhere" / snapshot.key)
    assert not (tmp_path / "outside").exists() and not list((tmp_path / "elsewhere").rglob("g0*"))
