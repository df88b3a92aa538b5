"""The types that signatures give to variables."""

import pytest

from repopilot.code.graph.linker import _declared_type


@pytest.mark.parametrize(
    ("signature", "variable", "type_"),
    [
        ("def f(self, c: Context)", "c", "Context"),
        ("def f(c: 'Context', d: web.Request)", "d", "web.Request"),
        ("func (c *Context) Bind(b binding.Binding) error", "b", "binding.Binding"),
        ("private final Tokeniser tokeniser;", "tokeniser", "Tokeniser"),
        ("Store store", "store", "Store"),
        ("def f(c: Optional[Context] = None)", "c", "Context"),
        ("func (c *Context) Next()", "c", "Context"),
        ("fn f(c: &mut Context, d: u8)", "c", "Context"),
        ("int total(Card card, int c)", "card", "Card"),
        ("int total(final List<Card> cards)", "cards", "List"),
        ("int f(Outer Inner c)", "c", "Inner"),
        ("void f(pay.Card &card)", "card", "pay.Card"),
        ("f(may?: (c: Context | Other) => boolean)", "c", ""),
        ("f(d: (a: string) => void | ((c: Context) => void))", "c", ""),
        ("f(may: (d: Context) => boolean, c: Other)", "c", "Other"),
        ("const f = memo((c: Context, d) =>", "c", "Context"),
        ("func Each(run func(c Context), d Other)", "c", ""),
        ("func (c Context) Each(run func(d Other))", "c", "Context"),
        ("void each(void (*run)(Context c), int d)", "c", ""),
        ("def f(cc: Context)", "c", ""),
        ("def f(self, c)", "c", ""),
        ("def f(c: int)", "c", ""),
        ("def f(x.c: Context)", "c", ""),
        ("", "c", ""),
    ],
)
def test_declared_types(signature, variable, type_):
    assert _declared_type(signature, variable) == type_
