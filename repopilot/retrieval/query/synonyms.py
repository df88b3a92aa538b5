"""Words that programmers use for one another: the word of a question and that of an identifier often differ. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from repopilot.index.tokens import expand

_GROUPS = """
    maximum max largest biggest highest longest most limit cap
    minimum min smallest lowest shortest least
    remove delete drop discard unset erase clear purge
    directory dir folder
    configuration config cfg conf settings options preferences
    argument arg args param parameter parameters
    initialize initialise init setup bootstrap
    message msg
    request req
    response resp res reply
    database db
    authenticate authentication auth login credentials
    count num number total
    index idx position
    previous prev last
    temporary tmp temp
    context ctx
    error err exception failure
    environment env environ
    function func fn callable
    attribute attr attributes property
    string str text
    integer int
    boolean bool flag
    dictionary dict mapping map
    object obj
    character char
    pointer ptr
    buffer buf
    address addr
    command cmd
    reference ref
    source src origin
    destination dest dst target
    information info metadata
    documentation doc docs
    generate gen
    execute exec run
    calculate compute calc evaluate
    create make build new
    retrieve fetch get load
    store save persist write
    send emit dispatch transmit
    receive recv
    asynchronous async
    synchronous sync
    statistics stats
    length len size
    column col
    header head
    library lib
    package pkg
    identifier id ident
    specification spec
    implementation impl
    utility util utils helper
    expression expr
    variable var
    iterator iter iterate
    separator sep delimiter
    version ver
    validate check verify
    display show render print
    stop shutdown terminate close
    start launch begin
    convert transform cast
    merge combine join
    split separate partition
    choose select pick
    ignore skip exclude
    allow permit enable
    forbid deny reject disallow
    timeout deadline expiry
    password passwd
    username user
    certificate cert
    middleware mw
    manager mgr
    original orig
    current cur curr
    repository repo
    regular regex regexp pattern
    absolute abs
    relative rel
    parent super base
    child sub
    concurrent parallel
    duplicate dup copy clone
    format fmt
    compare cmp diff
    random rand
    average avg mean
    standard std
    default fallback
"""


def _by_stem() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in _GROUPS.split("\n"):
        stems = list(dict.fromkeys(expand(word)[0] for word in line.split()))
        for stem in stems:
            found.setdefault(stem, {}).update(dict.fromkeys(other for other in stems if other != stem))
    return {stem: tuple(others) for stem, others in found.items()}


SYNONYMS = _by_stem()
"""Index tokens by index token."""
