"""What belongs to a definition: its annotations, decorators, bases and documentation."""
