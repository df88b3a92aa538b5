"""Where a file is cut into chunks: by structure, by section, or by lines."""
