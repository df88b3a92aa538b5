"""What a model's code must hold to become a change: allowed files, syntax, nothing left out, its imports."""
