"""Values in code and in configurations: what a task says they become, where they stand, and setting them."""
