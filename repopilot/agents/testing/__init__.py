"""Run and write tests in the sandbox, and repair code that fails them."""
