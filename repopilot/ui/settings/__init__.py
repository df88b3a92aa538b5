"""The settings of a chat: the form, and how it is offered and applied."""
