"""Changes to files: shown as diffs, decided on by hunk, written to the folder, downloaded."""
