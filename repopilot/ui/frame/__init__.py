"""What surrounds the chat: the list of chats, the status line, the completion of names."""
