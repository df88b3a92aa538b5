"""Which rules of ruff a repository has chosen."""

import pytest

from repopilot.project.ruff_options import chosen_rules


@pytest.mark.parametrize(
    ("configs", "chosen", "others"),
    [
        ({}, "", "F401 E741 PLR0913"),
        ({"pyproject.toml": "[tool.black]\nline-length = 100\n"}, "", "F401"),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 100\n"}, "F401 E741 E902", "E101 PLR0913 B006"),
        ({"pyproject.toml": '[tool.ruff.lint]\nselect = ["PL"]\nignore = ["PLR0913"]\n'}, "PLW0108", "PLR0913 F401"),
        ({"ruff.toml": 'extend-select = ["PT015"]\n'}, "PT015 F841", "PT011"),
        ({"ruff.toml": '[lint]\nselect = ["ALL"]\nextend-ignore = ["D"]\n'}, "PLR0913 C901", "D100"),
        ({"ruff.toml": 'select = ["E"]\n', "pyproject.toml": '[tool.ruff]\nselect = ["ALL"]\n'}, "E501", "F401"),
        ({"ruff.toml": "[lint\nselect"}, "", "F401"),
        ({"ruff.toml": "[lint]\nselect = 3\n"}, "", "F401"),
    ],
)  # fmt: skip
def test_what_a_repository_chose(configs, chosen, others):
    rules = chosen_rules(configs)
    assert all(rule in rules for rule in chosen.split())
    assert not any(rule in rules for rule in others.split())
