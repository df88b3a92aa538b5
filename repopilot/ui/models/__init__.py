"""The models in the browser: which are available, which one answers, which one is being fetched."""
