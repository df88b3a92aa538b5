"""Types that are written down in TypeScript, where no server tells: those of parameters whose functions are given where
a type of functions stands, of elements, of what functions give."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.shop_workspace import workspace_of

from repopilot.resolve.uses.usage import usage_of

CONTEXT = """export class Context<E = any> {
  json(value: unknown) {}
}
export class Other {
  json(value: unknown) {}
}
"""
APP = """import type { Context, Other } from './context'
import type { Outside } from 'elsewhere'
export type Handler<E = any> = (c: Context<E>, next: () => void) => void
export type H<E = any> = Handler<E> | ((c: Context<E>) => Promise<void>)
interface Routes<E> {
  <P extends string>(path: P, ...handlers: H<E>[]): App<E>
  <P extends string, M extends H<E> = H<E>>(path: P, ...handlers: [H<E> & M, H<E>]): App<E>
  (path: string, ...options: [Other, (other: Other) => void, number]): App<E>
  <P>(...handlers: [H<E>, ...H[]]): App<E>
}
export interface Plugin<T = Context> {
  run: (on: T) => void
  stop?(c: Context, other: Other): void
}
export class App<E = any> {
  get!: Routes<E>
  onError(handler: (error: Error, c: Context<E>) => void): this {
    return this
  }
}
export function make<E>(handler: (c: Context<E>) => void): Promise<Context> {}
export function bounded<F extends Handler>(handler: F): F {}
export function inferred<T extends Context>(one: T, handler: (c: T) => void) {}
export function outside(handler: Outside | Handler) {}
export function mixed(handler: (c: Context) => void): void
export function mixed(handler: (c: Other) => void): void
export function mixed(handler: any) {}
export function compose(all: Function[]): (c: Context) => Promise<Context>
"""
HEAD = "import { App, bounded, compose, inferred, make, mixed, outside } from './app'\n"
HEAD += "import type { Handler, Plugin } from './app'\nimport { Context, Other } from './context'\n"
HEAD += "const app = new App()\n"
KNOWN = (
    "app.get('/x', (c) => c.json(1))",
    "app.get('/x', check, async (c, next) => c.json(1))",
    "app.get(function (c) { c.json(1) }, (c) => 1)",
    "app.get('/x', (c) => 1).get('/y', c => c.json(1))",
    "app.onError((error, c) => c.json(1))",
    "const one: Handler = (c) => c.json(1)",
    "const two = (): Handler => { return async (c) => c.json(1) }",
    "const three = (): Handler => (flag ? (c) => c.json(1) : fallback)",
    "make((c) => c.json(1))",
    "const made = await make((c) => 1); made.json(1)",
    "bounded((c) => c.json(1))",
    "const five: Plugin = { run: (on) => on.json(1) }",
    "const six = { stop(c) { c.json(1) } } satisfies Plugin",
    "const seven: Plugin<Context>[] = [{ run(on) { on.json(1) } }]",
    "function eight(all: Context[]) { for (const each of all) each.json(1) }",
    "function nine(all: ReadonlyArray<Context>) { all[0].json(1) }",
    "class A { field: Handler = (c) => c.json(1) }",
    "compose([])(new Context()).then(run); (await compose([])(new Context())).json(1)",
    "const composed = compose([]); const ten = await composed(new Context()); ten.json(1)",
    "function late(handler: Handler = (c) => c.json(1)) {}",
)
UNKNOWN = (
    "inferred(new Context(), (c) => c.json(1))",
    "outside((c) => c.json(1))",
    "mixed((c) => c.json(1))",
    "absent((c) => c.json(1))",
    "app.get(...all, (c) => c.json(1))",
)
WRONG = (
    "const four: Plugin<Other> = { run: (on) => on.json(1) }",
    "const six: Plugin = { stop(c, other) { other.json(1) } }",
    "app.onError((error, c) => error.json(1))",
    "function seven(may: (c: Context) => boolean, all: Other[]) { all.forEach((c: Other) => c.json(1)) }",
)


def _listed(folder: Path, statement: str) -> tuple[bool, bool]:
    """Whether a statement is listed as a sure use of `Context.json`, and by name."""
    workspace = workspace_of(folder, {"context.ts": CONTEXT, "app.ts": APP, "use.ts": f"{HEAD}{statement}\n"})
    wanted = next(s for s in workspace.index.symbols("json") if s.qualified == "Context.json")
    usage = usage_of(workspace.index, [wanted], workspace.resolver)
    assert usage.engine == "syntax"
    there = [[place.line for place in places if place.path == "use.ts"] for places in (usage.sure, usage.by_name)]
    return 5 in there[0], 5 in there[1]


@pytest.mark.slow
@pytest.mark.parametrize("statement", KNOWN)
def test_what_is_written_of_a_type_is_sure(tmp_path: Path, statement: str) -> None:
    assert _listed(tmp_path, statement) == (True, False)


@pytest.mark.slow
@pytest.mark.parametrize("statement", UNKNOWN)
def test_what_a_type_would_have_to_be_compared_for_is_not_guessed(tmp_path: Path, statement: str) -> None:
    assert _listed(tmp_path, statement) == (False, True)


@pytest.mark.parametrize("statement", WRONG)
def test_another_type_that_is_written_is_no_use(tmp_path: Path, statement: str) -> None:
    assert not _listed(tmp_path, statement)[0]
