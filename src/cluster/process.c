/* Processes of a cluster: started in sessions of their own, found by their working folder (Linux's
 * /proc), ended. */
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cluster/inside.h"

enum { ARGUMENTS_MOST = 40, END_MS = 10000 };

/* Servers get little of our environment: nothing of PG*, and messages in English. */
static char *const environment[] = {
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "TZ=UTC",
    NULL};

uint16_t cleave__cluster_process_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    bool bound = bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                 getsockname(fd, (struct sockaddr *)&address, &length) == 0;
    close(fd);
    return bound ? ntohs(address.sin_port) : 0;
}

/* As root, the program is started through setpriv(1), which becomes it. */
static bool arguments_of(const struct cleave_cluster *cluster, const char *const *arguments,
                         char words[2][100], const char *out[ARGUMENTS_MOST])
{
    size_t n = 0;
    if (*cluster->user) {
        struct passwd *entry = getpwnam(cluster->user);
        if (!entry)
            return false;
        snprintf(words[0], 100, "--reuid=%s", cluster->user);
        snprintf(words[1], 100, "--regid=%u", (unsigned)entry->pw_gid);
        out[n++] = "setpriv";
        out[n++] = words[0];
        out[n++] = words[1];
        out[n++] = "--clear-groups";
    }
    for (size_t i = 0; arguments[i] && n + 1 < ARGUMENTS_MOST; i++)
        out[n++] = arguments[i];
    out[n] = NULL;
    return true;
}

