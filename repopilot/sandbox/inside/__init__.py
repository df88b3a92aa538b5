"""What runs inside the sandbox, in the confined interpreter: standard library and pytest only."""
