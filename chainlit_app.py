"""RepoPilot in the browser: Chainlit's handlers. Everything they do is in repopilot/ui.

`python -m repopilot serve` and `chainlit run chainlit_app.py` both come through here, so the guards against other
websites and other accounts are installed here.
"""

import chainlit as cl
from chainlit import server
from chainlit.config import config

from repopilot.api.application import PREFIX, api
from repopilot.background import start_task
from repopilot.logins.callers import Callers
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.ui.actions import HANDLERS, handle_action
from repopilot.ui.chat import Process, current_chat
from repopilot.ui.conversation import greet, receive, stop
from repopilot.ui.frame.routes import install_frame, mount
from repopilot.ui.server import page, security
from repopilot.ui.server.access import install_access
from repopilot.ui.server.launch import Served, announce, launch, open_window, withdraw
from repopilot.ui.server.lifecycle import end_soon, warm_up
from repopilot.ui.server.login import install_login
from repopilot.ui.settings.settings_panel import apply

settings = Settings()
process = Process(Runtime(settings))
run = config.run
started = launch(settings, Served(run.host, run.port, "https" if run.ssl_cert else "http", run.root_path))
install_access(server.app, started.rule)
page.install(server, security.allowed_hosts(settings.host, settings.allowed_hosts), settings.language)
install_frame(server, process)
# If the page is open to everyone without a login, the API needs no token either, unless the user has set one.
is_open = settings.access == "open" and not settings.login
callers = Callers(settings, settings.access_token if is_open else started.rule.token)
mount(server, PREFIX, api(process.runtime, callers))
install_login(callers)
# Chainlit would open the address without its token.
wants_window, run.headless = not run.headless, True


@cl.on_app_startup
async def on_app_startup():
    announce(started)
    warm_up(process)
    if wants_window:
        start_task(open_window(started))


@cl.on_app_shutdown
async def on_app_shutdown():
    withdraw(started)
    end_soon()
    process.runtime.close()


@cl.on_chat_start
async def on_chat_start():
    await greet(current_chat(process))


@cl.on_message
async def on_message(message: cl.Message):
    await receive(current_chat(process), message)


@cl.on_stop
async def on_stop():
    stop(current_chat(process))


@cl.on_settings_update
async def on_settings_update(values: dict):
    await apply(current_chat(process), values)


async def on_action(action: cl.Action):
    return await handle_action(current_chat(process), action)


for name in HANDLERS:
    cl.action_callback(name)(on_action)
