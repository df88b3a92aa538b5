"""Classes of defects in Python: each with variants that real code has, and with code that looks alike and is right."""

import pytest
from review.test_checks import rules_of_each

FOUND = {
    "weak-random": [
        "import random\ndef coupon_code():\n    return ''.join(random.choices('ABC', k=8))\n",
        "from random import randint\ndef send_otp(user):\n    code = randint(1000, 9999)\n    sms(user, code)\n",
        "import uuid\ndef login(user):\n    session_id = str(uuid.uuid1())\n    return session_id\n",
        "import random\nrng = random.Random()\ndef f(user):\n    user.api_key = '%x' % rng.getrandbits(128)\n",
        "import numpy as np\ndef f():\n    password = np.random.choice(list('abc'), 9)\n    return password\n",
    ],
    "timing-attack": [
        "def f(request, settings):\n    return request.headers['X-Api-Key'] == settings.API_KEY\n",
        "import hmac\ndef f(body, key, given):\n    mac = hmac.new(key, body, 'sha256').digest()\n"
        "    return mac == given\n",
        "def f(request, user):\n    if request.json['reset_token'] != user.reset_token:\n        return 403\n",
    ],
    "fallback-secret": [
        "import os\nKEY = os.getenv('SECRET_KEY', 'please-change')\n",
        "import os\ndef f():\n    return os.environ.get('DB_PASSWORD') or 'postgres'\n",
        "def f(app):\n    return app.config.get('JWT_SECRET', 'dev')\n",
    ],
    "ldap-injection": ["def f(c, name):\n    return c.search('dc=x', '(&(objectClass=user)(cn=%s))' % name)\n"],
    "mass-assignment": [
        "def f(request, user):\n    data = request.get_json()\n    for k in data:\n        setattr(user, k, data[k])\n",
        "def f(request, user):\n    user.__dict__.update(request.json)\n",
        "def f(request, db):\n    db.users.update_one({'_id': 1}, {'$set': request.json})\n",
    ],
    "open-cors": ["def f(request, r):\n    r.headers['Access-Control-Allow-Origin'] = request.headers['Origin']\n"
                  "    return r\n"],
    "upload-name": [
        "import os\ndef f(request):\n    file = request.files['f']\n"
        "    file.save(os.path.join('/up', file.filename))\n",
        "async def f(upload):\n    with open('/up/' + upload.filename, 'wb') as out:\n"
        "        out.write(await upload.read())\n",
    ],
    "cross-site-scripting": ["def f(request):\n    return HttpResponse('<h1>' + request.GET['n'] + '</h1>')\n"],
    "hard-coded-key": ["KEY = b'0123456789abcdef'\ndef f(x):\n    return Fernet(KEY).encrypt(x)\n"],
    "slow-dataframe": ["def f(df):\n    for _, row in df.iterrows():\n        g(row)\n"],
    "query-in-loop": ["def f(users):\n    for u in users:\n        u.seen = 1\n        u.save()\n"],
    "insecure-cookie": ["def f(r, t):\n    r.set_cookie('session', t)\n"],
    "relation-in-loop": [
        "def f():\n    books = Book.objects.all()\n    return [b.author.surname for b in books]\n",
        "def f(session):\n    for p in session.query(Post).all():\n        show(p.author.email)\n",
        "def f():\n    for o in Order.objects.filter(paid=True):\n        n = o.lines.count()\n        show(n)\n",
    ],
    "ASYNC240": ["from pathlib import Path\nasync def f(p):\n    return Path(p).read_text()\n"],
    "ASYNC251": ["from time import sleep\nasync def f():\n    sleep(1)\n"],
    "B019": ["import functools\nclass A:\n    @functools.cache\n    def f(self, x):\n        return x\n"],
    "DOC102": ["def f(a):\n    '''Do.\n\n    Args:\n        a: one\n        b: two\n    '''\n    return a\n"],
    "S110": ["def f():\n    try:\n        g()\n    except Exception:\n        pass\n"],
    "PERF403": [
        "def f(pairs):\n    out = {}\n    for a, b in pairs:\n        if b:\n            out[a] = b\n    return out\n"
    ],
    "RUF034": ["def f(x):\n    return 1 if x else 1\n"],
    "PLR0913": ["def f(a, b, c, d, e, g, h, i, j, k, m, n):\n    return a\n"],
    "PLR0915": ["def f(x):\n" + "    x += 1\n" * 90],
    "PLR1702": [
        "def f(x):\n" + "".join("    " * (n + 1) + f"if x > {n}:\n" for n in range(7)) + "    " * 8 + "x = 1\n"
    ],
    "SIM103": ["def f(x):\n    if x > 1:\n        return True\n    return False\n"],
    "PLR1714": ["def f(x):\n    return x == 'a' or x == 'b'\n"],
}  # fmt: skip


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in FOUND.items() for text in texts])
def test_variants_of_a_class_are_found(rule: str, text: str, reviewed: dict[str, set[str]]) -> None:
    assert rule in reviewed[text]


