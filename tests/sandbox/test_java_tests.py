"""Tests of Java: what Maven is told, the reports of surefire and Gradle, and a real run with Debian's own artifacts."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.shop_workspace import traced, workspace_of

from repopilot.agents.generate import edit_tests
from repopilot.agents.generate.evidence import ChangeContext
from repopilot.errors import EnvironmentFailed
from repopilot.project.package_declarations import PackageDeclaration, read_packages
from repopilot.sandbox.environments import maven_repository as maven
from repopilot.sandbox.environments.package_install import install_packages
from repopilot.sandbox.inside import java_tests
from repopilot.sandbox.inside.maven_poms import coordinates, reduced, runs_code
from repopilot.sandbox.run_program import RunnerSuite, run_suite
from repopilot.sandbox.runners import node_test
from repopilot.sandbox.runners.junit import lacking_artifacts, local_repository, own_artifacts
from repopilot.sandbox.runners.runner_table import is_run_as_test, missing_programs, runner_of
from repopilot.settings import Settings
from repopilot.tools import file_change
from repopilot.types import InstalledPackages

TEST = "core/src/test/java/shop/PriceTest.java"
POM = """<?xml version="1.0"?>
<project xmlns="http://maven.apache.org/POM/4.0.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <parent><groupId>org.parent</groupId><artifactId>top</artifactId><version>3</version></parent>
  <artifactId>shop</artifactId><packaging>bundle</packaging>
  <modules><module>core</module><module>../outside</module></modules>
  <repositories><repository><id>x</id><url>https://x.invalid/m2</url></repository></repositories>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version></dependency>
    <dependency><groupId>org.parent</groupId><artifactId>core</artifactId><version>3</version></dependency>
  </dependencies>
  <build>
    <extensions><extension><artifactId>evil</artifactId></extension></extensions>
    <plugins>
      <plugin><artifactId>maven-bundle-plugin</artifactId><extensions>true</extensions></plugin>
      <plugin><artifactId>${hidden}</artifactId><dependencies><dependency><artifactId>evil</artifactId></dependency>
      </dependencies></plugin>
      <plugin><artifactId>maven-surefire-plugin</artifactId><extensions combine.self="append">&#116;rue</extensions>
      </plugin>
    </plugins>
  </build>
</project>
"""
CORE = (
    "<project><parent><groupId>org.parent</groupId><artifactId>shop</artifactId><version>3</version></parent>"
    "<artifactId>core</artifactId></project>"
)
SUREFIRE = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="shop.PriceTest" tests="4" failures="1" errors="1">
  <properties><property name="java.version" value="17"/></properties>
  <testcase name="small" classname="shop.PriceTest" time="1,000.01"/>
  <testcase name="large" classname="shop.PriceTest" time="0.002">
    <failure message="expected:&lt;160&gt; but was:&lt;180&gt;" type="java.lang.AssertionError"><![CDATA[
java.lang.AssertionError: expected:<160> but was:<180>
	at org.junit.Assert.fail(Assert.java:89)
	at shop.PriceTest.large(PriceTest.java:10)
]]></failure><system-out><![CDATA[<testcase name="forged" classname="shop.PriceTest"/>]]></system-out>
  </testcase>
  <testcase name="deep" classname="shop.PriceTest$Inner"><error type="Error">java.lang.Error</error></testcase>
  <testcase name="later" classname="shop.PriceTest"><skipped/></testcase>
</testsuite>
"""


def declared(files: dict[str, str]) -> PackageDeclaration:
    found = read_packages(files.get, lambda folder: [path for path in files if not folder])
    return next(each for each in found if each.language == "java")


