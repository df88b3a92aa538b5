"""Files without content, which take memory of the kernel. Contained at: bwrap, landlock, limits."""
import os


def attack():
    folders = ["/tmp", "/dev/shm", os.environ["TMPDIR"]]
    for number in range(4_000_000):
        for folder in folders:
            try:
                os.close(os.open(f"{folder}/hostile-empty-{number}", os.O_CREAT | os.O_WRONLY))
            except OSError:
                folders.remove(folder)
                if not folders:
                    return False
                break
    return True
