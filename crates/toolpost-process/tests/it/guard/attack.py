"""Tries to create names that are not allowed, in many spellings and by every call there is.

Arguments: seed, number of tries. Runs inside the sandbox, in the workspace. Knows nothing of how names are judged.
"""
import ctypes, os, random, socket, stat, sys, threading

seed, tries = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)
libc = ctypes.CDLL(None, use_errno=True)
HERE = os.getcwd()
AT_FDCWD = -100
SYS = {"openat2": 437, "renameat2": 316, "linkat": 265, "open": 2, "creat": 85, "mkdir": 83, "mknod": 133,
       "symlink": 88, "link": 86, "rename": 82, "openat": 257, "mkdirat": 258, "mknodat": 259, "symlinkat": 266,
       "renameat": 264}

CLOSED = [".mcp.json", ".envrc", ".bashrc", ".claude", ".claude/settings.json", ".git/hooks/pre-commit",
          ".git/commondir", ".git/config.worktree", ".git/modules/a/config", ".git/modules/a/b/hooks/x",
          ".vscode/tasks.json", ".toolpost/config.toml", "sub/.git/config", "sub/.mcp.json", "deep/er/.claude/x",
          "a.code-workspace", ".gitmodules", "migrations/002.sql", "migrations/deep/3", "src/gen/locked.txt"]
HOME = os.path.expanduser("~")
IN_HOME = [".bash_profile", ".bashrc", ".gitconfig", ".npmrc"]


def case(name):
    if rng.random() < 0.15 and not name.startswith(("migrations", "src")):
        return "".join(c.upper() if rng.random() < 0.5 else c for c in name)
    return name


def call(name, *args):
    return libc.syscall(SYS[name], *args)


def quiet(f, *args, **kw):
    try:
        return f(*args, **kw)
    except OSError:
        return None


def fd_of(path):
    return quiet(os.open, path, os.O_RDONLY | os.O_DIRECTORY)


counter = 0


def fresh(prefix="n"):
    global counter
    counter += 1
    return f"{prefix}{seed}_{counter}"


def spell(folder):
    """Another way to say an absolute folder; returns path and descriptors to close."""
    kind = rng.randrange(14)
    if kind == 0:
        return folder
    if kind == 1:
        return os.path.relpath(folder) or "."
    if kind == 2:
        return "/proc/self/cwd/" + os.path.relpath(folder, HERE)
    if kind == 3:
        return f"/proc/{os.getpid()}/cwd/" + os.path.relpath(folder, HERE)
    if kind == 4:
        return "/proc/thread-self/cwd/" + os.path.relpath(folder, HERE)
    if kind == 5:
        return "/proc/self/root" + folder
    if kind in (6, 7):
        fd = fd_of(folder)
        if fd is None:
            return folder
        keep.append(fd)
        return (f"/dev/fd/{fd}", f"/proc/self/fd/{fd}")[kind - 6]
    if kind in (8, 9):
        target = folder
        for _ in range(rng.randrange(1, 6)):
            link = (os.path.join("/tmp", fresh("l")) if kind == 8 else os.path.join(HERE, fresh("l")))
            quiet(os.symlink, target, link)
            target = link
        return target
    if kind == 10:
        return folder + "/./" + "sub/.." * 1 if os.path.isdir(folder + "/sub") else folder + "/."
    if kind == 11:
        return "//" + folder.replace("/", "//")
    if kind == 12:
        fd = fd_of("/")
        keep.append(fd)
        return f"/proc/self/fd/{fd}{folder}"
    return f"/proc/self/task/{threading.get_native_id()}/cwd/" + os.path.relpath(folder, HERE)


def tail():
    return "/" * rng.choice([0, 0, 0, 1, 2, 3])


def path_to(target):
    folder, name = os.path.split(target)
    return spell(folder) + "/" + name


def try_open(target):
    flags = os.O_CREAT | rng.choice([os.O_WRONLY, os.O_RDWR, os.O_RDONLY]) | rng.choice([0, os.O_EXCL, os.O_TRUNC, os.O_APPEND])
    fd = quiet(os.open, path_to(target), flags, 0o644)
    if fd is not None:
        os.close(fd)