def test_a_project_of_maven_is_read_with_its_modules():
    project = declared({"pom.xml": POM, "core/pom.xml": CORE})
    assert project.declared_in == ("pom.xml", "core/pom.xml")
    assert project.requirements == ("junit:junit@4.13.2", "org.parent:core@3")
    assert project.elsewhere == ("https://x.invalid/m2",)
    assert runner_of("java", project.node).name == "mvn test"
    assert is_run_as_test(TEST) and is_run_as_test("src/test/kotlin/PriceTest.kt")
    assert not is_run_as_test("src/main/java/shop/Price.java")
    assert declared({"pom.xml": "<project>" * 3}).requirements == ()


def test_a_project_of_gradle_is_run_by_the_version_of_its_wrapper():
    wrapper = "distributionUrl=https\\://services.gradle.org/distributions/gradle-8.14.3-bin.zip\n"
    project = declared({"build.gradle.kts": "", "gradle/wrapper/gradle-wrapper.properties": wrapper})
    assert (project.node.scripts["wrapper"], runner_of("java", project.node).name) == ("8.14.3", "gradle test")


def test_a_pom_is_reduced_to_what_tests_need():
    text = reduced(POM, {"core"})
    tree = ElementTree.fromstring(text)
    assert [each.text for each in tree.iter("artifactId")] == ["top", "shop", "junit", "maven-surefire-plugin"]
    assert tree.findtext("packaging") == "jar" and "extensions" not in text and "x.invalid" not in text
    assert coordinates(POM) == ("org.parent", "shop", "3")
    assert reduced("no XML") == "no XML"


@pytest.mark.parametrize(
    ("build", "loads"),
    [
        ("<plugins><plugin><artifactId>a</artifactId><extensions>false</extensions></plugin></plugins>", False),
        ("<plugins><plugin><artifactId>a</artifactId><extensions>${e}</extensions></plugin></plugins>", True),
        ("<extensions><extension><artifactId>a</artifactId></extension></extensions>", True),
        ("<plugins><plugin><artifactId>maven-dependency-plugin</artifactId></plugin></plugins>", False),
        ("<plugins><plugin><artifactId>maven-dependency-plugin</artifactId><dependencies/></plugin></plugins>", True),
        ("<plugins><plugin><artifactId>${p}</artifactId><dependencies/></plugin></plugins>", True),
    ],
)
def test_it_is_known_of_a_parent_whether_maven_would_load_its_code(build, loads):
    assert runs_code(f"<project><build>{build}</build></project>") is loads
    assert runs_code(f"<project><profiles><profile><build>{build}</build></profile></profiles></project>") is loads


def fetch(folder: Path, files: dict[str, str], parents: dict[str, str]) -> list[str]:
    """The artifacts and goals that Maven is told, with the poms that a registry would have answered."""
    told = []
    for arguments, _ in maven.steps(declared(files), folder):
        told.append(arguments[-1].removeprefix("-Dartifact="))
        if text := parents.get(told[-1]):
            group, name, version, _ = told[-1].split(":")
            place = folder.joinpath(maven.REPOSITORY, *group.split("."), name, version, f"{name}-{version}.pom")
            place.parent.mkdir(parents=True)
            place.write_text(text)
    return told


def test_parents_are_looked_at_before_maven_reads_them(tmp_path):
    top = "org.parent:top:3:pom"
    for text in ("<project><build><extensions/></build></project>", "<!DOCTYPE a><project/>", "no XML", ""):
        folder = tmp_path / str(len(text))
        with pytest.raises(EnvironmentFailed):
            fetch(folder, {"pom.xml": POM}, {top: text})
    for version in ("LATEST", "[1,2)", "${v}", "../.."):
        with pytest.raises(EnvironmentFailed):
            fetch(tmp_path / "other", {"pom.xml": POM.replace("<version>3<", f"<version>{version}<", 1)}, {})
    with pytest.raises(EnvironmentFailed, match=r"core/pom\.xml"):
        maven.files_of(declared({"pom.xml": POM, "core/pom.xml": "<project>"}))


