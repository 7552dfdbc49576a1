# Makes, moves, exchanges and links names at random: seed, number of operations.
import ctypes, os, random, shutil, sys

dice = random.Random(int(sys.argv[1]))
libc = ctypes.CDLL(None)
ROOT = os.getcwd()
FOLDERS = ["a", "b", "c", "node_modules", ".venv", "target", ".vscode", ".github", "workflows", ".claude"]
FILES = ["x", ".npmrc", "tasks.json", ".mcp.json", "pyvenv.cfg", "CACHEDIR.TAG", ".travis.yml"]


def path():
    parts = [dice.choice(FOLDERS[:6] if dice.random() < 0.7 else FOLDERS) for _ in range(dice.randint(1, 3))]
    if dice.random() < 0.5:
        parts.append(dice.choice(FILES + FOLDERS))
    return "/".join(parts)


def text(place):
    other = path()
    kind = dice.randint(0, 3)
    if kind == 0:
        return ROOT + "/" + other
    if kind == 1:
        return os.path.relpath(other, os.path.dirname(place) or ".")
    if kind == 2:
        return dice.choice(["../", "./", "../../", "b/../"]) + other
    return other


def make(one, other):
    os.makedirs(one)


def write(one, other):
    os.makedirs(os.path.dirname(one) or ".", exist_ok=True)
    with open(one, "a") as file:
        file.write("EVIL")


def from_folder(one, other):
    folder = os.open(os.path.dirname(one) or ".", os.O_RDONLY)
    try:
        try:
            os.rename(os.path.dirname(one), other)
        except OSError:
            pass
        os.close(os.open(os.path.basename(one), os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    finally:
        os.close(folder)


def exchange(one, other):
    libc.renameat2(-100, one.encode(), -100, other.encode(), 2)


def remove(one, other):
    if one in ("a", "b", "node_modules", ".venv") and dice.random() < 0.8:
        return
    shutil.rmtree(one) if os.path.isdir(one) and not os.path.islink(one) else os.remove(one)


DOING = [
    make, make, write, write, write, write, exchange, from_folder, remove,
    lambda one, other: os.rename(one, other),
    lambda one, other: os.rename(one, other),
    lambda one, other: os.rename(one, os.path.join(other, os.path.basename(one))),
    lambda one, other: os.symlink(text(one), one),
    lambda one, other: os.symlink(text(one), one),
    lambda one, other: os.link(one, other, follow_symlinks=False),
]
for _ in range(int(sys.argv[2])):
    try:
        dice.choice(DOING)(path(), path())
    except (OSError, RecursionError, shutil.Error):
        pass
print("done")
