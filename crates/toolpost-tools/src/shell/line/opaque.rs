//! Programs that run others in ways that are not read: shells, editors, tracers, containers, and those that change what a
//! program may do.

#[rustfmt::skip]
pub(super) const OPAQUE: &[&str] = &[
    "abduco", "anacron", "at", "austin", "batch", "bear", "bpftrace", "busybox", "bwrap", "caffeinate",
    "capsh", "catatonit", "catchsegv", "ccache", "cgexec", "choom", "chpst", "chronic", "chroot", "chrt",
    "concurrently", "coreutils", "cpulimit", "cron", "crontab", "cross-env", "cross-env-shell", "csh",
    "daemon", "daemonize", "dbus-run-session", "dc", "direnv", "distcc", "distrobox", "dotenv", "dotenvx", "dtach",
    "dumb-init", "eatmydata", "ed", "elvish", "emacs", "entr", "envdir", "ex", "expect", "fakechroot",
    "fakeroot", "faketime", "firejail", "fish", "flatpak", "foreman", "gdb", "gdbserver", "gksu", "gnuplot", "gosu",
    "gvim", "honcho", "hyperfine", "i386", "ifne", "inetd", "intercept-build", "kdesu", "ksh", "linux32",
    "linux64", "lldb", "logsave", "ltrace", "m4", "machinectl", "memusage", "mispipe", "mksh", "mosh", "mpiexec",
    "mpirun", "mtrace", "multitime", "nano", "newgrp", "nix", "nix-shell", "nodemon", "nsenter", "nsjail",
    "nu", "numactl", "nvim", "open", "orterun", "osh", "parallel", "pee", "perf", "pico", "pidproxy", "pkexec",
    "posh", "prlimit", "proot", "proxychains", "proxychains4", "pwsh", "py-spy", "rbash", "red", "reflex",
    "rlwrap", "rr", "rsh", "run-parts", "run0", "runuser", "rview", "rvim", "scalene", "scan-build", "sccache",
    "screen", "script", "sem", "setarch", "setpriv", "setuidgid", "sg", "slogin", "socat", "softlimit", "srun",
    "ssh-agent", "ssh-copy-id", "sshpass", "start-stop-daemon", "strace", "stunnel", "su", "su-exec", "sysdig",
    "systemd-cat", "systemd-inhibit", "systemd-nspawn", "systemd-run", "taskset", "tcpserver", "tcsh", "tini",
    "tmux", "toolbox", "torsocks", "toybox", "trickle", "tsocks", "uftrace", "uname26", "unbuffer", "unshare",
    "valgrind", "vi", "view", "vim", "vimdiff", "vimtutor", "watchexec", "x86_64", "xdg-open", "xdotool",
    "xonsh", "xterm", "xvfb-run", "yash", "zellij", "zrun", "zsh",
];