def test_what_surefire_looks_for_later_is_fetched_too(tmp_path):
    for path in ("org/apache/maven/surefire/maven-surefire-common/3.2.5", "junit/junit/4.13.2"):
        (tmp_path / maven.REPOSITORY / path).mkdir(parents=True)
        (tmp_path / maven.REPOSITORY / path / "a.jar").write_text("")
    told = fetch(tmp_path, {"pom.xml": POM, "core/pom.xml": CORE}, {"org.parent:top:3:pom": "<project/>"})
    assert told[0] == "org.parent:top:3:pom" and told[2].endswith(":resolve-plugins")
    assert told[3:] == [f"org.apache.maven.surefire:surefire-{name}:3.2.5" for name in ("junit3", "junit4", "junit47")]
    assert "junit:junit@4.13.2" in maven.installed(tmp_path)


def test_the_users_own_artifacts_serve_where_none_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    project = declared(
        {"pom.xml": POM.replace("core</artifactId>", "junit</artifactId>").replace("<version>3<", "<version>${v}<")}
    )
    repository = tmp_path / ".m2" / "repository"
    (repository / "org/apache/maven/surefire").mkdir(parents=True)
    assert own_artifacts(project) is None
    assert lacking_artifacts(project) == ("junit:junit@4.13.2",)
    (repository / "junit/junit/4.13.2").mkdir(parents=True)
    assert own_artifacts(project) == InstalledPackages("", repository)


@pytest.mark.parametrize(
    ("said", "folder"),
    [
        (
            "<settings xmlns='http://a.invalid/1'><localRepository>${user.home}/jars</localRepository>",
            "jars",
        ),
        ("<settings><localRepository> ${env.JARS}/all </localRepository>", "elsewhere/all"),
        ("<settings><mirrors/>", ".m2/repository"),
        ("<settings", ".m2/repository"),
    ],
)
def test_the_users_own_artifacts_are_where_their_settings_say(tmp_path, monkeypatch, said, folder):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("JARS", str(tmp_path / "elsewhere"))
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2" / "settings.xml").write_text(f"{said}</settings>")
    assert local_repository() == tmp_path / folder


OFFLINE = "<settings><mirrors><mirror><id>own</id><mirrorOf>*</mirrorOf><url>{url}</url></mirror></mirrors></settings>"


def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, files: dict[str, str]) -> InstalledPackages:
    """Fetch what a project asks for as a user whose settings of Maven name a mirror."""
    (tmp_path / ".m2").mkdir(parents=True)
    (tmp_path / ".m2" / "settings.xml").write_text(OFFLINE.format(url=url))
    monkeypatch.setenv("MAVEN_OPTS", f"-Duser.home={tmp_path}")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    settings = Settings(home=tmp_path / "data")
    return install_packages(declared(files), settings, lambda _: None, threading.Event())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mvn") is None, reason="Maven is not installed")
@pytest.mark.thorough
def test_a_registry_that_is_not_reached_is_said_with_what_helps(tmp_path, monkeypatch):
    with socket.socket() as listening:  # bound, and it doesn't listen
        listening.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/m2"
        with pytest.raises(EnvironmentFailed) as caught:
            build(tmp_path, monkeypatch, url, {"pom.xml": POM})
    assert url in caught.value.message and ":pom:" in caught.value.message
    assert "settings.xml" in caught.value.hint and str(tmp_path / ".m2" / "repository") in caught.value.hint


