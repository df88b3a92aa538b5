"""Classes of defects in JavaScript, TypeScript, Go and Java: variants that are found, and alike code that is right."""

import pytest
from review.test_checks import found, rules


def java(body: str) -> str:
    return f"class A {{\n{body}}}\n"


FOUND = {
    "a.js": {
        "prototype-pollution": ["function merge(a, b) {\n  for (const k of Object.keys(b)) {\n"
                                "    a[k] = merge(a[k], b[k]);\n  }\n  return a;\n}\n"],
        "weak-random": ["function newToken() {\n  return Math.random().toString(36);\n}\n"],
        "path-traversal": [
            "function f(req, res) {\n  const { name } = req.params;\n  res.sendFile(path.join(DIR, name));\n}\n",
        ],
        "ssrf": ["async function f(req) {\n  const url = req.query.url;\n  return fetch(url);\n}\n"],
        "insecure-cookie": ["function f(res, t) {\n  res.cookie('session', t, { maxAge: 9 });\n}\n"],
        "growing-copy": [
            "const f = (xs) => xs.reduce((acc, x) => [...acc, x.id], []);\n",
            "function f(xs) {\n  let out = [];\n  for (const x of xs) {\n    out = out.concat(g(x));\n  }\n"
            "  return out;\n}\n",
        ],
        "blocking-call": ["router.post('/a', (req, res) => {\n"
            "  execSync('ls');\n"
            "  res.end();\n});\n"],
        "list-membership": ["function f(a, b) {\n  const ids = b.map((x) => x.id);\n  for (const y of a) {\n"
                            "    if (ids.indexOf(y.id) < 0) g(y);\n  }\n}\n"],
        "quadratic-join": [
            "function f(os, us) {\n  return os.map((o) => us.find((u) => u.id === o.userId));\n}\n",
        ],
        "await-in-loop": ["async function f(ids) {\n  const out = [];\n  for (const id of ids) {\n"
                          "    out.push(await load(id));\n  }\n  return out;\n}\n"],
        "debugging-left": ["function f(cart) {\n  console.log('cart', cart);\n  return cart;\n"
                           "}\n", "function f(x) {\n"
            "  console.log(x);\n"
            "  return x;\n}\n"],
        "async-foreach": ["function f(xs) {\n  xs.forEach(async (x) => {\n    await g(x);\n  });\n}\n"],
        "loose-equality": ["function f(a) {\n  return a == '1';\n}\n"],
        "nested-ternary": ["const f = (a, b) => (a ? 1 : b ? 2 : 3);\n"],
    },
    "a.ts": {
        "any-type": ["export function f(x: any): number {\n  return x.a;\n}\n"],
        "flag-parameters": ["function f(a: boolean, b: boolean, c: boolean) {\n  return a && b && c;\n}\n"],
    },
    "a.go": {
        "weak-random": ["package a\nfunc newSessionToken() int {\n\treturn rand.Intn(9)\n}\n"],
        "path-traversal": [
            "package a\nfunc unzip(r *zip.Reader, dst string) {\n\tfor _, f := range r.File {\n"
            "\t\tp := filepath.Join(dst, f.Name)\n\t\twrite(p)\n\t}\n}\n",
            "package a\nfunc h(w http.ResponseWriter, r *http.Request) {\n\tp := r.FormValue(\"p\")\n"
            "\tb, _ := os.ReadFile(p)\n\tw.Write(b)\n}\n",
        ],
        "dropped-error": ["package a\n"
            "func f(s string) int {\n"
            "\tn, _ := strconv.Atoi(s)\n"
            "\treturn n\n"
            "}\n"],
    },
    "A.java": {
        "path-traversal": [java("Resource f(@RequestParam String name) {\n  return g(Paths.get(name));\n}\n")],
        "weak-random": [java("String newPassword() {\n  return \"\" + new Random().nextInt();\n}\n")],
        "csrf-off": [java("void f(HttpSecurity http) {\n  http.csrf(c -> c.disable());\n}\n")],
        "repeated-work": [java("void f(List<String> xs) {\n  for (String x : xs) {\n"
                               "    g(x.replaceAll(\"[^a-z]+\", \"\"));\n  }\n}\n"),
                          java("void f(List<String> xs) {\n  for (String x : xs) {\n"
                               "    g(new ObjectMapper().readTree(x));\n  }\n}\n")],
        "shifted-list": [java("void f(List<String> xs) {\n  while (!xs.isEmpty()) {\n    g(xs.remove(0));\n  }\n}\n")],
        "list-membership": [java("void f(List<A> as, List<A> bs) {\n  for (A a : as) {\n    if (bs.contains(a)) {\n"
                                 "      g(a);\n    }\n  }\n}\n")],
        "query-in-loop": [java("void f(List<A> as) {\n  for (A a : as) {\n    noteRepository.save(a);\n  }\n}\n")],
        "misleading-name": [java("public boolean hasStock(Item item) {\n  itemDao.delete(item);\n  return true;\n}\n")],
        "flag-parameters": [java("void f(boolean a, boolean b, boolean c) {\n  g(a, b, c);\n}\n")],
        "debugging-left": [java("int f(int x) {\n  System.out.println(x);\n  return x;\n}\n")],
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "rule", "text"),
    [(path, rule, text) for path, of in FOUND.items() for rule, texts in of.items() for text in texts],
)
def test_variants_of_a_class_are_found(path: str, rule: str, text: str) -> None:
    assert rule in rules(path, text)


