"""Answers by code over a small tree in several languages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.index_case import write
from support.shop_workspace import offline, open_workspace

from repopilot.agents.explain.forms.code_answer import CodeAnswer
from repopilot.agents.explain.forms.dispatch import answer_by_code
from repopilot.retrieval.search import search

Ask = Callable[[str], CodeAnswer | None]

FILES = {
    "py/limits.py": '''"""Limits of uploads."""

MAX_BODY = 1024


class LimitError(Exception):
    """A limit was exceeded."""


class TooLarge(LimitError):
    """The body is too large."""


class TooMany(LimitError):
    """There are too many files."""


def check_size(body, max_body=MAX_BODY, *, strict: bool = True):
    """Refuse a body that is too large."""
    if len(body) > max_body:
        raise TooLarge(f"{len(body)} bytes")
    if strict and not body:
        raise ValueError("empty")
    return len(body)


class Upload:
    def __init__(self, name, chunk_size=64):
        self.name = name
        self.chunk_size = chunk_size
        self.total = 0

    def add(self, body):
        self.total += check_size(body)
        return self.total

    def finish(self):
        self.add(b"")
''',
    "py/test_limits.py": "from limits import check_size\n\n\ndef test_size():\n    assert check_size(b'x') == 1\n",
    "ts/client.ts": """export interface Transport {
  send(text: string): void;
}

const defaults = {
  maxRetries: 3,
  idleSeconds: 90,
};

export class HttpTransport implements Transport {
  send(text: string): void {
    if (text.length === 0) {
      throw new RangeError('nothing to send');
    }
  }
}

export function connect(url: string, {timeoutMs = 5000} = {}): Transport {
  if (!url) throw new TypeError('no url');
  return new HttpTransport();
}
""",
    "go/store.go": """package store

import "errors"

const DefaultPageSize = 50

var ErrClosed = errors.New("closed")

type Codec interface {
	Encode(v any) ([]byte, error)
	Decode(b []byte) error
}

type JSONCodec struct{}

func (JSONCodec) Encode(v any) ([]byte, error) { return nil, nil }
func (JSONCodec) Decode(b []byte) error        { return nil }

type HalfCodec struct{}

func (HalfCodec) Encode(v any) ([]byte, error) { return nil, nil }

type Store struct {
	pageSize int
	closed   bool
}

func NewStore() *Store {
	s := &Store{}
	s.pageSize = DefaultPageSize
	return s
}

func (s *Store) Fetch(key string) (string, error) {
	if s.closed {
		return "", ErrClosed
	}
	return key, nil
}
""",
    "rs/src/lib.rs": """pub const RETRY_LIMIT: usize = 7;

pub trait Shape {
    fn area(&self) -> f64;
}