def run_reporter(folder: Path, tool: str, script: str, *tests: str):
    """Run the program that the sandbox runs, with a script in place of the tool."""
    command = json.dumps([sys.executable, "-c", script])
    done = subprocess.run(
        [sys.executable, java_tests.__file__, str(folder / "report"), tool, command, *tests],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done, node_test.read((folder / "report").read_bytes(), str(folder))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "place"), [("maven", "target/surefire-reports"), ("gradle", "build/test-results/test")]
)
def test_reports_are_read_with_the_files_of_the_repository(tmp_path, tool, place):
    for path in (TEST, "core/pom.xml", "core/build.gradle", f"core/{place}/TEST-old.xml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        text = SUREFIRE if path.endswith("old.xml") else "package shop;" if path == TEST else "<project/>"
        (tmp_path / path).write_text(text)
    script = (
        f"import os, sys; os.makedirs('core/{place}', exist_ok=True); print(sys.argv[1:]); "
        f"open('core/{place}/TEST-shop.PriceTest.xml', 'w').write({SUREFIRE!r}); sys.exit(1)"
    )
    done, report = run_reporter(tmp_path, tool, script, TEST)
    assert {each.id.removeprefix(f"{TEST}::"): each.outcome for each in report.outcomes} == {
        "small": "passed",
        "large": "failed",
        "deep": "failed",
        "later": "skipped",
    }
    assert (done.returncode, report.ended) == (1, True)
    large = next(each for each in report.outcomes if each.id.endswith("large"))
    assert large.message == "expected:<160> but was:<180>" and f"({TEST}:10)" in large.text
    chosen = "'test', '-Dtest=PriceTest,PriceTest$*'" if tool == "maven" else "':core:test', '--tests=shop.PriceTest'"
    assert chosen in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("print('[ERROR] src/main/java/A.java:[3,7] cannot find symbol'); exit(1)", "A.java:3 cannot find symbol"),
        (
            "print('[ERROR] No x:jar:1 here -> [Help 1]'); print('[ERROR] [Help 1] http://a.invalid/Error'); exit(1)",
            "No x:jar:1 here",
        ),
        ("exit(3)", "exit status 3"),
        ("import os; os.makedirs('target/surefire-reports'); "
         "open('target/surefire-reports/TEST-a.xml', 'w').write('<testsuite>&a;')", "no report"),
    ],
)  # fmt: skip
def test_what_ends_a_build_is_told(tmp_path, script, said):
    _, report = run_reporter(tmp_path, "maven", script)
    assert [(each.when, each.outcome) for each in report.outcomes] == [("collect", "failed")]
    assert said in report.outcomes[0].message.replace("not a report", "no report")
    assert "Help" not in report.outcomes[0].message


DEBIAN = Path("/usr/share/maven-repo")
SHOP = {
    "pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>shop</groupId><artifactId>shop</artifactId>"
    "<version>1</version><packaging>bundle</packaging><properties><maven.compiler.source>11</maven.compiler.source>"
    "<maven.compiler.target>11</maven.compiler.target></properties><dependencies><dependency><groupId>junit</groupId>"
    "<artifactId>junit</artifactId><version>4.x</version></dependency></dependencies></project>",
    "src/main/java/shop/Price.java": """package shop;

public class Price {
    public static int of(int count) { return count > 10 ? count * 9 : count * 10; }
}
""",
    "src/test/java/shop/PriceTest.java": """package shop;

import static org.junit.Assert.assertEquals;
import org.junit.Test;

public class PriceTest {
    @Test public void small() { assertEquals(20, Price.of(2)); }
    @Test public void large() {
        assertEquals(160, Price.of(20));
    }
}
""",
    "src/test/java/shop/OtherTest.java": "package shop;\nclass OtherTest { @org.junit.Test public void a() { } }",
}
needs_maven = pytest.mark.skipif(
    bool(missing_programs(["java"])) or not (DEBIAN / "org/apache/maven/surefire/surefire-junit4").is_dir(),
    reason="surefire is not installed",
)


@pytest.mark.slow
@needs_maven
@pytest.mark.parametrize("level", ["bwrap", "landlock"])
@pytest.mark.sampled(1)
def test_maven_reports_each_test_of_the_chosen_files(level):
    settings = Settings(sandbox=level)
    suite = RunnerSuite("java", ("src/test/java/shop/PriceTest.java",), packages=InstalledPackages("", DEBIAN))
    run = run_suite(SHOP, suite, settings)
    path = "src/test/java/shop/PriceTest.java"
    assert run.outcomes == {f"{path}::small": "passed", f"{path}::large": "failed"}, run.output
    assert (run.failures[0].path, run.failures[0].line) == (path, 9)


