"""Answer what a change would touch."""
