"""What a ranking adds up: the signals of passages, files and past commits, and their learned weights."""