@pytest.mark.slow
@needs_maven
@pytest.mark.thorough
def test_what_maven_can_not_compile_is_told():
    broken = SHOP | {"src/main/java/shop/Price.java": "package shop;\npublic class Price { int of }\n"}
    suite = RunnerSuite("java", ("src/test/java/shop/PriceTest.java",), packages=InstalledPackages("", DEBIAN))
    run = run_suite(broken, suite, Settings())
    assert run.errors == 1 and "Price.java:2" in run.failures[0].assertion


@pytest.mark.slow
@needs_maven
@pytest.mark.thorough
async def test_a_change_of_java_is_tested_with_the_users_own_artifacts(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    (tmp_path / "home" / ".m2").mkdir(parents=True)
    (tmp_path / "home" / ".m2" / "repository").symlink_to(DEBIAN)
    workspace, path = workspace_of(tmp_path, SHOP), "src/main/java/shop/Price.java"
    change = file_change.change(path, SHOP[path].replace("count * 9", "count * 8"), SHOP[path])
    context = ChangeContext("change it", workspace, workspace.snapshot.root)
    done, _, _ = await traced(lambda step: edit_tests.tested(context, (change,), step))
    report, test = done, "src/test/java/shop/PriceTest.java"
    assert (list(report.tests), report.repaired, report.still_green) == ([test], (f"{test}::large",), 1)
    assert report.genuine and report.unexercised == () and "with `8` changed to `9`" in report.run.control


@pytest.mark.slow
@needs_maven
@pytest.mark.thorough
async def test_a_test_of_a_new_method_of_java_verifies_it_though_nothing_compiles_without_it(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    (tmp_path / "home" / ".m2").mkdir(parents=True)
    (tmp_path / "home" / ".m2" / "repository").symlink_to(DEBIAN)
    code, test = "src/main/java/shop/Price.java", "src/test/java/shop/PriceTest.java"
    green = SHOP | {test: SHOP[test].replace("160", "180")}
    workspace = workspace_of(tmp_path, green)
    method = "    public static int tax(int cents) { return cents * 2; }\n}\n"
    asks = "    @Test public void tax() { assertEquals(4, Price.tax(2)); }\n}\n"
    texts = {code: green[code][:-2] + method, test: green[test][:-2] + asks}
    changes = tuple(file_change.change(path, text, green[path]) for path, text in texts.items())
    context = ChangeContext("add a tax", workspace, workspace.snapshot.root)
    report, _, _ = await traced(lambda step: edit_tests.tested(context, changes, step))
    assert (report.added, report.still_green, report.broken) == ((f"{test}::tax",), 2, ()), report.run.output
    assert report.genuine and f"the test {test}::tax fails" in report.run.control


GRADLE = {
    "build.gradle": "apply plugin: 'java'\nrepositories { maven { url 'file:///usr/share/maven-repo' } }\n"
    "dependencies { testCompile 'junit:junit:4.x' }\n",
    "gradle/wrapper/gradle-wrapper.properties": "distributionUrl=https\\://a.invalid/gradle-8.14.3-bin.zip\n",
    **{path: text for path, text in SHOP.items() if path.endswith(".java") and "Other" not in path},
}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gradle") is None or not DEBIAN.is_dir(), reason="Gradle is not installed")
def test_gradle_reports_each_test_where_the_wrapper_was_never_fetched():
    settings = Settings(sandbox="bwrap", test_timeout_s=60)
    path = "src/test/java/shop/PriceTest.java"
    project = declared(GRADLE).node
    run = run_suite(GRADLE, RunnerSuite("java", (path,), project), settings)
    assert run.outcomes == {f"{path}::small": "passed", f"{path}::large": "failed"}, run.output
    assert (run.failures[0].path, run.failures[0].line) == (path, 9)
