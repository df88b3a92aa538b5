"""A small repository about fruit trees, and one that is big by the settings of the browser tests."""

FILES = {
    "README.md": "# Orchard\n\nOrchard grows fruit trees. It waters them and picks what is ripe.\n",
    "orchard/__init__.py": "",
    "orchard/trees.py": (
        '"""Trees and what hangs on them."""\n\n\nclass Tree:\n    """One fruit tree."""\n\n'
        "    def __init__(self, kind):\n        self.kind = kind\n        self.fruit = []\n\n"
        '    def ripen(self, days):\n        """Let fruit grow for some days; a fruit needs ten."""\n'
        "        self.fruit += [self.kind] * (days // 10)\n\n\n"
        "def harvest(trees):\n"
        '    """Pick every ripe fruit from the trees and count it by kind."""\n'
        "    basket = {}\n    for tree in trees:\n        for kind in tree.fruit:\n"
        "            basket[kind] = basket.get(kind, 0) + 1\n        tree.fruit.clear()\n    return basket\n"
    ),
    "orchard/water.py": (
        '"""Watering."""\n\n\ndef litres(tree, degrees):\n    """Water for one tree on a day of so many degrees."""\n'
        "    return 2.5 if degrees > 25 else 1.0\n"
    ),
    "tests/test_trees.py": (
        "from orchard.trees import Tree, harvest\n\n\ndef test_harvest():\n    tree = Tree('pear')\n"
        "    tree.ripen(25)\n    assert harvest([tree]) == {'pear': 2}\n"
        # With eighteen tests a pass is verified by three runs, with one by ten.
        + "".join(f"\n\ndef test_{n}():\n    assert Tree({n}).kind == {n}\n" for n in range(17))
    ),
    "node_modules/left/index.js": "module.exports = 1\n",
    "logo.png": b"\x89PNG\r\n\x1a\n\x00\x00",
}
BIG = {
    f"{folder}/m{n}.py": "\n".join(f"def f{n}_{k}():\n    return {k}\n" for k in range(150))
    for folder in ("src", "docs", "examples")
    for n in range(3)
}
