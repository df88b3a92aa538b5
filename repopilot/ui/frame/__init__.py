"""What surrounds the chat: the list of chats, the line of health, the names that complete what is typed."""