RIGHT = [
    ("a.js", "switch (x) {\n  case 1:\n  case 2:\n    h();\n    break;\n  case 3:\n    g(); // falls through\n"
             "  default:\n    h();\n}\n"),
    ("a.js", "function f(a) {\n  return a == null || typeof a == 'string' || a === '1';\n}\n"),
    ("a.go", "package a\nfunc f(k int) error {\n\tvar err error\n\tswitch k {\n\tcase 1:\n\t\terr = g(k)\n\tcase 2:\n"
             "\t\terr = h(k)\n\t}\n\treturn err\n}\n"),
    ("a.js", "function f(req, res) {\n  const origin = req.headers.origin;\n  if (ORIGINS.includes(origin)) {\n"
             "    res.setHeader('Access-Control-Allow-Origin', origin);\n  }\n}\n"),
    ("a.js", "function merge(a, b) {\n  for (const k of Object.keys(b)) {\n    if (k === '__proto__') continue;\n"
             "    a[k] = merge(a[k], b[k]);\n  }\n  return a;\n}\n"),
    ("a.js", "app.get('/notes/:id', auth, async (req, res) => {\n"
             "  const n = await Note.findOne({ _id: req.params.id, owner: req.user.id });\n  res.json(n);\n});\n"),
    ("a.js", "const config = JSON.parse(fs.readFileSync('a.json', 'utf8'));\n"),
    ("a.js", "function f(a, b) {\n  const ids = new Set(b.map((x) => x.id));\n"
             "  return a.filter((x) => !ids.has(x.id));\n}\n"),
    ("a.js", "function f(xs) {\n  return xs.reduce((sum, x) => sum + x.price, 0);\n}\n"),
    ("a.js", "function f(xs, text) {\n  const low = text.toLowerCase();\n  return xs.filter((x) => low.includes(x));\n"
             "}\n"),
    ("a.js", "async function f(url) {\n  while (url) {\n    const r = await load(url);\n    url = r.next;\n  }\n}\n"),
    ("a.js", "async function f(ids) {\n  return Promise.all(ids.map((id) => load(id)));\n}\n"),
    ("a.js", "function f(n) {\n  if (n > 100) {\n    g();\n  } else if (n > 10) {\n    h();\n  }\n}\n"),
    ("a.js", "function f(s) {\n  return s !== 'a' && s !== 'b';\n}\n"),
    ("a.js", "function f(req, res) {\n  const name = path.basename(req.params.name);\n"
             "  res.sendFile(path.join(DIR, name));\n}\n"),
    ("a.js", "/**\n * @param {object} options\n */\nfunction f({ a, b }) {\n  return a + b;\n}\n"),
    ("a.ts", "function f(ms: number) {\n  return Math.floor(ms / 1000 / 60);\n}\n"),
    ("a.go", "package a\nfunc f() error {\n\tif err := g(); err != nil {\n\t\treturn err\n"
             "\t} else if err = h(); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n"),
    ("a.go", "package a\nfunc shuffle(xs []int) int {\n\treturn xs[rand.Intn(len(xs))]\n}\n"),
    ("a.go", "package a\nfunc f(c io.Closer) {\n\t_ = c.Close()\n}\n"),
    ("a.go", "package a\nfunc f(xs []X) error {\n\tvar err error\n\tfor _, x := range xs {\n"
             "\t\tif err := g(x); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n\treturn err\n}\n"),
    ("a.go", "package a\nfunc unzip(f *zip.File, dst string) error {\n\tp := filepath.Join(dst, f.Name)\n"
             "\tif !strings.HasPrefix(p, dst) {\n\t\treturn bad\n\t}\n\treturn write(p)\n}\n"),
    ("a.go", "package a\n\n// Port gives the port, or 8080 if there is none.\nfunc Port(s string) int {\n"
             "\treturn 8080\n}\n"),
    ("A.java", java("void f(ZipEntry entry, Path dir) {\n  Path out = dir.resolve(entry.getName()).normalize();\n"
                    "  if (!out.startsWith(dir)) {\n    throw bad();\n  }\n}\n")),
    ("A.java", java("int f(Set<A> bs, List<A> as) {\n  int n = 0;\n  for (A a : as) {\n    if (bs.contains(a)) {\n"
                    "      n += 1;\n    }\n  }\n  return n;\n}\n")),
    ("A.java", java("@PreAuthorize(\"hasRole('ADMIN')\")\n@DeleteMapping(\"/a/{id}\")\n"
                    "public void drop(@PathVariable long id, Principal who) {\n  noteRepository.deleteById(id);\n}\n")),
    ("A.java", java("void f(InputStream in) throws Exception {\n"
                    "  DocumentBuilderFactory d = DocumentBuilderFactory.newInstance();\n"
                    "  d.setFeature(NO_DOCTYPE, true);\n  d.newDocumentBuilder().parse(in);\n}\n")),
    ("A.java", java("boolean f(A a, A b) {\n  return a.getB() != null && b.getB() != null;\n}\n")),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text"), RIGHT)
def test_code_that_looks_alike_is_left_alone(path: str, text: str) -> None:
    assert [f.rule for f in found(path, text)] == []


@pytest.mark.slow
def test_code_that_no_person_wrote_is_not_read_for_minutes() -> None:
    minified = "".join(f"function f{n}(a){{for(;;){{eval(a[{n}]+req.query.id)}}}}" for n in range(300))
    endless = "class A { void f() {\n" + "for (int i = 0; i < n; i++) { s += x.get(i); }\n" * 1500 + "}}\n"
    assert found("a.min.js", minified) == []
    assert len(found("A.java", endless)) < 10
