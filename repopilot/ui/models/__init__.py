"""The models in the browser: which there are, which one answers, what is being fetched."""
