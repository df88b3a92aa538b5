"""Files that are not in UTF-8 are read where their encoding is sure, and written back in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shop_workspace import offline, open_workspace

from repopilot.errors import GenerationFailed, UsageError
from repopilot.repo.patches.apply import write_files
from repopilot.repo.text_encoding import decoded, encoded
from repopilot.tools.stored_text import stored_text
from repopilot.types import FileChange

LATIN = "# -*- coding: latin-1 -*-\ndef prénom():\n    return 'é'\n"
PROSE = {
    "French": ("/* Calcule le prix total, la remise est appliquée après les frais déjà payés. */\n", "cp1252"),
    "German": ("/* Gibt die Größe der Lösung zurück, für alle Schlüssel. */\n", "cp1252"),
    "Polish": ("/* Oblicza łączną cenę towaru, zniżka jest stosowana na końcu. Źródło: książka */\n", "cp1250"),
    "Russian": ("/* Вычисляет полную цену товара с учетом скидки. */\n", "cp1251"),
    "Russian on Unix": ("/* Вычисляет полную цену товара с учетом скидки. */\n", "koi8_r"),
    "Greek": ("/* Υπολογίζει την τελική τιμή του προϊόντος */\n", "cp1253"),
    "Turkish": ("/* Ürünün toplam fiyatını hesaplar, indirim sonra uygulanır. Şimdi çalışıyor */\n", "cp1254"),
    "Japanese": ("/* 商品の合計金額を計算します。割引は最後に適用されます。 */\n", "cp932"),
    "Chinese": ("/* 计算商品的总价，最后应用折扣。请不要修改这个函数。 */\n", "gb18030"),
    "Korean": ("/* 상품의 총 가격을 계산합니다. 할인은 마지막에 적용됩니다. */\n", "cp949"),
}


@pytest.mark.parametrize("declaration", ["# -*- coding: latin-1 -*-", "#!/usr/bin/python\n# vim: fileencoding=latin-1"])
def test_what_a_python_file_declares_comes_first(declaration: str) -> None:
    text = f"{declaration}\ndef prénom(): ...\n"
    assert decoded(text.encode("latin-1"), "a.py") == (text, "iso-8859-1")


def test_the_declaring_line_may_have_letters_of_the_encoding() -> None:
    text = "# écrit par René, coding: latin-1\nx = 1\n"
    assert decoded(text.encode("latin-1"), "a.py") == (text, "iso-8859-1")


def test_a_declared_encoding_within_ascii_is_read_as_declared() -> None:
    text = "# coding: iso-2022-jp\nx = '商品'\n"
    data = text.encode("iso-2022-jp")
    assert data.isascii()
    assert decoded(data, "a.py") == (text, "iso-2022-jp")


@pytest.mark.parametrize("name", ["rot13", "zlib", "unicode_escape", "idna", "punycode", "cp037", "no-such", "utf-16"])
def test_a_declaration_of_no_files_encoding_is_passed_over(name: str) -> None:
    text = f"# coding: {name}\nx = 'é\\n'\n"
    assert decoded(text.encode(), "a.py") == (text, "utf-8")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_byte_order_marks(encoding: str) -> None:
    text = "\ufeffd = 'é'\n"
    assert decoded(text.encode(encoding), "a.py") == (text, encoding)
    assert encoded(text, encoding) == text.encode(encoding)
    if encoding != "utf-8":
        assert encoded("d = 'é'\n", encoding) == encoded("\ufeffd = 'é'\n", encoding)


@pytest.mark.parametrize("language", PROSE)
@pytest.mark.parametrize("code", ["int price(int n) { return n * 2; }\n", "int a(void);\n" * 500])
def test_letters_that_make_a_language_show_their_encoding(language: str, code: str) -> None:
    prose, encoding = PROSE[language]
    text = code + prose + code
    assert decoded(text.encode(encoding), "a.c") == (text, encoding)


@pytest.mark.parametrize(
    "data",
    [b"name = '\xe9\xff'\n", b"/* \xa9 2010 Foo */\nint a;\n" * 9, b"// pr\xe9nom\n", b"x\xe9\0" * 99, b"\xff\xfea"],
)
def test_no_encoding_is_guessed_from_a_few_letters(data: bytes) -> None:
    assert decoded(data, "a.c") is None


@pytest.mark.slow
@given(st.binary(max_size=200), st.sampled_from(["a.py", "a.c"]))
def test_what_is_decoded_can_be_written_back(data: bytes, path: str) -> None:
    found = decoded(data, path)
    assert found is None or encoded(*found) == data


def test_a_changed_file_stays_in_its_encoding(tmp_path: Path) -> None:
    files = {"a.py": LATIN.encode("latin-1"), "b.txt": "\ufeffprénom\n".encode("utf-16-be")}
    for path, data in files.items():
        (tmp_path / path).write_bytes(data)
    new = LATIN.replace("'é'", "'à'")
    write_files(tmp_path, [FileChange("a.py", "modified", "", new), FileChange("b.txt", "modified", "", "nom\n")])
    assert (tmp_path / "a.py").read_bytes() == new.encode("latin-1")
    assert (tmp_path / "b.txt").read_bytes() == "\ufeffnom\n".encode("utf-16-be")


def test_a_newly_declared_encoding_is_the_one_written(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(LATIN.encode("latin-1"))
    plain = LATIN.partition("\n")[2]
    write_files(tmp_path, [FileChange("a.py", "modified", "", plain), FileChange("b.py", "added", "", LATIN)])
    assert (tmp_path / "a.py").read_bytes() == plain.encode()
    assert (tmp_path / "b.py").read_bytes() == LATIN.encode("latin-1")


def test_a_character_that_the_encoding_lacks_is_refused_and_nothing_written(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(LATIN.encode("latin-1"))
    with pytest.raises(UsageError, match=r"iso-8859-1.*→"):
        write_files(tmp_path, [FileChange("c.py", "added", "", ""), FileChange("a.py", "modified", "", LATIN + "#→\n")])
    assert (tmp_path / "a.py").read_bytes() == LATIN.encode("latin-1") and not (tmp_path / "c.py").exists()


def test_secrets_of_unchanged_lines_are_restored_in_the_files_encoding(tmp_path: Path) -> None:
    old = LATIN + 'PASSWORD = "xJ4&bNf9Rt2uYc"\n'
    (tmp_path / "a.py").write_bytes(old.encode("latin-1"))
    content = LATIN + 'PASSWORD = "[REDACTED:password]"\ny = "é"\n'
    write_files(tmp_path, [FileChange("a.py", "modified", "", content)])
    assert (tmp_path / "a.py").read_bytes() == (old + 'y = "é"\n').encode("latin-1")


@pytest.mark.slow
def test_such_files_are_indexed_and_can_be_edited(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "noms.py").write_bytes(LATIN.encode("latin-1"))
    (folder / "odd.py").write_bytes(b"x = '\xe9\xff'\n")
    workspace = open_workspace(folder, offline(tmp_path / "home"))
    assert [symbol.start_line for symbol in workspace.index.symbols("prénom")] == [2]
    assert workspace.index.text("noms.py") == LATIN == stored_text("noms.py", workspace)
    with pytest.raises(GenerationFailed):
        stored_text("odd.py", workspace)
