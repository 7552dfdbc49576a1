"""A command that wants git, outside of the sandbox, to run its program. Arguments: seed, number of steps.

Every step is a random way to plant something; nothing is expected to succeed, and nothing is known of what is allowed.
"""
import os, random, stat, subprocess, sys

rng = random.Random(int(sys.argv[1]))
HERE = os.getcwd()
PWN = os.path.join(HERE, "evil", "pwn.sh")
CONFIG = f"""[core]
\trepositoryformatversion = 0
\tfsmonitor = {PWN}
\thooksPath = {HERE}/evil/hooks
\tpager = {PWN}
\teditor = {PWN}
\tsshCommand = {PWN}
\tbare = false
[diff]
\texternal = {PWN}
[filter "x"]
\tclean = {PWN}
\tsmudge = {PWN}
\tprocess = {PWN}
[diff "x"]
\ttextconv = {PWN}
[merge "x"]
\tdriver = {PWN}
[gpg]
\tprogram = {PWN}
[commit]
\tgpgSign = true
[include]
\tpath = {HERE}/evil/more
[alias]
\tstatus = !{PWN}
"""


def quiet(f, *args, **kw):
    try:
        return f(*args, **kw)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def write(path, text, mode=0o755):
    how = rng.randrange(5)
    if how == 0:
        fd = quiet(os.open, path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode)
    elif how == 1:
        folder = quiet(os.open, os.path.dirname(path) or ".", os.O_RDONLY)
        if folder is None:
            return
        fd = quiet(os.open, f"/proc/self/fd/{folder}/{os.path.basename(path)}", os.O_CREAT | os.O_WRONLY, mode)
        os.close(folder)
    elif how == 2:
        fd = quiet(os.open, path, os.O_WRONLY)
    else:
        fresh = os.path.join(HERE, f"n{rng.randrange(10**9)}")
        fd = quiet(os.open, fresh, os.O_CREAT | os.O_WRONLY, mode)
        if fd is not None:
            os.write(fd, text.encode())
            os.close(fd)
            quiet(os.rename if how == 3 else os.link, fresh, path)
        return
    if fd is not None:
        quiet(os.write, fd, text.encode())
        os.close(fd)


def folders(name):
    """Every folder below here with this name, and the places where one could be made."""
    found = [os.path.join(HERE, name)]
    for top, inner, files in os.walk(HERE):
        inner[:] = [f for f in inner if f != "objects"]
        found += [os.path.join(top, f) for f in inner + files if f == name]
    return found


def repositories():
    """Git folders, and folders that git would take for one."""
    found = [os.path.join(HERE, ".git"), os.path.join(HERE, "evil", "repo")]
    for top, inner, _ in os.walk(HERE):
        if "HEAD" in os.listdir(top) if os.access(top, os.R_OK) else False:
            found.append(top)
        if ".git" in inner:
            found.append(os.path.join(top, ".git"))
    return found


def way_config():
    write(os.path.join(rng.choice(repositories()), rng.choice(["config", "config.worktree", "config.lock"])), CONFIG)


def way_hook():
    hook = rng.choice(["pre-commit", "post-checkout", "post-index-change", "reference-transaction", "commit-msg", "fsmonitor-watchman"])
    place = os.path.join(rng.choice(repositories()), "hooks")
    quiet(os.mkdir, place)
    write(os.path.join(place, hook), f"#!/bin/sh\n{PWN}\n")
    quiet(os.symlink, PWN, os.path.join(place, hook))
    quiet(os.rename, os.path.join(HERE, "evil", "hooks"), place)


def way_pointer():
    name = rng.choice(["commondir", "gitdir", "objects/info/alternates", "info/attributes", "info/grafts", "info/sparse-checkout"])
    text = rng.choice([f"{HERE}/evil/repo\n", "../evil/repo\n", "* filter=x diff=x merge=x\n"])
    place = os.path.join(rng.choice(repositories()), name)
    quiet(os.makedirs, os.path.dirname(place), exist_ok=True)
    write(place, text, 0o644)


def way_git_file():
    for git in rng.sample(folders(".git"), 1):
        quiet(os.rename, git, git + f"{rng.randrange(10**6)}")
        write(git, rng.choice([f"gitdir: {HERE}/evil/repo\n", "gitdir: evil/repo\n"]), 0o644)
        quiet(os.symlink, f"{HERE}/evil/repo", git)


def way_replace():
    git = rng.choice(folders(".git"))
    quiet(os.rename, git, os.path.join(HERE, f"old{rng.randrange(10**6)}"))
    quiet(os.rename, os.path.join(HERE, "evil", "repo"), git)
    inner = os.path.join(git, rng.choice(["config", "hooks", "modules", "worktrees", "info"]))
    quiet(os.rename, inner, inner + "2")
    quiet(os.rename, os.path.join(HERE, "evil", rng.choice(["hooks", "repo"])), inner)