static int spawn(const char *folder, const char *log, const char *const *arguments, int *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&actions))
        return ENOMEM;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    int failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!failed)
        failed =
            posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!failed)
        failed = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (!failed)
        failed = posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (!failed)
        failed = posix_spawnp(pid, arguments[0], &actions, &attributes, (char *const *)arguments,
                              environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

enum cleave_status cleave__cluster_process_start(const struct cleave_cluster *cluster,
                                                 const char *where, const char *const *arguments,
                                                 int *pid, struct cleave_error *error)
{
    char folder[CLEAVE__PATH_SIZE], log[CLEAVE__PATH_SIZE + 8], words[2][100];
    const char *all[ARGUMENTS_MOST];
    if (!arguments_of(cluster, arguments, words, all))
        return cleave_error_set(error, CLEAVE_NOT_FOUND, "there is no user \"%s\" to run as",
                                cluster->user);
    cleave__cluster_path(cluster, where, NULL, folder);
    snprintf(log, sizeof log, "%s.log", folder);
    int failed = spawn(folder, log, all, pid);
    if (failed == ENOMEM)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", arguments[0]);
    if (failed)
        return cleave_error_set(error, CLEAVE_IO, "%.200s: cannot run %.100s: %s", folder, all[0],
                                strerror(failed));
    return CLEAVE_OK;
}

enum cleave_status cleave__cluster_process_run(const struct cleave_cluster *cluster,
                                               const char *where, const char *const *arguments,
                                               struct cleave_error *error)
{
    int pid, ended;
    char said[200];
    enum cleave_status status =
        cleave__cluster_process_start(cluster, where, arguments, &pid, error);
    if (status)
        return status;
    pid_t got;
    while ((got = waitpid(pid, &ended, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
        if (cleave__cluster_stopped(cluster)) {
            kill(pid, SIGKILL); /* our own child, not waited for yet */
            waitpid(pid, &ended, 0);
            return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        }
        cleave__nap_ms(5);
    }
    if (got == pid && WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
        return CLEAVE_OK;
    cleave__cluster_process_said(cluster, where, said, sizeof said);
    if (*cluster->user && strstr(said, "Permission denied"))
        return cleave_error_set(error, CLEAVE_IO,
                                "%.150s failed: %s: servers run as %s, who must be able to reach "
                                "the folder",
                                arguments[0], said, cluster->user);
    return cleave_error_set(error, CLEAVE_IO, "%.150s failed: %s", arguments[0],
                            *said ? said : "it gave no reason");
}

/* A zombie does not run. */
static bool runs(int pid)
{
    char path[40], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    const char *state = strrchr(text, ')'); /* the name before may hold anything */
    return state && state[1] && state[2] != 'Z' && state[2] != 'X';
}

/* One of those that a cluster starts. */
static bool is_named(int pid)
{
    static const char *const names[] = {"postgres\n", "nats-server\n", "initdb\n", "cp\n"};
    char path[40], name[32];
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, name, sizeof name - 1);
    close(fd);
    name[got > 0 ? got : 0] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

bool cleave__cluster_process_is(const struct cleave_cluster *cluster, const char *where, int pid)
{
    char path[40], folder[CLEAVE__PATH_SIZE], target[CLEAVE__PATH_SIZE + 16];
    if (pid <= 0 || !runs(pid) || !is_named(pid))
        return false;
    snprintf(path, sizeof path, "/proc/%d/cwd", pid);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return false;
    target[length] = 0;
    cleave__cluster_path(cluster, where, NULL, folder);
    return strcmp(target, folder) == 0;
}

/* On its way out it has no working folder any more: it may be one of ours. */
static bool is_leaving(int pid)
{
    char path[40], target[8];
    snprintf(path, sizeof path, "/proc/%d/cwd", pid);
    return pid > 0 && runs(pid) && is_named(pid) && readlink(path, target, sizeof target) < 0 &&
           errno == ENOENT;
}

uint32_t cleave__cluster_process_signal(const struct cleave_cluster *cluster, const char *where,
                                        int number)
{
    uint32_t found = 0;
    DIR *all = opendir("/proc");
    for (struct dirent *entry; all && (entry = readdir(all));) {
        int pid = isdigit((unsigned char)*entry->d_name) ? atoi(entry->d_name) : 0;
        bool ours = cleave__cluster_process_is(cluster, where, pid);
        found += ours || is_leaving(pid);
        if (ours && number)
            kill(pid, number);
    }
    if (all)
        closedir(all);
    return found;
}

/* Those that are children of this process must be waited for. */
static void reap(const struct cleave_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++) {
        if (cluster->servers[i].shown.pid > 0)
            (void)waitpid(cluster->servers[i].shown.pid, NULL, WNOHANG);
    }
}

enum cleave_status cleave__cluster_process_end(const struct cleave_cluster *cluster,
                                               const char *where, int number,
                                               struct cleave_error *error)
{
    uint64_t begun = cleave__clock_ms();
    for (int signalled = number;;) {
        uint32_t left = cleave__cluster_process_signal(cluster, where, signalled);
        uint64_t ms = cleave__clock_ms() - begun;
        reap(cluster);
        if (!left)
            return CLEAVE_OK;
        if (ms > 2 * END_MS)
            return cleave_error_set(error, CLEAVE_IO, "%.300s/%s: its processes do not end",
                                    cluster->folder, where);
        signalled = ms > END_MS || number == SIGKILL ? SIGKILL : 0;
        cleave__nap_ms(5);
    }
}

void cleave__cluster_process_said(const struct cleave_cluster *cluster, const char *where,
                                  char *line, size_t size)
{
    char path[CLEAVE__PATH_SIZE + 8], text[4096];
    struct statvfs system;
    /* A log on a full disk says nothing. */
    bool full = statvfs(cluster->folder, &system) == 0 && system.f_bavail == 0;
    snprintf(line, size, "%s", full ? "No space left on device" : "");
    cleave__cluster_path(cluster, where, NULL, path);
    strcat(path, ".log");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    off_t end = lseek(fd, 0, SEEK_END);
    off_t from = end > (off_t)sizeof text - 1 ? end - (off_t)sizeof text + 1 : 0;
    ssize_t got = pread(fd, text, sizeof text - 1, from);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    /* The last that tells of an error, else the last. */
    static const char *const words[] = {"FATAL:", "error:", "[FTL]", "[ERR]", "nats-server:", NULL};
    for (char *next = text, *rest; (next = strtok_r(next, "\n", &rest)); next = NULL) {
        bool tells = !*line;
        for (int i = 0; words[i]; i++) {
            const char *at = strstr(next, words[i]);
            if (at) {
                snprintf(line, size, "%s", at);
                tells = false;
                break;
            }
        }
        if (tells)
            snprintf(line, size, "%s", next);
    }
}
