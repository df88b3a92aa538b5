"""Ask a question about a repository with LlamaIndex's query engine and a model of Ollama, and print its sources.

python docs/llamaindex_app.py /path/to/repository "what computes the total?" qwen2.5-coder:7b [ADDRESS OF OLLAMA]
"""

from __future__ import annotations

import sys

from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.llms.ollama import Ollama

from repopilot.llamaindex import RepositoryRetriever


def main() -> None:
    """Print one answer and the places it was made from."""
    source, question, model, *url = sys.argv[1:]
    address = url[0] if url else "http://127.0.0.1:11434"
    llm = Ollama(model, base_url=address, context_window=8192, request_timeout=600)
    with RepositoryRetriever(source, k=6) as retriever:
        answer = RetrieverQueryEngine.from_args(retriever, llm=llm).query(question)
    print(answer)
    for found in answer.source_nodes:
        place = found.metadata
        print(f"{place['path']}:{place['start_line']}-{place['end_line']} {place['symbol']} ({found.score:.2f})")


if __name__ == "__main__":
    main()
