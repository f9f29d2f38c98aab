/* Calls the hooks of the plugin as slurmstepd does for a step of two tasks, and prints what the plugin logs. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

static int task;

spank_context_t spank_context(void)
{
    return S_CTX_REMOTE;
}

spank_err_t spank_option_register(spank_t sp, struct spank_option *opt)
{
    (void)sp;
    return opt->cb(0, "foo", 1) == -1 && opt->cb(0, NULL, 1) == -1 ? ESPANK_SUCCESS : ESPANK_ERROR;
}

spank_err_t spank_getenv(spank_t sp, const char *var, char *buf, int len)
{
    (void)sp;
    snprintf(buf, (size_t)len, "%s", strcmp(var, "SLURM_JOB_NAME") ? "" : "a\"b\n");
    return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
    va_list rest;
    void *to;

    (void)sp;
    va_start(rest, item);
    to = va_arg(rest, void *);
    va_end(rest);
    switch (item) {
    case S_JOB_ID:
        *(uint32_t *)to = 7;
        return ESPANK_SUCCESS;
    case S_JOB_STEPID:
        *(uint32_t *)to = 0;
        return ESPANK_SUCCESS;
    case S_JOB_UID:
        *(uid_t *)to = 1000;
        return ESPANK_SUCCESS;
    case S_JOB_NCPUS:
        *(uint16_t *)to = 2;
        return ESPANK_SUCCESS;
    case S_JOB_NNODES:
        *(uint32_t *)to = 3;
        return ESPANK_SUCCESS;
    case S_JOB_LOCAL_TASK_COUNT:
        *(uint32_t *)to = 2;
        return ESPANK_SUCCESS;
    case S_TASK_PID:
        *(pid_t *)to = 11 + task;
        return ESPANK_SUCCESS;
    default:
        return ESPANK_BAD_ARG;
    }
}

static void say(const char *format, va_list rest)
{
    vprintf(format, rest);
    putchar('\n');
}

void slurm_info(const char *format, ...)
{
    va_list rest;

    va_start(rest, format);
    say(format, rest);
    va_end(rest);
}

void slurm_error(const char *format, ...)
{
    va_list rest;

    va_start(rest, format);
    say(format, rest);
    va_end(rest);
}

int main(int n, char **words)
{
    int failed = slurm_spank_init(NULL, n - 1, words + 1);

    for (task = 0; task < 2; task++)
        failed |= slurm_spank_task_post_fork(NULL, n - 1, words + 1);
    failed |= slurm_spank_exit(NULL, n - 1, words + 1);
    return failed;
}
