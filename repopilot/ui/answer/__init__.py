"""An answer in the chat: its steps, text, citations and files."""
