"""Takes resources from the program that runs it. Contained at: bwrap, landlock, limits."""
import os
import resource

from target import VICTIM


def attack():
    for act in (lambda: resource.prlimit(VICTIM, resource.RLIMIT_NOFILE, (3, 3)),
                lambda: os.sched_setaffinity(VICTIM, {0}),
                lambda: os.setpriority(os.PRIO_PROCESS, VICTIM, 19)):
        try:
            act()
            return True
        except OSError:
            continue
    return False
