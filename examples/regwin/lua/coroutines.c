/* Lua's coroutine library, in which each coroutine is a thread with a stack of its own. One of a state's threads runs at a time. A yield
 * may pass any C function; Lua's own cannot. A coroutine is a userdata here; `running` is not here. */
#include <regwin.h>
#include <stdlib.h>

#include "lauxlib.h"
#include "lua.h"

enum { STACK = 16384 };

struct coroutine {
    struct thr_tls record;
    struct semaphore resumed, yielded;
    struct thr *resumer;
    struct coroutine *outer; /* that of the resumer */
    lua_State *L;
    void *stack;
    int n;                   /* values on top of L that are handed over */
    int failed;
    enum { SUSPENDED, RUNNING, NORMAL, DEAD } status;
    int started, ends;
};

/* With interrupts a thread that is woken may run before the one that wakes it is suspended; a semaphore remembers. Without,
 * THR_LEAVE is all that it takes. */
#if defined(PREEMPT) || defined(SEMAPHORES)
static void yielded(struct coroutine *c) { semaphore_give(&c->yielded); }
static void wait_yielded(struct coroutine *c) { semaphore_take(&c->yielded); }
static void resumed(struct coroutine *c) { semaphore_give(&c->resumed); }
static void wait_resumed(struct coroutine *c) { semaphore_take(&c->resumed); }
#else
static void yielded(struct coroutine *c) { thr_wake(c->resumer); }
static void wait_yielded(struct coroutine *c) { (void)c; thr_block(THR_LEAVE); }
static void resumed(struct coroutine *c) { thr_wake(&c->record.thr); }
static void wait_resumed(struct coroutine *c) { (void)c; thr_block(THR_LEAVE); }
#endif

static void body(void *argument)
{
    struct coroutine *c = argument;
    thr_self()->local = c;
    c->failed = lua_pcall(c->L, c->n, LUA_MULTRET, 0);
    c->n = c->failed ? 1 : lua_gettop(c->L);
    c->status = DEAD;
    yielded(c);
}

/* With interrupts the thread may run before thr_create returns. */
static void start(lua_State *L, struct coroutine *c)
{
    c->started = 1;
    c->stack = malloc(STACK);
    c->record.mark = THR_TLS_MARK;
    semaphore_open(&c->resumed, "resume", 0);
    semaphore_open(&c->yielded, "yield", 0);
    if (c->stack && thr_create(&c->record.thr, "coroutine", c->stack, STACK, body, c) == 0)
        return;
    free(c->stack);
    if (c->outer)
        c->outer->status = RUNNING;
    c->status = DEAD;
    luaL_error(L, "no more threads");
}

/* The coroutine runs until it yields or ends; n arguments are on top of its stack, c->n values are afterwards. */
static void run(lua_State *L, struct coroutine *c, int n)
{
    c->n = n;
    c->resumer = thr_self();
    c->outer = thr_self()->local;
    if (c->outer)
        c->outer->status = NORMAL;
    c->status = RUNNING;
    if (c->started)
        resumed(c);
    else
        start(L, c);
    wait_yielded(c);
    if (c->outer)
        c->outer->status = RUNNING;
    if (c->status == DEAD) {
        thr_join(&c->record.thr);
        free(c->stack);
    }
}

/* n arguments are on top of L. The number of results there; -1: an error is. */
static int resume(lua_State *L, struct coroutine *c, int n)
{
    if (c->status != SUSPENDED) {
        lua_pushstring(L, c->status == DEAD ? "cannot resume dead coroutine" : "cannot resume non-suspended coroutine");
        return -1;
    }
    if (!lua_checkstack(c->L, n + 1)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, c->L, n);
    run(L, c, n);
    if (c->status == DEAD && c->failed) {
        lua_xmove(c->L, L, 1);
        return -1;
    }
    luaL_checkstack(L, c->n + 1, "too many results to resume");
    lua_xmove(c->L, L, c->n);
    return c->n;
}

static struct coroutine *checked(lua_State *L)
{
    return luaL_checkudata(L, 1, "coroutine");
}

static int of_create(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    struct coroutine *c = lua_newuserdatauv(L, sizeof *c, 1);
    *c = (struct coroutine){.status = SUSPENDED};
    c->L = lua_newthread(L);
    lua_setiuservalue(L, -2, 1);
    luaL_setmetatable(L, "coroutine");
    lua_pushvalue(L, 1);
    lua_xmove(L, c->L, 1);
    return 1;
}

static int of_resume(lua_State *L)
{
    int n = resume(L, checked(L), lua_gettop(L) - 1), n_values = n < 0 ? 1 : n;
    lua_pushboolean(L, n >= 0);
    lua_insert(L, -(n_values + 1));
    return n_values + 1;
}

static int wrapped(lua_State *L)
{
    int n = resume(L, lua_touserdata(L, lua_upvalueindex(1)), lua_gettop(L));
    if (n >= 0)
        return n;
    if (lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int of_wrap(lua_State *L)
{
    of_create(L);
    lua_pushcclosure(L, wrapped, 1);
    return 1;
}

static int of_yield(lua_State *L)
{
    struct coroutine *c = thr_self()->local;
    if (!c)
        return luaL_error(L, "attempt to yield from outside a coroutine");
    c->n = lua_gettop(L);
    c->status = SUSPENDED;
    yielded(c);
    wait_resumed(c);
    if (c->ends)
        return luaL_error(L, "the coroutine is closed");
    return lua_gettop(L);
}

/* No thread ends another: it ends itself by an error, as often as it catches one. */
static void end(lua_State *L, struct coroutine *c)
{
    c->ends = 1;
    while (c->started && c->status != DEAD) {
        run(L, c, 0);
        lua_pop(c->L, c->n);
    }
    c->status = DEAD;
}

static int collected(lua_State *L)
{
    end(L, checked(L));
    return 0;
}

static int of_close(lua_State *L)
{
    struct coroutine *c = checked(L);
    if (c->status == RUNNING || c->status == NORMAL)
        return luaL_error(L, "cannot close a %s coroutine", c->status == NORMAL ? "normal" : "running");
    end(L, c);
    lua_pushboolean(L, 1);
    return 1;
}

static int of_status(lua_State *L)
{
    static const char *const names[] = {"suspended", "running", "normal", "dead"};
    lua_pushstring(L, names[checked(L)->status]);
    return 1;
}

static int of_isyieldable(lua_State *L)
{
    lua_pushboolean(L, thr_self()->local != 0);
    return 1;
}

int open_coroutines(lua_State *L);
int open_coroutines(lua_State *L)
{
    static const luaL_Reg all[] = {
        {"create", of_create}, {"resume", of_resume}, {"wrap", of_wrap}, {"yield", of_yield},
        {"close", of_close}, {"status", of_status}, {"isyieldable", of_isyieldable}, {0, 0}};
    luaL_newmetatable(L, "coroutine");
    lua_pushcfunction(L, collected);
    lua_setfield(L, -2, "__gc");
    luaL_newlib(L, all);
    return 1;
}
