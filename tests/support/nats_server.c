#include "support/nats_server.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>

static const char *program(void)
{
    static const char *const places[] = {"/usr/sbin/nats-server", "/usr/bin/nats-server",
                                         "/usr/local/bin/nats-server"};
    for (unsigned p = 0; p < sizeof places / sizeof *places; p++) {
        if (access(places[p], X_OK) == 0)
            return places[p];
    }
    return NULL;
}

bool nats_server_installed(void)
{
    if (program())
        return true;
    printf("SKIPPED on nats: no nats-server is installed\n");
    return false;
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static int connect_to(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s >= 0 && connect(s, (struct sockaddr *)&to, sizeof to) != 0) {
        close(s);
        s = -1;
    }
    return s;
}

int nats_server_free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = 0;
    if (s >= 0 && bind(s, (struct sockaddr *)&at, sizeof at) == 0 &&
        getsockname(s, (struct sockaddr *)&at, &size) == 0)
        port = ntohs(at.sin_port);
    if (s >= 0)
        close(s);
    return port;
}

static bool write_configuration(const struct nats_server *server, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fprintf(file, "listen: \"127.0.0.1:%d\"\nlog_file: \"%s/log\"\n", server->port, server->folder);
    if (strncmp(server->extra, "#bare", 5) != 0)
        fprintf(file, "jetstream { store_dir: \"%s/js\" }\n", server->folder);
    fprintf(file, "%s\n", server->extra);
    return fclose(file) == 0;
}

static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char inner[600];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%.300s/%.255s", path, entry->d_name);
        if (unlink(inner) != 0)
            remove_folder(inner);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
}

/* ---- the nanny: a process that starts and kills the server, and ends it with the test's ---- */

static pid_t start_server(const char *path)
{
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        signal(SIGTERM, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        execl(program(), "nats-server", "-c", path, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void end_server(pid_t pid)
{
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

static void watch(int line, const char *folder, const char *path)
{
    pid_t pid = 0;
    char command;
    signal(SIGTERM, SIG_IGN); /* what ends the test's process group is none of its business */
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    while (read(line, &command, 1) == 1) {
        if (command == 's')
            pid = start_server(path);
        end_server(command == 'k' ? pid : 0);
        pid = command == 'k' ? 0 : pid;
        if (write(line, &command, 1) != 1)
            break;
    }
    end_server(pid); /* the test's process is gone, or done */
    remove_folder(folder);
    _exit(0);
}

static bool start_nanny(struct nats_server *server)
{
    int ends[2];
    char path[100];
    snprintf(path, sizeof path, "%s/conf", server->folder);
    fflush(NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    server->nanny = fork();
    if (server->nanny == 0) {
        /* Not the lines of others, which would not end while this one lives. */
        if (ends[1] > 3)
            close_range(3, (unsigned)ends[1] - 1, 0);
        close_range((unsigned)ends[1] + 1, ~0u, 0);
        watch(ends[1], server->folder, path);
    }
    close(ends[1]);
    server->line = ends[0];
    return server->nanny > 0;
}

static bool tell_nanny(struct nats_server *server, char command)
{
    return write(server->line, &command, 1) == 1 && read(server->line, &command, 1) == 1;
}

bool nats_server_start(struct nats_server *server)
{
    char path[100];
    if (!server->folder[0]) {
        snprintf(server->folder, sizeof server->folder, "/tmp/cleave-nats-XXXXXX");
        if (!mkdtemp(server->folder))
            return false;
    }
    if (!server->port)
        server->port = nats_server_free_port();
    snprintf(server->url, sizeof server->url, "nats://127.0.0.1:%d", server->port);
    snprintf(path, sizeof path, "%s/conf", server->folder);
    if (!write_configuration(server, path))
        return false;
    if (!server->nanny && !start_nanny(server))
        return false;
    if (!tell_nanny(server, 's'))
        return false;
    for (int tries = 0; tries < 500; tries++, sleep_ms(10)) {
        int s = connect_to(server->port);
        if (s >= 0) {
            close(s);
            server->runs = true;
            return true;
        }
    }
    return false;
}

struct cleave_nats_options nats_server_world(struct nats_server *server)
{
    static char prefix[60];
    static const char *url;
    static unsigned worlds;
    url = server->url;
    snprintf(prefix, sizeof prefix, "test.w%d-%u", (int)getpid(), ++worlds);
    return (struct cleave_nats_options){
        .urls = &url, .url_count = 1, .prefix = prefix, .loop = true};
}

void nats_server_kill(struct nats_server *server)
{
    if (server->runs)
        tell_nanny(server, 'k');
    server->runs = false;
}

void nats_server_stop(struct nats_server *server)
{
    nats_server_kill(server);
    if (server->nanny) {
        close(server->line);
        waitpid(server->nanny, NULL, 0);
    } else if (server->folder[0])
        remove_folder(server->folder);
    server->nanny = 0;
    server->folder[0] = 0;
}