RIGHT = [
    "from html import escape\ndef f(request):\n    return HttpResponse('<h1>' + escape(request.GET['n']) + '</h1>')\n",
    "import os\ndef f(x):\n    return Fernet(os.environ['KEY']).encrypt(x)\n",
    # secrets
    "import random\ndef pick_color(colors):\n    return random.choice(colors)\n",
    "import random\ndef retry_delay(n):\n    return n + random.random()\n",
    "import secrets\ndef new_token():\n    return secrets.token_hex(16)\n",
    "def f(node):\n    return node.token == 'if'\n",
    "def f(path, expected):\n    return digest_of(path) == expected\n",
    "import os\nNAME = os.getenv('TOKEN_URL', 'https://a/b')\nPORT = os.environ.get('PORT', '80')\n",
    "import logging\nlog = logging.getLogger()\ndef f(password):\n    log.info('length %s', len(password))\n",
    # queries
    "def f(c, ids):\n    marks = ','.join(['%s'] * len(ids))\n"
    "    c.execute(f'SELECT a FROM t WHERE id IN ({marks})', ids)\n",
    "COLUMNS = {'a': 'alpha'}\ndef f(c, s):\n    c.execute(f'SELECT a FROM t ORDER BY {COLUMNS[s]}')\n",
    "def f(c, s):\n    if s not in ('a', 'b'):\n        raise ValueError(s)\n"
    "    c.execute(f'SELECT a FROM t ORDER BY {s}')\n",
    "def f(c, n):\n    c.execute(f'SELECT a FROM t LIMIT {int(n)}')\n",
    "def f(base, page):\n    query = base\n    query += '&page=' + page\n    return query\n",
    "def f(self):\n    return f'(x={self.x})'\n",
    "def f(db, request):\n    return db.users.find_one({'name': str(request.json['n'])})\n",
    # access
    "def f(request):\n    target = request.args.get('next', '/')\n    if not target.startswith('/'):\n"
    "        target = '/'\n"
    "    return redirect(target)\n",
    "def f(request):\n    name = {'a': 'x.txt'}.get(request.args['f'], 'y.txt')\n    with open(name) as file:\n"
    "        return file.read()\n",
    "import re\ndef f(request):\n    return re.match(r'[a-z]+$', request.args['q'])\n",
    "def f(request, pk):\n    note = Note.objects.get(pk=pk, owner=request.user)\n    note.delete()\n",
    "@login_required\ndef f(request, pk):\n    note = Note.objects.get(pk=pk)\n    if note.author != request.user:\n"
    "        raise Denied\n"
    "    note.delete()\n",
    "def f(request, user):\n    for k, v in request.json.items():\n        if k in ('name', 'mail'):\n"
    "            setattr(user, k, v)\n",
    "def f(urls):\n    return 'example.com' in urls\n",
    "import re\nP = re.compile(r'^(?:[a-z]+\\.)+[a-z]+$')\n",
    # database
    "def f():\n    return [b.author.surname for b in Book.objects.select_related('author')]\n",
    "def f():\n    return [b.created.year for b in Book.objects.all()]\n",
    "def f():\n    return User.objects.filter(active=True).count()\n",
    "def f(session, url):\n    for attempt in range(3):\n        r = session.get(url, timeout=3)\n        if r.ok:\n"
    "            return r\n    return None\n",
    "def f(db, ids):\n    for batch in batches(ids, 500):\n        db.execute('x', batch)\n",
    # waiting
    "async def f(client, url):\n    while url:\n        r = await client.get(url)\n        url = r.next\n",
    "async def f(client, items):\n    last = None\n    for item in items:\n"
    "        last = await client.fetch(item, last)\n    return last\n",
    "async def f(ws, xs):\n    for x in xs:\n        await ws.send(x)\n",
    "import asyncio\nimport shutil\nasync def f(a, b):\n    await asyncio.to_thread(shutil.copy, a, b)\n",
    # growth
    "def f(groups):\n    for g in groups:\n        g.sort()\n",
    "def f(xs):\n    for x in xs:\n        line = ''\n        line += str(x)\n        emit(line)\n",
    "def f(xs):\n    allowed = ['a', 'b']\n    return [x for x in xs if x in allowed]\n",
    "_registry = {}\ndef register(name, cls):\n    _registry[name] = cls\n",
    "_cache = {}\ndef f(key):\n    if len(_cache) > 99:\n        _cache.clear()\n    if key not in _cache:\n"
    "        _cache[key] = g(key)\n    return _cache[key]\n",
    "def sort(xs):\n    mid = len(xs) // 2\n    return merge(sort(xs[:mid]), sort(xs[mid:]))\n",
    "def depth(t):\n    return 1 + max(depth(t.left), depth(t.right))\n",
    "def f(a, b):\n    for x in a:\n        for y in x.parts:\n            if y.id == x.id:\n                g(y)\n",
    # conditions
    "def f(n):\n    if n > 100:\n        return 2\n    elif n > 10:\n        return 1\n    return 0\n",
    "def f(s, t):\n    return s != 'a' and t != 'b'\n",
    "def f(a, b):\n    return a.x != b.x\n",
    "def f(n):\n    return n < 0 or n > 10\n",
    "def f(name):\n    return name.lower() == 'yes'\n",
    # values
    "def f(thread):\n    thread.join()\n",
    "def f(path, other):\n    path.replace(other)\n",
    "def f(s):\n    try:\n        s.encode('ascii')\n    except UnicodeError:\n        return False\n    return True\n",
    "def f(x):\n    x = x.strip()\n    x = x.lower()\n    return x\n",
    "def f(x):\n    if not x:\n        return {}, 404\n    return {'a': x}\n",
    "def f(x):\n    if not x:\n        return None\n    return [x]\n",
    # words
    "def f(c):\n    # retry 3 times\n    for _ in range(3):\n        c()\n",
    "def f():\n    # wait two minutes\n    sleep(120)\n",
    "def f(xs):\n    '''The names, newest first.'''\n    return sorted(xs, reverse=True)\n",
    "class A:\n    def f(self):\n        '''Returns True when done.'''\n        raise NotImplementedError\n",
    "def get_or_create(db, n):\n    db.save(n)\n    return n\n",
    "def f(a):\n    seconds = a.total_seconds()\n    minutes = a.total_seconds() / 60\n    return seconds, minutes\n",
    "def f(x):\n    if x < 0:\n        raise ValueError('must not be negative')\n    return x\n",
    "def main():\n    print('done')\n",
    "# Values above 3 are cut: see f(x) for why.\nX = 1\n",
]  # fmt: skip


@pytest.mark.parametrize("text", RIGHT)
def test_code_that_looks_alike_is_left_alone(text: str, reviewed: dict[str, set[str]]) -> None:
    ignored = {"F821", "B113", "F841", "C901", "request-in-loop", "RET503", "SIM110", "B007"}
    assert reviewed[text] - ignored == set()


@pytest.fixture(scope="module")
def reviewed() -> dict[str, set[str]]:
    """The rules found in each text; starting every linter for each text alone takes minutes."""
    return rules_of_each([*(text for texts in FOUND.values() for text in texts), *RIGHT])
