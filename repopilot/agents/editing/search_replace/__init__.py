"""The model is shown a few lines and replaces some of them; only what the task and those lines say may be written."""
