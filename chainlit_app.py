"""RepoPilot in the browser: Chainlit's handlers. Everything they do is in repopilot/ui.

`python -m repopilot serve` and `chainlit run chainlit_app.py` both come through here, so the guard against other
websites is installed here.
"""

import chainlit as cl
from chainlit import server

from repopilot.settings import settings
from repopilot.ui.actions import HANDLERS, handle_action
from repopilot.ui.conversation import greet, receive, stop
from repopilot.ui.server import page, security
from repopilot.ui.server.lifecycle import cancel_after_disconnect, warm_up
from repopilot.ui.settings_panel import apply

page.install(server, security.allowed_hosts(settings().host, settings().allowed_hosts), settings().language)


@cl.on_app_startup
async def on_app_startup():
    warm_up()


@cl.on_chat_start
async def on_chat_start():
    await greet()


@cl.on_message
async def on_message(message: cl.Message):
    await receive(message)


@cl.on_stop
async def on_stop():
    stop()


@cl.on_chat_end
async def on_chat_end():
    cancel_after_disconnect(cl.context.session)


@cl.on_settings_update
async def on_settings_update(values: dict):
    await apply(values)


for name in HANDLERS:
    cl.action_callback(name)(handle_action)