def try_creat(target):
    fd = call("creat", path_to(target).encode(), 0o644)
    if fd >= 0:
        os.close(fd)


def try_at(target):
    folder, name = os.path.split(target)
    fd = fd_of(folder)
    if fd is None:
        return
    got = quiet(os.open, rng.choice([name, "./" + name, "../" + os.path.basename(folder) + "/" + name]),
                os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=fd)
    if got is not None:
        os.close(got)
    os.close(fd)


def try_openat2(target):
    folder, name = os.path.split(target)
    fd = fd_of(folder)
    if fd is None:
        return
    resolve = rng.choice([0, 0x10, 0x08, 0x04, 0x01, 0x18])
    how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o644, resolve)
    spelled = ("/" + name) if resolve & 0x10 else rng.choice([name, "./" + name])
    got = call("openat2", fd, spelled.encode(), ctypes.byref(how), 24)
    if got >= 0:
        os.close(got)
    os.close(fd)


def try_mkdir(target):
    quiet(os.mkdir, path_to(target) + tail())


def try_ready_made(target):
    """A folder that was filled elsewhere takes a closed place, or one on the way to it."""
    parts = os.path.relpath(target, HERE).split("/")
    cut = rng.randrange(1, len(parts) + 1)
    place, rest = os.path.join(HERE, *parts[:cut]), parts[cut:]
    made = os.path.join(HERE, fresh("ev"))
    if rest:
        quiet(os.makedirs, os.path.join(made, *rest[:-1]), exist_ok=True)
    if rest:
        fd = quiet(os.open, os.path.join(made, *rest), os.O_CREAT | os.O_WRONLY, 0o644)
        if fd is not None:
            os.close(fd)
    else:
        quiet(os.mkdir, made)
    how = rng.randrange(4)
    if how == 0:
        quiet(os.rename, made + tail(), path_to(place) + tail())
    elif how == 1:
        call("renameat2", AT_FDCWD, made.encode(), AT_FDCWD, (path_to(place) + tail()).encode(), rng.choice([0, 1]))
    elif how == 2:
        quiet(os.mkdir, place)
        call("renameat2", AT_FDCWD, made.encode(), AT_FDCWD, path_to(place).encode(), 2)
    else:
        quiet(os.symlink, made, path_to(place))


def try_rename(target):
    source = fresh("s")
    fd = quiet(os.open, source, os.O_CREAT | os.O_WRONLY, 0o644)
    if fd is not None:
        os.close(fd)
    quiet(os.rename, source, path_to(target) + tail())


def try_exchange(target):
    one = fresh("s")
    fd = quiet(os.open, one, os.O_CREAT | os.O_WRONLY, 0o644)
    if fd is not None:
        os.close(fd)
    call("renameat2", AT_FDCWD, path_to(target).encode(), AT_FDCWD, one.encode(), 2)


def try_link(target):
    quiet(os.link, "c", path_to(target))
    fd = os.open("c", os.O_RDONLY)
    call("linkat", AT_FDCWD, f"/proc/self/fd/{fd}".encode(), AT_FDCWD, path_to(target).encode(), 0x400)
    call("linkat", fd, b"", AT_FDCWD, path_to(target).encode(), 0x1000)
    os.close(fd)


def try_tmpfile(target):
    fd = quiet(os.open, ".", os.O_TMPFILE | os.O_RDWR, 0o644)
    if fd is None:
        return
    call("linkat", AT_FDCWD, f"/proc/self/fd/{fd}".encode(), AT_FDCWD, path_to(target).encode(), 0x400)
    os.close(fd)


def try_symlink(target):
    quiet(os.symlink, rng.choice(["c", "/tmp", ".", "nowhere"]), path_to(target) + tail())


def try_through_link(target):
    link = os.path.join(rng.choice([HERE, "/tmp"]), fresh("l"))
    quiet(os.symlink, rng.choice([target, os.path.relpath(target, os.path.dirname(link))]), link)
    fd = quiet(os.open, link, os.O_CREAT | os.O_WRONLY, 0o644)
    if fd is not None:
        os.close(fd)
    quiet(os.mkdir, link + "/")


