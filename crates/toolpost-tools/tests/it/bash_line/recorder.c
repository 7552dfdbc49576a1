/*
 * Runs command lines in bash and records every program that starts, with all of its arguments.
 *
 *   recorder run ROOT LINES COUNT
 *
 * runs each of COUNT lines (in LINES, each ended by a NUL) in namespaces of its own, with ROOT as its root folder, and
 * leaves what ran in ROOT/log/NUMBER, and files that came to be in its home as programs of that path. Under any other name the program is one that ran: it appends its path, its folder
 * and its arguments to /log/now, becomes /real/NAME if there is such a program, and otherwise prints its name and ends.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what) {
    perror(what);
    exit(99);
}

static void put(const char *path, const char *text) {
    int file = open(path, O_WRONLY);
    if (file < 0 || write(file, text, strlen(text)) < 0) fail(path);
    close(file);
}

/* One record: its length in 4 bytes, then the path, the folder and the arguments, each ended by a NUL. */
static void record(const char *path, int count, char **arguments) {
    static char text[1 << 20];
    size_t length = 4;
    char folder[4096];
    if (!getcwd(folder, sizeof folder)) strcpy(folder, "?");
    for (int at = -2; at < count; at++) {
        const char *part = at == -2 ? path : at == -1 ? folder : arguments[at];
        size_t more = strlen(part) + 1;
        if (length + more > sizeof text) break;
        memcpy(text + length, part, more);
        length += more;
    }
    uint32_t size = (uint32_t)(length - 4);
    memcpy(text, &size, 4);
    int log = open("/log/now", O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (log < 0 || write(log, text, length) != (ssize_t)length) _exit(98);
    close(log);
}

static int be_program(int count, char **arguments) {
    const char *path = (const char *)getauxval(AT_EXECFN);
    record(path, count, arguments);
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char real[256];
    snprintf(real, sizeof real, "/real/%s", name);
    execv(real, arguments);
    printf("%s\n", name);
    unsigned sum = 0;
    for (const char *letter = name; *letter; letter++) sum += (unsigned char)*letter;
    return sum % 5 == 0;
}

/* The first process of a line's namespaces: ends when everything that the line started has. */
static void first(const char *line) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) fail("private");
    mount("proc", "/proc", "proc", 0, NULL);
    if (mount("work", "/work", "tmpfs", 0, "size=4m")) fail("work");
    if (mount("home", "/home", "tmpfs", 0, "size=4m")) fail("home");
    if (chdir("/work")) fail("chdir");
    const char *folders[] = {"sub", "evil", "src", "scripts", "a", "tests"};
    for (size_t at = 0; at < sizeof folders / sizeof *folders; at++) {
        char link[64];
        mkdir(folders[at], 0755);
        snprintf(link, sizeof link, "%s/run", folders[at]);
        if (symlink("/stub", link)) fail("symlink");
    }
    if (symlink("/stub", "run") || symlink("/stub", "scripts/test")) fail("symlink");
    struct rlimit cpu = {1, 1}, size = {1 << 20, 1 << 20}, memory = {1 << 29, 1 << 29}, core = {0, 0};
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_FSIZE, &size);
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &core);
    int null = open("/dev/null", O_RDWR);
    for (int at = 0; at < 3; at++) dup2(null, at);
    for (int at = 3; at < 64; at++) close(at);
    pid_t shell = fork();
    if (shell == 0) {
        /* A loop without an end stops after its own time on a processor, whatever else the machine does. */
        struct itimerval limit = {{0, 0}, {0, 200000}};
        setitimer(ITIMER_PROF, &limit, NULL);
        char *environment[] = {"PATH=/usr/bin", "HOME=/home", "FUNCNEST=6", "LC_ALL=C.UTF-8", NULL};
        char *arguments[] = {"bash", "--noprofile", "--norc", "-c", (char *)line, NULL};
        execve("/real/bash", arguments, environment);
        _exit(97);
    }
    while (wait(NULL) >= 0 || errno == EINTR) {}
    DIR *home = opendir("/home");
    for (struct dirent *entry; home && (entry = readdir(home));) {
        char path[300], *arguments[] = {"written"};
        snprintf(path, sizeof path, "/home/%s", entry->d_name);
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) record(path, 1, arguments);
    }
    _exit(0);
}

static int run(const char *root, const char *file, int count) {
    char path[4096], map[64];
    uid_t user = getuid();
    gid_t group = getgid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int input = open(file, O_RDONLY);
    struct stat stat;
    if (input < 0 || fstat(input, &stat)) fail(file);
    char *lines = malloc((size_t)stat.st_size + 1);
    ssize_t got = 0;
    while (got < stat.st_size) {
        ssize_t more = read(input, lines + got, (size_t)(stat.st_size - got));
        if (more <= 0) fail(file);
        got += more;
    }
    close(input);
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)) fail("unshare");
    put("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "0 %u 1", user);
    put("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "0 %u 1", group);
    put("/proc/self/gid_map", map);
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) fail("private");
    if (mount(root, root, NULL, MS_BIND, NULL)) fail("bind root");
    const char *libraries[] = {"/usr/lib", "/lib", "/lib64", "/usr/lib64", "/dev/null"};
    for (size_t at = 0; at < sizeof libraries / sizeof *libraries; at++) {
        snprintf(path, sizeof path, "%s%s", root, libraries[at]);
        struct stat there;
        if (lstat(path, &there) || S_ISLNK(there.st_mode)) continue;
        if (mount(libraries[at], path, NULL, MS_BIND | MS_REC, NULL)) fail(path);
    }
    snprintf(path, sizeof path, "%s/log", root);
    if (mount(path, path, NULL, MS_BIND, NULL)) fail("bind log");
    if (mount(NULL, root, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL)) fail("read-only");
    if (chroot(root) || chdir("/")) fail("chroot");
    char *line = lines;
    for (int number = 0; number < count; number++, line += strlen(line) + 1) {
        unlink("/log/now");
        pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
        if (child < 0) fail("clone");
        if (child == 0) first(line);
        int status = 0;
        int left = 4000;
        /* What still runs after its time waits for something that never comes, and starts nothing any more. */
        while (waitpid(child, &status, WNOHANG) == 0) {
            if (left-- == 0) {
                kill(child, SIGKILL);
                waitpid(child, &status, 0);
                break;
            }
            usleep(500);
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == 99) return 99;
        snprintf(path, sizeof path, "/log/%d", number);
        rename("/log/now", path);
    }
    return 0;
}

int main(int count, char **arguments) {
    if (count == 5 && !strcmp(arguments[1], "run")) return run(arguments[2], arguments[3], atoi(arguments[4]));
    return be_program(count, arguments);
}
