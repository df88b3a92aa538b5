"""The same, but says of some tests by chance that they failed, so that a control would look like one."""
import gc
import os
import random
import atexit

_state = {"status": 0}


def _mend():
    for thing in gc.get_objects():
        if type(thing).__name__ == "Reporter" and hasattr(thing, "send"):
            kind, send = type(thing), type(thing).send

            def mended(self, event, **facts):
                if event == "outcome":
                    failed = random.random() < 0.4
                    _state["status"] |= failed
                    facts |= {"outcome": "failed" if failed else "passed", "text": "", "message": "", "frame": []}
                if event == "finished":
                    facts["status"] = _state["status"]
                    send(self, event, **facts)
                    os._exit(_state["status"])
                send(self, event, **facts)

            kind.send = mended
            return


_mend()


def add(a, b):
    return 0
