/* Written by `meanwhile cosched slurm`.
 *
 * A SPANK plugin for Slurm: when all tasks of a step on a node are there, and have not run an
 * instruction of the user yet, the node's daemon is told of them in one line; at the end of the
 * step of that. A job never fails for it: each hook says that all is well, and with a daemon that
 * is absent, mute or refuses a step starts at most 50 ms later and runs without us.
 *
 *     optional /path/cosched.so [socket=PATH]      a line of plugstack.conf; %n in PATH is the node's name
 *
 *     cc -std=gnu11 -O2 -fPIC -shared -o cosched.so cosched.c      against the headers of the very Slurm it is loaded into
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

SPANK_PLUGIN(cosched, 1)

#define COSCHED_TASKS 4096
#define COSCHED_LINE (COSCHED_TASKS * 12 + 1024)
#define COSCHED_PATIENCE_MS 50
#define COSCHED_SOCKET "/run/meanwhile/cosched.sock"

/* Of this process: one slurmstepd has one step. */
static int cosched_is_off;
static const char *cosched_class = "auto";
static unsigned long cosched_membw;
static pid_t cosched_tasks[COSCHED_TASKS];
static uint32_t cosched_n_tasks;
static int cosched_is_told;

static int cosched_set(int val, const char *optarg, int remote)
{
    (void)val;
    (void)remote;
    static const char *const classes[] = {"auto", "latency", "batch"};

    if (!optarg)
        return -1;
    cosched_is_off = !strcmp(optarg, "off");
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (!strcmp(optarg, classes[i])) {
            cosched_class = classes[i];
            return 0;
        }
    return cosched_is_off ? 0 : -1;
}

static int cosched_set_membw(int val, const char *optarg, int remote)
{
    char *end = NULL;

    (void)val;
    (void)remote;
    if (!optarg || *optarg < '0' || *optarg > '9')
        return -1;
    errno = 0;
    cosched_membw = strtoul(optarg, &end, 10);
    return errno || *end || cosched_membw < 1 || cosched_membw > 100000000 ? -1 : 0;
}

static struct spank_option cosched_option = {
    "cosched", "off|auto|latency|batch",
    "auto: this node's cosched chooses when the steps run, where that pays; latency: they wait for no turn; batch: also while they "
    "sleep now and then; off: it does not know of them",
    1, 0, cosched_set};
static struct spank_option cosched_option_membw = {
    "membw", "MB/s", "what a step is expected to move between the memory and its processors on a node", 1, 0, cosched_set_membw};

/* A table of options is unknown to sbatch and salloc: they are registered. */
int slurm_spank_init(spank_t sp, int ac, char **av)
{
    (void)ac;
    (void)av;
    if (spank_context() == S_CTX_SLURMD || spank_context() == S_CTX_JOB_SCRIPT)
        return 0;
    if (spank_option_register(sp, &cosched_option) != ESPANK_SUCCESS ||
        spank_option_register(sp, &cosched_option_membw) != ESPANK_SUCCESS)
        slurm_error("cosched: --cosched and --membw could not be registered");
    return 0;
}

static long cosched_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the socket is ready for `events` or `until` has come. */
static int cosched_ready(int fd, short events, long until)
{
    for (;;) {
        struct pollfd one = {fd, events, 0};
        long left = until - cosched_now_ms();
        int n = poll(&one, 1, left > 0 ? (int)left : 0);

        if (n > 0)
            return 1;
        if (n == 0 || errno != EINTR)
            return 0;
    }
}

/* The address from the line of plugstack.conf; 0 if it is too long. */
static int cosched_address(struct sockaddr_un *to, int ac, char **av)
{
    const char *from = COSCHED_SOCKET;
    const char *node = getenv("SLURMD_NODENAME");
    size_t n = 0;

    for (int i = 0; i < ac; i++)
        if (!strncmp(av[i], "socket=", 7))
            from = av[i] + 7;
    memset(to, 0, sizeof *to);
    to->sun_family = AF_UNIX;
    for (; *from; from++) {
        const char *part = from;
        size_t length = 1;

        if (from[0] == '%' && from[1] == 'n') {
            part = node ? node : "";
            length = strlen(part);
            from++;
        }
        if (n + length >= sizeof to->sun_path)
            return 0;
        memcpy(to->sun_path + n, part, length);
        n += length;
    }
    return n > 0;
}

/* Sends a line, all of it before `until`. The socket, or -1 and `errno`. */
static int cosched_send(const struct sockaddr_un *to, const char *line, size_t length, long until)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    /* A socket of this kind connects at once, or its queue is full. */
    if (connect(fd, (const struct sockaddr *)to, sizeof *to)) {
        int error = errno;

        close(fd);
        errno = error;
        return -1;
    }
    while (length > 0) {
        ssize_t n = send(fd, line, length, MSG_NOSIGNAL);

        if (n > 0) {
            line += n;
            length -= (size_t)n;
        } else if (!(n < 0 && (errno == EINTR || (errno == EAGAIN && cosched_ready(fd, POLLOUT, until))))) {
            int error = errno == EAGAIN ? ETIMEDOUT : errno;

            close(fd);
            errno = error;
            return -1;
        }
    }
    return fd;
}

