import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.code.formats.schema import mentions, tables
from repopilot.code.split import analyse
from repopilot.project.manifest import is_manifest, read_manifest


def _tables(path: str, text: str, language: str, kind: str = "code") -> list[tuple]:
    return [(t.name, t.columns, t.line, t.model, t.refers) for t in analyse(path, text, language, kind).tables]


def test_prisma_models():
    text = (
        "enum Role { A }\n\nmodel User {\n  id    Int    @id // key\n  posts Post[]\n}\n\n"
        'model Post {\n  id Int\n  author User @relation(fields: [id])\n  @@map("posts")\n}\n'
    )
    assert _tables("schema.prisma", text, "prisma", "schema") == [
        ("User", ("id",), 3, "User", ("Post",)),
        ("posts", ("id",), 8, "Post", ("User",)),
    ]


def test_sql_tables():
    text = (
        '-- users\nCREATE TABLE IF NOT EXISTS "public"."users" (\n  id serial PRIMARY KEY,\n  price numeric(10, 2),\n'
        "  `team` int REFERENCES teams(id),\n  CONSTRAINT u UNIQUE (id, team)\n);\ncreate index i on users (id);\n"
    )
    assert _tables("a.sql", text, "sql", "schema") == [("users", ("id", "price", "team"), 2, "", ("teams",))]


def test_django_models():
    text = (
        "from django.db import models\n\n\nclass Order(models.Model):\n    total = models.IntegerField()\n"
        '    owner = models.ForeignKey("auth.User", on_delete=models.CASCADE)\n\n'
        '    class Meta:\n        db_table = "orders"\n'
    )
    assert _tables("models.py", text, "python") == [("orders", ("total", "owner"), 4, "Order", ("User",))]


def test_sqlalchemy_models_and_core_tables():
    text = (
        "class User(Base):\n    __tablename__ = 'users'\n    id: Mapped[int] = mapped_column(primary_key=True)\n"
        "    team = Column(Integer, ForeignKey('teams.id'))\n\n\nteams = Table('teams', meta, Column('id', Integer))\n"
    )
    assert _tables("m.py", text, "python") == [
        ("users", ("id", "team"), 1, "User", ("teams",)),
        ("teams", ("id",), 7, "", ()),
    ]


def test_rails_schema():
    text = 'create_table "users", force: :cascade do |t|\n  t.string "name"\n  t.references :team\nend\n'
    assert _tables("schema.rb", text, "ruby") == [("users", ("name", "team"), 1, "", ("team",))]


def test_sql_inside_code_is_a_use_of_the_table_in_its_scope():
    text = "def load(db):\n    return db.execute('''select *\n      FROM users u join public.teams''')\n"
    analysis = analyse("a.py", text, "python", "code")
    assert [(u.name, u.line, u.scope) for u in analysis.uses if u.kind == "table"] == [
        ("users", 3, "load"),
        ("teams", 3, "load"),
    ]
    assert all(r.kind != "table" for r in analysis.references)


def test_python_imports_are_no_tables():
    assert mentions("from os import path\n# select a file from the list\n") == []


@given(st.text(alphabet="create table(),;`\"users \n'--", max_size=200))
def test_any_text_has_tables_or_none(text):
    for language in ("sql", "prisma", "python", "ruby"):
        assert all(t.line >= 1 for t in tables("a", text, language, ()))


@pytest.mark.parametrize(
    ("path", "text", "name", "dependencies", "scripts", "entries"),
    [
        (
            "package.json",
            '{"name": "a", "main": "i.js", "scripts": {"test": "t"}, "dependencies": {"b": "1"}}',
            "a",
            ("b",),
            {"test": "t"},
            {"main": "i.js"},
        ),
        (
            "pyproject.toml",
            '[project]\nname = "a"\ndependencies = ["b>=1", "c[x]"]\n[project.scripts]\na = "a.cli:main"\n',
            "a",
            ("b", "c"),
            {},
            {"a": "a.cli:main"},
        ),
        ("setup.cfg", "[metadata]\nname = a\n[options]\ninstall_requires =\n  b\n", "a", ("b",), {}, {}),
        ("requirements-dev.txt", "# x\n-r a.txt\nb==1\n", "", ("b",), {}, {}),
        ("Cargo.toml", '[package]\nname = "a"\n[dependencies]\nb = "1"\n', "a", ("b",), {}, {}),
        ("go.mod", "module ex.com/a\n\nrequire (\n\tex.com/b v1.0.0\n)\n", "ex.com/a", ("ex.com/b",), {}, {}),
        ("pom.xml", "<parent><artifactId>p</artifactId></parent><artifactId>a</artifactId>", "a", (), {}, {}),
        ("Gemfile", "gem 'b'\n", "", ("b",), {}, {}),
    ],
)
def test_manifests(path, text, name, dependencies, scripts, entries):
    manifest = read_manifest(f"x/{path}", text)
    assert manifest is not None
    assert (manifest.name, tuple(need.name for need in manifest.dependencies)) == (name, dependencies)
    assert (dict(manifest.scripts), dict(manifest.entry_points)) == (scripts, entries)


@pytest.mark.parametrize("path", ["package.json", "pyproject.toml", "setup.cfg", "Cargo.toml"])
def test_broken_manifests_are_none(path):
    assert is_manifest(path)
    assert read_manifest(path, "{[broken") is None
    assert read_manifest("other.json", "{}") is None
