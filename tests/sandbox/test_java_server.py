"""jdtls: which Java starts it, and the project of ours that it opens in place of the repository's build files."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.index_case import write
from support.shop_workspace import workspace_of
from tools.test_tools import opened, refusal

from repopilot.resolve.meanings import names_written
from repopilot.resolve.values import NameSpan
from repopilot.sandbox.language_servers import java_server
from repopilot.sandbox.language_servers.catalogue import how_to_get, program_of, server_of
from repopilot.settings import Settings

FILES = {
    "pom.xml": "<project><build><extensions><extension><artifactId>evil</artifactId></extension></extensions></build>"
    "</project>",
    "core/src/main/java/shop/Price.java": "/* a */\npackage shop;\n\npublic class Price {\n"
    "    public int of() { return 1; }\n}\n",
    "core/src/main/java/shop/sale/Sale.java": "package shop.sale;\n\nimport shop.Price;\n\nclass Sale {\n"
    "    int all(Price price, Other other) { return price.of() + other.of(); }\n}\n"
    "class Other { int of() { return 2; } }\n",
    "core/target/generated/Made.java": "class Made { }\n",
    "odd & old/Main.java": "class Main { }\n",
    "core/src/main/java/shop/wrong/Here.java": "package elsewhere;\nclass Here { }\n",
}
needs_jdtls = pytest.mark.skipif(
    program_of(server_of("java"), None, Settings()) is None, reason="jdtls is not installed"
)


def home(folder: Path, version: str) -> Path:
    return write(folder, {"release": f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n', "bin/java": ""})


def test_the_newest_java_that_is_new_enough_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(java_server, "_INSTALLED", (str(tmp_path / "jvm"),))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(home(tmp_path / "own", "17.0.15")))
    home(tmp_path / "jvm" / "old", "1.8.0_402")
    (tmp_path / "jvm" / "broken").mkdir()
    assert java_server.java_home() is None
    newest = home(tmp_path / "jvm" / "new", "25.0.1")
    home(tmp_path / "jvm" / "mac" / "Contents" / "Home", "21.0.2")
    assert java_server.java_home() == newest


def test_without_a_java_for_it_jdtls_is_not_there_and_the_user_is_told(tmp_path, monkeypatch):
    server = server_of("java")
    program = write(tmp_path, {"jdtls": "", "plugins/org.eclipse.equinox.launcher_1.7.jar": ""}) / "jdtls"
    program.chmod(0o755)
    monkeypatch.setattr(java_server, "packaged_in", lambda: (tmp_path,))
    monkeypatch.setattr(java_server, "java_home", lambda: tmp_path)
    assert program_of(server, None, Settings()) == program
    assert java_server.arguments(program)[0] == str(tmp_path / "bin" / "java")
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    monkeypatch.setattr(java_server, "java_home", lambda: None)
    assert program_of(server, None, Settings()) is None
    assert "repopilot[java]" in how_to_get(server) and "Java 21" in how_to_get(server)


def test_folders_of_code_are_where_packages_begin(tmp_path):
    root = write(tmp_path / "repository", FILES)
    (root / "core/src/main/java/shop/Link.java").symlink_to("/etc/passwd")
    assert java_server.source_folders(root) == ["core/src/main/java", "odd & old"]


def test_the_project_links_to_them_and_names_no_build_file(tmp_path):
    root = write(tmp_path / "repository", FILES)
    read = java_server.write_project(root, "/sandbox/repo", tmp_path / "project")
    written = {each.name: ElementTree.parse(each).getroot() for each in (tmp_path / "project").iterdir()}
    assert set(written) == {".project", ".classpath"} and read[0] == tmp_path / "project"
    places = [each.text for each in written[".project"].iter("location")]
    assert places == ["/sandbox/repo/core/src/main/java", "/sandbox/repo/odd & old"]
    sources = [each.get("path") for each in written[".classpath"] if each.get("kind") == "src"]
    assert sources == [each.findtext("name") for each in written[".project"].iter("link")]


@pytest.mark.slow
@needs_jdtls
def test_jdtls_tells_methods_of_one_name_apart(tmp_path):
    resolver = workspace_of(tmp_path, FILES).resolver
    path = "core/src/main/java/shop/Price.java"
    start = FILES[path].index("of()")
    uses = resolver.uses(NameSpan(path, start, start + 2), "of")
    assert [(use.span.path, use.line) for use in uses.sure] == [("core/src/main/java/shop/sale/Sale.java", 6)]
    assert resolver.engine(path) == "jdtls" and not uses.by_name


def test_an_edit_that_writes_all_between_two_names_is_read_as_the_names_that_it_changes():
    text = "int next(char c) { /* next */ }\nint next(String s) { return next(s.next); }"
    place = NameSpan("A.java", 4, text.index("(s.next"))
    texts = {"A.java": text}
    said = "follow(char c) { /* next */ }\nint next(String s) { return follow"
    found = names_written(place, said, texts.get, ("next", "follow"))
    assert found == [(NameSpan("A.java", start, start + 4), "follow") for start in (4, text.rindex("next("))]
    other = "something else"
    assert names_written(place, other, texts.get, ("next", "follow")) == [(place, other)]


ROWS = {
    "src/main/java/shop/Rows.java": "package shop;\n\nimport java.util.Iterator;\nimport java.util.List;\n\n"
    "public class Rows implements Iterable<String>, AutoCloseable {\n    private final List<String> all = List.of();\n"
    "    public Iterator<String> iterator() { return all.iterator(); }\n    public void close() { }\n"
    "    public int count() { return count(0); }\n    public int count(int from) { return all.size() - from; }\n}\n",
    "src/main/java/shop/Use.java": "package shop;\n\nclass Use {\n"
    "    int f(Rows rows) { for (String each : rows) { } return rows.count() + rows.count(1); }\n"
    "    int g(java.util.List<Rows> many) { return many.get(0).count(); }\n}\n",
}


@pytest.mark.slow
@needs_jdtls
async def test_a_member_that_no_library_declares_is_renamed_in_a_class_that_implements_one(tmp_path):
    async with opened(workspace_of(tmp_path, ROWS)) as tools:
        done = await tools("rename_symbol", name="Rows.count", new_name="total")
        use = tools.copy.text("src/main/java/shop/Use.java")
        assert "rows.total() + rows.total(1)" in use and "get(0).total()" in use and "count" not in use, done.text
        assert "java" in await refusal(tools, "rename_symbol", name="Rows.iterator", new_name="walk")