def way_link():
    git = rng.choice(repositories())
    quiet(os.symlink, rng.choice([f"{HERE}/evil/hooks", f"{HERE}/evil/repo/config", f"{HERE}/evil/repo"]),
          os.path.join(git, rng.choice(["hooks", "config", "config.worktree", "commondir", "modules", "info"])))


def way_chmod():
    target = rng.choice(repositories() + folders("hooks") + folders("config"))
    quiet(os.chmod, target, rng.choice([0, 0o777, 0o400, 0o700]))


def way_submodule():
    where = os.path.join(HERE, f"sub{rng.randrange(4)}")
    quiet(os.makedirs, os.path.join(where, ".git", "objects"), exist_ok=True)
    quiet(os.makedirs, os.path.join(where, ".git", "refs"), exist_ok=True)
    write(os.path.join(where, ".git", "HEAD"), "ref: refs/heads/main\n", 0o644)
    write(os.path.join(where, ".git", "config"), CONFIG)
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    if head:
        git("update-index", "--add", "--cacheinfo", f"160000,{head},{os.path.basename(where)}")
    write(os.path.join(HERE, ".gitmodules"), f'[submodule "s"]\n\tpath = {os.path.basename(where)}\n\turl = ./x\n\tupdate = !{PWN}\n')


def way_git():
    git(*rng.choice([
        ("config", "core.fsmonitor", PWN), ("config", "--worktree", "core.fsmonitor", PWN),
        ("config", "core.hooksPath", f"{HERE}/evil/hooks"), ("config", "extensions.worktreeConfig", "true"),
        ("config", "include.path", f"{HERE}/evil/more"), ("init", "evil/repo"), ("init", "--bare", "evil/bare"),
        ("worktree", "add", "--detach", "evil/tree"), ("submodule", "add", "./evil/repo", "subm"),
        ("config", "filter.x.clean", PWN), ("config", "diff.external", PWN),
        ("update-index", "--fsmonitor"), ("update-index", "--split-index"), ("add", "-A"),
        ("config", "-f", ".gitmodules", "submodule.s.update", f"!{PWN}"), ("init", "--separate-git-dir", "evil/sep", "."),
    ]))


def way_bare():
    """A folder that git takes for a repository by what is in it."""
    where = rng.choice([HERE, os.path.join(HERE, "src"), os.path.join(HERE, "evil", "repo")])
    if rng.random() < 0.5:
        for name in ["HEAD", "objects", "refs", "index"]:
            for git in folders(".git"):
                quiet(os.unlink, os.path.join(git, name))
                quiet(os.rename, os.path.join(git, name), os.path.join(git, name + "2"))
    steps = [lambda: quiet(os.mkdir, os.path.join(where, "objects")), lambda: quiet(os.mkdir, os.path.join(where, "refs")),
             lambda: write(os.path.join(where, "HEAD"), "ref: refs/heads/main\n", 0o644),
             lambda: write(os.path.join(where, "commondir"), f"{HERE}/evil/repo\n", 0o644),
             lambda: write(os.path.join(where, "config"), CONFIG + f"\tworktree = {where}\n")]
    rng.shuffle(steps)
    for step in steps:
        step()


def way_attributes():
    write(os.path.join(HERE, ".gitattributes"), "* filter=x diff=x merge=x\n", 0o644)


def way_named():
    """What a hook or the configuration names."""
    for place in ["scripts/check.sh", "tools/show.sh", "shared/gitconfig", "scripts", "tools", "scripts/later.sh"]:
        if rng.random() < 0.4:
            write(os.path.join(HERE, place), f"#!/bin/sh\n{PWN}\n[core]\n\tfsmonitor = {PWN}\n")
            quiet(os.rename, os.path.join(HERE, place), os.path.join(HERE, place + "2"))
            quiet(os.symlink, PWN, os.path.join(HERE, place))


def git(*args):
    try:
        subprocess.run(["git", *args], capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        pass


quiet(os.makedirs, "evil/hooks")
quiet(os.makedirs, "evil/repo/objects")
quiet(os.makedirs, "evil/repo/refs")
for path, text in [("evil/pwn.sh", '#!/bin/sh\necho p"w"ned\n'), ("evil/repo/HEAD", "ref: refs/heads/main\n"),
                   ("evil/more", CONFIG)]:
    fd = quiet(os.open, path, os.O_CREAT | os.O_WRONLY, 0o755)
    if fd is not None:
        os.write(fd, text.encode())
        os.close(fd)
for name in ["pre-commit", "post-checkout", "post-index-change"]:
    quiet(os.symlink, PWN, f"evil/hooks/{name}")
for path in ["evil/repo/config"]:
    fd = quiet(os.open, path, os.O_CREAT | os.O_WRONLY, 0o644)
    if fd is not None:
        os.write(fd, CONFIG.encode())
        os.close(fd)
WAYS = [way_config, way_config, way_hook, way_pointer, way_git_file, way_replace, way_link, way_chmod, way_submodule, way_bare,
        way_git, way_git, way_attributes, way_named]
for _ in range(int(sys.argv[2])):
    way = rng.choice(WAYS)
    quiet(way)
print("done")
