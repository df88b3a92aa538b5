import chainlit as cl

@cl.on_chat_start
async def start():
    await cl.Message(content="hello ![x](https://example.com/x.png)").send()

@cl.on_message
async def msg(m):
    await cl.Message(content="echo "+m.content).send()
from chainlit import server
from repopilot.ui.page import install
from repopilot.ui.security import allowed_hosts
install(server, allowed_hosts("127.0.0.1"))
