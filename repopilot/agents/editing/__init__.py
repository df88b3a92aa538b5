"""Turn a task into changed and new files: which ones, what the model writes, what code corrects."""