pub struct Square(f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

pub enum ParseError {
    Empty,
}

pub fn parse_side(text: &str) -> Result<f64, ParseError> {
    if text.is_empty() {
        return Err(ParseError::Empty);
    }
    Ok(1.0)
}
""",
    "java/Cart.java": """public class Cart {
  static final int CAPACITY = 12;

  public void put(String item, int count) throws CartFullException {
    if (count > CAPACITY) {
      throw new CartFullException(item);
    }
  }
}
""",
    "rb/mailer.rb": """class Mailer
  BATCH = 25

  def deliver(list, retries: 2)
    raise ArgumentError, "no list" if list.nil?
    list.size
  end
end
""",
    "c/ring.c": """#define RING_SIZE 256

static int ring_put(int value)
{
    if (value > RING_SIZE) {
        return -1;
    }
    return 0;
}
""",
}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    tmp = tmp_path_factory.mktemp("forms")
    workspace = open_workspace(write(tmp / "tree", FILES), offline(tmp / "home"))

    def asked(question: str) -> CodeAnswer | None:
        results = search(workspace.index, question)
        return answer_by_code(question, results, workspace, results.query.language)

    return asked


RIGHT = [
    ("What is the default value of max_body?", "`max_body` defaults to `MAX_BODY`, which is `1024`", "py/limits.py"),
    ("What is the default of `chunk_size` in Upload?", "`64`", "py/limits.py"),
    ("Quelle est la valeur par défaut de chunk_size\u202f?", "vaut `64` par défaut", "py/limits.py"),
    ("What is the default value of `name` in Upload?", "no default", "py/limits.py"),
    ("What is the default of timeoutMs?", "`5000`", "ts/client.ts"),
    ("What does maxRetries default to?", "`3`", "ts/client.ts"),
    ("What is the default pageSize?", "`50`", "go/store.go"),
    ("What is the default value of retries in deliver?", "`2`", "rb/mailer.rb"),
    ("What is the value of MAX_BODY?", "`1024`", "py/limits.py"),
    ("What is RETRY_LIMIT?", "`7`", "rs/src/lib.rs"),
    ("What is the value of CAPACITY?", "`12`", "java/Cart.java"),
    ("How large is RING_SIZE?", "`256`", "c/ring.c"),
    ("What does check_size raise?", "TooLarge", "py/limits.py"),
    ("What does `connect` throw?", "TypeError", "ts/client.ts"),
    ("Which error does Store.Fetch return?", "ErrClosed", "go/store.go"),
    ("Which errors can parse_side return?", "ParseError::Empty", "rs/src/lib.rs"),
    ("Which exceptions does Cart.put throw?", "CartFullException", "java/Cart.java"),
    ("Quelle exception lève deliver ?", "ArgumentError", "rb/mailer.rb"),
    ("What does Upload.finish raise?", None, ""),
    ("What does parse_side return?", "Result<f64, ParseError>", "rs/src/lib.rs"),
    ("What does ring_put return?", "return -1", "c/ring.c"),
    ("What does Store.Fetch return?", "(string, error)", "go/store.go"),
    ("What parameters does check_size take?", "`max_body=MAX_BODY`", "py/limits.py"),
    ("What arguments does Upload take?", "`chunk_size=64`", "py/limits.py"),
    ("Quels paramètres prend ring_put ?", "`int value`", "c/ring.c"),
    ("What calls check_size?", "Upload.add", "py/limits.py"),
    ("What does Upload.finish call?", "Upload.add", "py/limits.py"),
    ("Which classes inherit from LimitError?", "`TooMany`", "py/limits.py"),
    ("What implements the Transport interface?", "HttpTransport", "ts/client.ts"),
    ("Which types implement Codec?", "JSONCodec", "go/store.go"),
    ("What implements Shape?", "Square", "rs/src/lib.rs"),
    ("Which classes implement `finish`?", "`Upload`", "py/limits.py"),
    ("Which exceptions does limits.check_size raise?", "TooLarge", "py/limits.py"),
    ("What does check_size raise for a body that is too large?", "TooLarge", "py/limits.py"),
    ("What does TooLarge inherit from?", "LimitError", "py/limits.py"),
    ("Where is check_size defined?", "py/limits.py:18", "py/limits.py"),
    ("Où est définie la classe Mailer ?", "rb/mailer.rb:1", "rb/mailer.rb"),
    ("Where is max_body checked?", "if len(body) > max_body", "py/limits.py"),
    ("Where is RING_SIZE checked?", "ring_put", "c/ring.c"),
    ("Where is TooLarge raised?", "check_size", "py/limits.py"),
    ("Where is `total` set?", "self.total = 0", "py/limits.py"),
    ("Where is RETRY_LIMIT used?", None, ""),
    ("How many seconds may a client be idle?", "`90`", "ts/client.ts"),
    ("How large is the body of an upload at most?", "`1024`", "py/limits.py"),
    ("What error do I get when there is nothing to send?", "RangeError", "ts/client.ts"),
    ("What error is returned for a parameter in a strict place?", None, ""),
    ("Which function refuses a body that is too large?", "check_size", "py/limits.py"),
    ("Why does check_size change EmptyCart?", None, ""),
    ("Why does check_size change pageSize?", None, ""),
    ("Why does check_size change RETRY_LIMIT?", "neither it nor what it calls names `RETRY_LIMIT`", "py/limits.py"),
    ("Why does Upload.finish use MAX_BODY?", None, ""),
]


@pytest.mark.parametrize(("question", "expected", "path"), RIGHT)
def test_the_answer_names_what_was_asked_for(ask: Ask, question: str, expected: str | None, path: str) -> None:
    answer = ask(question)
    if expected is None:
        assert answer is None
        return
    assert answer is not None
    assert expected in answer.text
    assert answer.places[0].path == path


def test_every_place_is_cited_and_has_its_lines(ask: Ask) -> None:
    answers = [answer for question, *_ in RIGHT if (answer := ask(question)) is not None]
    for answer in answers:
        assert [place.number for place in answer.places] == list(range(1, len(answer.places) + 1))
        assert all(f"[{place.number}]" in answer.text and place.lines for place in answer.places)


def test_a_type_without_one_of_the_methods_is_no_implementation(ask: Ask) -> None:
    answer = ask("Which types implement Codec?")
    assert answer is not None
    assert "HalfCodec" not in answer.text
    assert not answer.sure


def test_calls_in_tests_are_counted_apart(ask: Ask) -> None:
    answer = ask("Who calls check_size?")
    assert answer is not None
    assert "test_size" not in answer.text
    assert answer.left_out == 1
    assert "once in the tests" in answer.text


@pytest.mark.parametrize(
    "question",
    [
        "What calls nothing_like_this?",
        "What is the default value of unknown_option?",
        "Where is the upload cancelled?",
        "What does the weather return?",
        "Which classes inherit from TooMany?",
        "x" * 100_000,
        "",
    ],
)
def test_what_the_code_does_not_hold_is_not_answered(ask: Ask, question: str) -> None:
    assert ask(question) is None
