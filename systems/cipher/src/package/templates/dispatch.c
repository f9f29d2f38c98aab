
#define N_TARGETS (sizeof targets / sizeof *targets)
#define MADE UINT64_C(0x6d65616e7768696c) /* marks keys and streams, added to the number of their target */

/* The number of a target that this processor runs, or of the best one if name is NULL; N_TARGETS if there is none. */
static size_t target_number(const char *name)
{
    for (size_t k = N_TARGETS; k-- > 0;)
        if ((!name || !strcmp(name, targets[k].name)) && targets[k].is_here())
            return k;
    return N_TARGETS;
}

@MADE_FOR@int @NAME@_has(const char *target)
{
    return target_number(target) != N_TARGETS;
}

const char *@NAME@_best(void)
{
    return targets[target_number(NULL)].name;
}

size_t @NAME@_width(const char *target)
{
    size_t k = target_number(target);
    return k == N_TARGETS ? 0 : targets[k].width;
}
