"""From a question to verified lines: query, ranking, context packs, citations."""
