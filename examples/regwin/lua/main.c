/* One script in several threads, each with a state of Lua of its own. */
#include <errno.h>
#include <regwin.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

int open_coroutines(lua_State *L);

static struct thr_tls threads[THREADS];
static unsigned stacks[THREADS][48 * 1024] __attribute__((aligned(8)));

__asm__(".section .rodata\nscript: .incbin \"" SCRIPT "\"\nscript_end:\n.previous");
extern const char script[], script_end[];

#ifdef __DYNAMIC_REENT__
/* newlib: what errno and numbers in text need, each thread's own. */
#include <reent.h>
static struct _reent reents[THREADS];

struct _reent *__getreent(void)
{
    struct thr_tls *self = (void *)((char *)thr_self() - __builtin_offsetof(struct thr_tls, thr));
    return self >= threads && self < threads + THREADS ? &reents[self - threads] : _impure_ptr;
}
#endif

/* A line in one call, with the thread's number. */
static int print(lua_State *L)
{
    char line[1024];
    int n = lua_gettop(L);
    size_t at = (size_t)snprintf(line, sizeof line, "[%d] ", *(int *)lua_getextraspace(L)), bytes;
    for (int i = 1; i <= n; i++) {
        const char *text = luaL_tolstring(L, i, &bytes);
        if (at + bytes + 2 > sizeof line)
            return luaL_error(L, "a long line");
        if (i > 1)
            line[at++] = '\t';
        memcpy(line + at, text, bytes);
        at += bytes;
        lua_pop(L, 1);
    }
    line[at++] = '\n';
    write(1, line, at);
    return 0;
}

static void run(void *argument)
{
    static const luaL_Reg libraries[] = {
        {"_G", luaopen_base}, {"coroutine", luaopen_coroutine}, {"table", luaopen_table}, {"io", luaopen_io}, {"string", luaopen_string},
        {"math", luaopen_math}, {"utf8", luaopen_utf8}, {"debug", luaopen_debug},
#ifdef COROUTINES
        {"coroutine", open_coroutines},
#endif
    };
    int id = (int)argument;
#ifdef __DYNAMIC_REENT__
    _REENT_INIT_PTR(&reents[id]);
#endif
    errno = id;
    lua_State *L = luaL_newstate();
    *(int *)lua_getextraspace(L) = id;
    for (unsigned i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
        lua_pushnil(L);
        lua_setfield(L, -2, libraries[i].name);
        luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
        lua_pop(L, 2);
    }
    lua_register(L, "print", print);
    int failed = luaL_loadbuffer(L, script, (size_t)(script_end - script), "=script");
    if (!failed) {
        lua_pushinteger(L, id);
        failed = lua_pcall(L, 1, 0, 0);
    }
    if (failed)
        printf("[%d] %s\n", id, lua_tostring(L, -1));
    lua_close(L);
#ifdef PREEMPT
    if (thr_alive() == 1) {
        printf("%u ticks\n", thr_now());
        fflush(stdout);
        thr_preempt(0);
    }
#endif
}

int main(void)
{
    for (int i = 0; i < THREADS; i++) {
        threads[i].mark = THR_TLS_MARK;
        thr_create(&threads[i].thr, "lua", stacks[i], sizeof stacks[i], run, (void *)i);
    }
#ifdef PREEMPT
    thr_preempt(TICKS);
#endif
    return 0;
}

void machine_idle(void *unused)
{
    (void)unused;
#ifdef PREEMPT
    while (thr_alive())
        machine_wait();
#endif
    thr_report();
    machine_stop();
}