/* Waits for the answer until `until`, and logs what is not a yes. */
static void cosched_hear(int fd, long until)
{
    char answer[512];
    size_t n = 0;

    while (n < sizeof answer - 1 && !memchr(answer, '\n', n)) {
        ssize_t got;

        if (!cosched_ready(fd, POLLIN, until)) {
            slurm_info("cosched: the daemon does not answer: the step runs, and is managed when it does");
            return;
        }
        got = recv(fd, answer + n, sizeof answer - 1 - n, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    answer[n] = 0;
    if (!strstr(answer, "\"ok\":true")) {
        answer[strcspn(answer, "\n")] = 0;
        slurm_info("cosched: the daemon refuses the step, which runs without it: %s", answer);
    }
}

/* The name of the job as one word: what is in doubt is an underscore, as in job_submit.lua. */
static void cosched_name(spank_t sp, char *name, int length)
{
    if (spank_getenv(sp, "SLURM_JOB_NAME", name, length) != ESPANK_SUCCESS)
        name[0] = 0;
    name[length - 1] = 0;
    for (; *name; name++)
        if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9') ||
              strchr("._+-", *name)))
            *name = '_';
}

/* A request for all tasks of the step; its length. */
static size_t cosched_step(spank_t sp, char *line, uint32_t job, uint32_t step)
{
    uid_t user = (uid_t)-1;
    uint16_t n_cpus = 0;
    uint32_t n_nodes = 0;
    char name[64] = "";
    int n;

    spank_get_item(sp, S_JOB_UID, &user);
    spank_get_item(sp, S_JOB_NCPUS, &n_cpus);
    spank_get_item(sp, S_JOB_NNODES, &n_nodes);
    cosched_name(sp, name, sizeof name);
    n = sprintf(line, "{\"do\":\"step\",\"job\":%u,\"step\":%u,\"user\":%u,\"name\":\"%s\"", job, step, (unsigned)user, name);
    if (n_cpus)
        n += sprintf(line + n, ",\"threads\":%u", (unsigned)n_cpus);
    if (n_nodes > 1)
        n += sprintf(line + n, ",\"nodes\":%u", (unsigned)n_nodes);
    n += sprintf(line + n, ",\"class\":\"%s\"", cosched_class);
    if (cosched_membw)
        n += sprintf(line + n, ",\"membw\":%lu", cosched_membw);
    n += sprintf(line + n, ",\"pids\":[");
    for (uint32_t i = 0; i < cosched_n_tasks; i++)
        n += sprintf(line + n, i ? ",%d" : "%d", (int)cosched_tasks[i]);
    n += sprintf(line + n, "]}\n");
    return (size_t)n;
}

/* What runs in a step: the tasks of srun and batch scripts; not what Slurm or a shell of the user holds open. */
static int cosched_is_ours(spank_t sp, uint32_t *job, uint32_t *step)
{
    if (cosched_is_off || spank_context() != S_CTX_REMOTE)
        return 0;
    if (spank_get_item(sp, S_JOB_ID, job) != ESPANK_SUCCESS || spank_get_item(sp, S_JOB_STEPID, step) != ESPANK_SUCCESS)
        return 0;
    return *step < 0xfffffff0 || *step == SLURM_BATCH_SCRIPT;
}

/* In slurmstepd, once a task. No task runs code of the user before the last of these has returned. */
int slurm_spank_task_post_fork(spank_t sp, int ac, char **av)
{
    static char line[COSCHED_LINE];
    uint32_t job = 0, step = 0, n_expected = 0;
    struct sockaddr_un to;
    pid_t pid = 0;
    long until;
    int fd;

    if (!cosched_is_ours(sp, &job, &step) || spank_get_item(sp, S_TASK_PID, &pid) != ESPANK_SUCCESS || pid <= 0)
        return 0;
    if (cosched_n_tasks < COSCHED_TASKS)
        cosched_tasks[cosched_n_tasks] = pid;
    cosched_n_tasks++;
    if (spank_get_item(sp, S_JOB_LOCAL_TASK_COUNT, &n_expected) != ESPANK_SUCCESS || cosched_n_tasks != n_expected)
        return 0;
    if (n_expected > COSCHED_TASKS || !cosched_address(&to, ac, av)) {
        slurm_info("cosched: more than %d tasks, or a socket whose path is too long: the step runs without it", COSCHED_TASKS);
        return 0;
    }
    until = cosched_now_ms() + COSCHED_PATIENCE_MS;
    fd = cosched_send(&to, line, cosched_step(sp, line, job, step), until);
    if (fd < 0) {
        slurm_info("cosched: no daemon at %s (%s): the step runs without it", to.sun_path, strerror(errno));
        return 0;
    }
    cosched_is_told = 1;
    cosched_hear(fd, until);
    close(fd);
    return 0;
}

/* In slurmstepd, once at the end of the step, however it ends. Nobody waits for an answer. */
int slurm_spank_exit(spank_t sp, int ac, char **av)
{
    char line[96];
    uint32_t job = 0, step = 0;
    struct sockaddr_un to;
    int n, fd;

    if (!cosched_is_told || !cosched_is_ours(sp, &job, &step) || !cosched_address(&to, ac, av))
        return 0;
    n = sprintf(line, "{\"do\":\"stepend\",\"job\":%u,\"step\":%u}\n", job, step);
    fd = cosched_send(&to, line, (size_t)n, cosched_now_ms());
    if (fd >= 0)
        close(fd);
    return 0;
}