def try_mknod(target):
    quiet(os.mknod, path_to(target), rng.choice([stat.S_IFREG, stat.S_IFIFO, stat.S_IFSOCK]) | 0o644)


def try_socket(target):
    folder, name = os.path.split(target)
    s = socket.socket(socket.AF_UNIX)
    try:
        s.bind(path_to(target) if rng.random() < 0.5 else os.path.relpath(target))
    except OSError:
        pass
    s.close()


def try_race(target):
    """Two threads: one swaps the path in memory while the other makes the call."""
    good = os.path.join(HERE, fresh("g")).encode()
    bad = target.encode()
    size = max(len(good), len(bad)) + 1
    buffer = ctypes.create_string_buffer(good, size)
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            ctypes.memmove(buffer, bad + b"\0", len(bad) + 1)
            ctypes.memmove(buffer, good + b"\0", len(good) + 1)

    thread = threading.Thread(target=swap)
    thread.start()
    for _ in range(40):
        fd = call("open", buffer, os.O_CREAT | os.O_WRONLY, 0o644)
        if fd >= 0:
            os.close(fd)
        call("mkdir", buffer, 0o755)
    stop.set()
    thread.join()


def try_swapped_folder(target):
    """The folder is exchanged for a link while names are created in it."""
    folder, name = os.path.split(target)
    place, link = os.path.join(HERE, fresh("d")), os.path.join(HERE, fresh("l"))
    quiet(os.mkdir, place)
    quiet(os.symlink, folder, link)
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            call("renameat2", AT_FDCWD, place.encode(), AT_FDCWD, link.encode(), 2)

    thread = threading.Thread(target=swap)
    thread.start()
    for _ in range(30):
        fd = quiet(os.open, place + "/" + name, os.O_CREAT | os.O_WRONLY, 0o644)
        if fd is not None:
            os.close(fd)
        quiet(os.rename, place + "/" + name, place + "/x")
    stop.set()
    thread.join()


def try_move_marked(target):
    """What is locked or hidden, or a folder above it, moves away or is replaced."""
    marked = rng.choice(["app", "app/.env", ".aws", ".aws/credentials", ".git", ".git/config", ".git/hooks", "link"])
    to = rng.choice([fresh("m"), "\udcff" + fresh("m"), fresh(".m")])
    how = rng.randrange(4)
    if how == 0:
        quiet(os.rename, path_to(os.path.join(HERE, marked)), to)
    elif how == 1:
        quiet(os.mkdir, to)
        call("renameat2", AT_FDCWD, marked.encode(), AT_FDCWD, os.fsencode(to), 2)
    elif how == 2:
        quiet(os.link, marked, to)
    else:
        fd = quiet(os.open, to, os.O_CREAT | os.O_WRONLY, 0o644)
        if fd is not None:
            os.close(fd)
        quiet(os.rename, to, marked)
        quiet(os.unlink, marked)
        quiet(os.chmod, marked, 0o777)


WAYS = [try_open, try_creat, try_at, try_openat2, try_mkdir, try_ready_made, try_rename, try_exchange, try_link,
        try_tmpfile, try_symlink, try_through_link, try_mknod, try_socket, try_race, try_swapped_folder,
        try_move_marked]

keep = []
for folder in ["sub", "sub/.git", "deep/er", ".git/modules/a/b", "migrations", "src/gen", ".vscode"]:
    quiet(os.makedirs, folder, exist_ok=True)
for _ in range(tries):
    way = rng.choice(WAYS)
    if way in (try_race, try_swapped_folder) and rng.random() < 0.8:
        way = try_open
    if rng.random() < 0.15:
        target = os.path.join(HOME, rng.choice(IN_HOME))
    else:
        target = os.path.join(HERE, case(rng.choice(CLOSED)))
    way(target)
    for fd in keep:
        quiet(os.close, fd)
    keep.clear()
for name in IN_HOME:
    if os.path.lexists(os.path.join(HOME, name)):
        print("in the home folder:", name)
print("done")
