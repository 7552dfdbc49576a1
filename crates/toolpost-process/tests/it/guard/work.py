"""Ordinary and odd file operations; prints what each returned. The same seed gives the same output everywhere.

Arguments: seed, number of operations. Run in and out of the sandbox, the two outputs are compared.
"""
import ctypes, errno, os, random, socket, stat, sys, threading

rng = random.Random(int(sys.argv[1]))
libc = ctypes.CDLL(None, use_errno=True)
NAMES = ["a", "b", "c1", "d e", "\udcfe", "x.txt", "y"]
os.mkdir("play")
os.chdir("play")
folders = ["."]


def name():
    return rng.choice(NAMES)


def path():
    p = "/".join([rng.choice(folders)] + [name()])
    return p + rng.choice(["", "", "", "", "/", "//", "/.", "/.."])


def shown(p):
    try:
        s = os.lstat(p)
        return f"{stat.S_IFMT(s.st_mode):o} {s.st_mode & 0o7777:o} {s.st_nlink if not stat.S_ISDIR(s.st_mode) else 0} {s.st_size if stat.S_ISREG(s.st_mode) else 0}"
    except OSError as e:
        return errno.errorcode[e.errno]


# The flag for large files and the one against links are left out of what is compared: the guard always sets them.
def raw(number, *args):
    r = libc.syscall(number, *args)
    if r < 0:
        raise OSError(ctypes.get_errno(), "")
    return r


def do_open():
    flags = rng.choice([os.O_RDONLY, os.O_WRONLY, os.O_RDWR]) | os.O_CREAT | os.O_NONBLOCK
    for extra in [os.O_EXCL, os.O_TRUNC, os.O_APPEND, os.O_NOFOLLOW, os.O_CLOEXEC]:
        if rng.random() < 0.25:
            flags |= extra
    p, mode = path(), rng.choice([0o644, 0o600, 0o777, 0o1666, 0])
    fd = os.open(p, flags, mode)
    import fcntl
    got = (fcntl.fcntl(fd, fcntl.F_GETFL) & ~0o500000, fcntl.fcntl(fd, fcntl.F_GETFD), os.get_inheritable(fd))
    if flags & 3:
        os.write(fd, b"text")
    os.close(fd)
    return p, got


def do_open_wait():
    # Without O_NONBLOCK; never on a pipe, where it would wait.
    p = path()
    if not stat.S_ISFIFO(os.stat(p).st_mode if os.path.exists(p) else 0):
        import fcntl
        fd = os.open(p, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
        got = fcntl.fcntl(fd, fcntl.F_GETFL)
        os.close(fd)
        return p, got & ~0o500000
    return p, None


def do_mkdir():
    p = path()
    os.mkdir(p, rng.choice([0o755, 0o700, 0o1777, 0o2755]))
    if len(folders) < 12:
        folders.append(p.rstrip("/."))
    return p, None


def do_mknod():
    p = path()
    os.mknod(p, rng.choice([stat.S_IFREG, stat.S_IFIFO, 0]) | 0o644)
    return p, None


def do_symlink():
    p = path()
    os.symlink(rng.choice([name(), "../" + name(), "nowhere/x", ".", "/proc/self/cwd/" + name()]), p)
    return p, None


def do_link():
    p = path()
    raw(265, -100, os.fsencode(path()), -100, os.fsencode(p), rng.choice([0, 0x400, 0x999]))
    return p, None


def do_rename():
    one, two = path(), path()
    flags = rng.choice([0, 0, 0, 1, 2, 3, 8])
    raw(316, -100, os.fsencode(one), -100, os.fsencode(two), flags)
    return two, shown(one)


def do_tmpfile():
    p = path()
    fd = os.open(rng.choice(folders), os.O_TMPFILE | os.O_RDWR, 0o640)
    try:
        raw(265, -100, f"/proc/self/fd/{fd}".encode(), -100, os.fsencode(p), 0x400)
    finally:
        os.close(fd)
    return p, None


def do_at():
    fd = os.open(rng.choice(folders), os.O_RDONLY)
    try:
        inner = os.open(name(), os.O_CREAT | os.O_RDWR | os.O_NONBLOCK, 0o644, dir_fd=fd)
        os.close(inner)
        os.mkdir(name(), dir_fd=fd)
    finally:
        os.close(fd)
    return ".", None


def do_bad():
    kind = rng.randrange(6)
    if kind == 0:
        raw(257, -100, ctypes.c_void_p(8), os.O_CREAT | os.O_WRONLY, 0o644)
    elif kind == 1:
        raw(257, 999, b"x", os.O_CREAT | os.O_WRONLY, 0o644)
    elif kind == 2:
        raw(257, -100, b"n" * 5000, os.O_CREAT | os.O_WRONLY, 0o644)
    elif kind == 3:
        raw(257, -100, b"", os.O_CREAT | os.O_WRONLY, 0o644)
    elif kind == 4:
        raw(257, -100, b"n" * 300, os.O_CREAT | os.O_WRONLY, 0o644)
    else:
        raw(83, b"/", 0o755)
    return ".", None


def do_umask():
    os.umask(rng.choice([0o022, 0o077, 0, 0o027]))
    return do_open()


def do_chdir():
    os.chdir(rng.choice(folders))
    try:
        return do_open()
    finally:
        os.chdir(TOP)


def do_thread():
    result = []

    def work():
        try:
            result.append(do_open())
        except OSError as e:
            result.append((errno.errorcode[e.errno], None))

    t = threading.Thread(target=work)
    t.start()
    t.join()
    return result[0][0] if result[0][1] else ".", None


def do_fork():
    child = os.fork()
    if child == 0:
        try:
            os.umask(0o077)
            do_open()
            os._exit(0)
        except OSError as e:
            os._exit(e.errno % 200)
    return ".", os.waitpid(child, 0)[1]


def do_socket():
    p = name() + "s"
    s = socket.socket(socket.AF_UNIX)
    try:
        s.bind(p)
    finally:
        s.close()
    return p, None


def do_fd_path():
    p = name()
    fd = os.open(p, os.O_CREAT | os.O_RDWR | os.O_NONBLOCK, 0o644)
    try:
        again = os.open(f"/dev/fd/{fd}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_NONBLOCK, 0o644)
        os.write(again, b"12")
        os.close(again)
        os.close(os.open("/dev/null", os.O_CREAT | os.O_WRONLY | os.O_TRUNC))
    finally:
        os.close(fd)
    return p, None


TOP = os.getcwd()
WAYS = [do_open] * 6 + [do_open_wait, do_mkdir, do_mkdir, do_mknod, do_symlink, do_link, do_link, do_rename, do_rename,
        do_tmpfile, do_at, do_bad, do_umask, do_chdir, do_thread, do_fork, do_socket, do_fd_path]
for i in range(int(sys.argv[2])):
    way = rng.choice(WAYS)
    try:
        p, more = way()
        line = f"{ascii(p)} {shown(p)} {more}"
    except OSError as e:
        line = f"{errno.errorcode.get(e.errno, str(e.errno))} {ascii(e.filename)}"
    print(i, way.__name__, line)
print("done")
