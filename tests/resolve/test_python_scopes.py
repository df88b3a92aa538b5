"""Which class a member belongs to, by the method that it stands in."""

from __future__ import annotations

import pytest

from repopilot.resolve.python_scopes import python_names


def owners(code: str, name: str) -> list[str]:
    """The class of each occurrence of a name, '' for none."""
    found = (one.member_of for one in python_names(code, name))
    return [owner.qualified if owner is not None else "" for owner in found]


@pytest.mark.parametrize(
    ("decorators", "owner"),
    [
        ("", "Box"),
        ("@property\n    ", "Box"),
        ("@classmethod\n    ", "Box"),
        ("@marked('staticmethod')\n    ", "Box"),
        ("@staticmethod\n    ", ""),
        ("@builtins.staticmethod\n    ", ""),
        ("@staticmethod  # plain\n    # more\n    @cache\n    ", ""),
        ("@cache\n    @staticmethod\n    ", ""),
    ],
)
@pytest.mark.parametrize("first", ["", "@staticmethod\n    def made(): ...\n    ", "made = staticmethod(len)\n    "])
def test_the_own_decorators_of_a_method_say_whether_its_first_parameter_is_the_object(first, decorators, owner):
    code = f"class Box:\n    {first}{decorators}def of(it):\n        return it.size\n"
    assert owners(code, "size") == [owner]


def test_a_function_within_a_static_method_and_a_class_below_one_have_their_own():
    code = """\
@staticmethod
def made(it):
    class Box:
        @staticmethod
        def new(it):
            class Inner:
                def of(self):
                    return self.size
            return it.size
        def of(self):
            return self.size
"""
    assert owners(code, "size") == ["made.Box.new.Inner", "", "made.Box"]
