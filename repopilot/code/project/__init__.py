"""What a project's own files say of it: manifests, their entries with lines, commands."""
