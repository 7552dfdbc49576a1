"""Tries to write into the file of the records by every descriptor that may lead there."""
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)
own = os.getpid()


def forge(fd):
    for write in (lambda: os.write(fd, b"FORGED"), lambda: os.pwrite(fd, b"FORGED", 0), lambda: os.ftruncate(fd, 0)):
        try:
            write()
        except OSError:
            pass


# Inherited.
for fd in range(3, 64):
    forge(fd)

# Those of the first process, and of all others.
for pid in ["1", "self", "thread-self", str(os.getppid())] + [p for p in os.listdir("/proc") if p.isdigit()]:
    for folder in (f"/proc/{pid}/fd", f"/proc/{pid}/task/{pid}/fd", f"/proc/{pid}/map_files"):
        names = [str(n) for n in range(64)]
        try:
            names += os.listdir(folder)
        except OSError:
            pass
        for name in dict.fromkeys(names):
            if pid in ("self", "thread-self", str(own)) and name in ("0", "1", "2"):
                continue
            for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_WRONLY | os.O_APPEND, os.O_RDONLY):
                try:
                    fd = os.open(f"{folder}/{name}", flags | os.O_NONBLOCK)
                except OSError:
                    continue
                try:
                    target = os.readlink(f"/proc/self/fd/{fd}")
                except OSError:
                    target = ""
                # The pipe of our own output leads to the test, not to the records.
                if "spool" in target or not target.startswith(("pipe:", "/dev/")):
                    forge(fd)
                    try:
                        again = os.open(f"/proc/self/fd/{fd}", os.O_WRONLY)
                        forge(again)
                        os.close(again)
                    except OSError:
                        pass
                os.close(fd)

# By a copy of the descriptor, and by the memory of the first process.
for pid in range(1, 6):
    pidfd = libc.syscall(434, pid, 0)
    if pidfd >= 0:
        for number in range(64):
            copy = libc.syscall(438, pidfd, number, 0)
            if copy >= 0 and pid != own:
                forge(copy)
    for name in ("mem", "environ", "auxv"):
        try:
            open(f"/proc/{pid}/{name}", "r+b").close()
            if pid == 1:
                print("memory of the first process was opened")
        except OSError:
            pass
    if libc.ptrace(16, pid, 0, 0) == 0:
        print("traced")
print("tried")
