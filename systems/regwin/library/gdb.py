"""Threads of regwin in GDB, also those whose frames are still in register windows.

    (gdb) source gdb.py
    (gdb) threads            each thread, what it waits for, and where it is
    (gdb) threads bt         the frames of all; `threads bt NAME` of one

A stub shows the current window alone. The others are read by entering them: %psr is written, the
registers are read, %psr is written back. Nothing else of the machine changes. Frames that were
stored to memory are read there. In the runtime's own assembly, where windows are on their way, the
frames of the running thread may be wrong; it is said.
"""

import functools
import itertools

import gdb

WAITS = ("runs", "waits for bytes", "waits for room", "waits for a semaphore", "waits for a mutex",
         "waits for an item", "waits for space", "waits for the end of", "waits for a time")
# More frames than this are a chain that leads nowhere.
FRAMES = 1000


def number(expression):
    return int(gdb.parse_and_eval(expression)) & 0xFFFFFFFF


def word(address):
    memory = gdb.selected_inferior().read_memory(address & 0xFFFFFFFF, 4)
    return int.from_bytes(bytes(memory), "big")


def has(symbol):
    try:
        return bool(number(f"&{symbol}"))
    except gdb.error:
        return False


class Windows:
    """All registers of the machine, window by window; read once a stop."""

    def __init__(self):
        self.psr, self.wim = number("$psr"), number("$wim")
        # Bits of %wim for windows that are not there cannot be set.
        self.n = word(number("&window_owner") + number("&OWNER_LAST")) // 4 + 1
        self.read = {}

    def enter(self, w):
        gdb.execute(f"set $psr = ($psr & ~0x1f) | {w}", to_string=True)
        gdb.execute("maintenance flush register-cache", to_string=True)

    def window(self, w):
        """Locals, ins and outs of a window, 24 words."""
        w %= self.n
        if w not in self.read:
            try:
                self.enter(w)
                names = [f"${kind}{i}" for kind in "lio" for i in range(8)]
                names[names.index("$i6")], names[names.index("$o6")] = "$fp", "$sp"
                self.read[w] = [number(name) for name in names]
            finally:
                self.enter(self.psr & 31)
        return self.read[w]


def frames(windows, pc, sp, w, wim):
    """Program counters from the newest frame on. `w` is its window, none if all are in memory; `wim`
    has a bit for each window that is not the thread's."""
    yield pc
    for _ in range(FRAMES):
        if w is not None:
            saved = windows.window(w)[:16]
            w = None if wim >> ((w + 1) % windows.n) & 1 else w + 1
        else:
            saved = [word(sp + 4 * i) for i in range(16)]
        name = name_of(pc)
        if name.startswith("interrupt"):
            # What was interrupted is kept below its stack pointer: interrupt.S, KEPT and KEEP_PSR.
            pc = word(saved[14] - 64 + 4)
            if not has_saved(pc):
                # It is in its caller's window still.
                yield pc
                pc = saved[15] + 8
        else:
            pc = saved[15] + 8
        sp = saved[14]
        if name == "thr_entry" or not sp:
            return
        yield pc


@functools.lru_cache(None)
def name_of(pc):
    symbol = gdb.execute(f"info symbol {pc}", to_string=True)
    return "?" if symbol.startswith("No symbol") else symbol.split()[0]


@functools.lru_cache(None)
def has_saved(pc):
    """Whether the function has executed its `save` by then."""
    symbol = gdb.execute(f"info symbol {pc}", to_string=True)
    if symbol.startswith("No symbol"):
        return True
    start = pc - (int(symbol.split()[2]) if symbol.split()[1] == "+" else 0)
    return any(word(at) & 0xC1F80000 == 0x81E00000 for at in range(start, pc, 4))


def describe(pc, at, is_call):
    line = gdb.find_pc_line(pc - 8 if is_call else pc)
    place = f" at {line.symtab.filename}:{line.line}" if line.symtab else ""
    return f"#{at:<2} {pc:#010x} in {name_of(pc)}{place}"


@functools.lru_cache(None)
def offset_of(field):
    return number(f"&TCB_{field}")


class Thread:
    def __init__(self, record, windows):
        self.record, self.windows = record, windows
        self.is_running = record == number("$g7")
        self.name = "?"
        if self.field("NAME"):
            self.name = gdb.parse_and_eval(f"(char *){self.field('NAME')}").string()

    def field(self, name):
        return word(self.record + offset_of(name))

    def frames(self):
        windows = self.windows
        if self.is_running:
            w, pc, sp = windows.psr & 31, number("$pc"), number("$sp")
            if has_saved(pc):
                return frames(windows, pc, sp, w, windows.wim)
            # It is in its caller's window still.
            caller = windows.window(w)[16 + 7] + 8
            return itertools.chain([pc], frames(windows, caller, sp, w, windows.wim))
        psr, pc, sp = self.field("PSR"), self.field("PC"), self.field("SP")
        if not psr:
            return frames(windows, pc + 8, sp, None, 0)
        if not has("above_taken"):
            # But for `snp`, stack pointer and return address stay in the reserved window.
            outs = windows.window(psr & 31)[16:]
            sp, pc = outs[6], outs[7]
        return frames(windows, pc + 8, sp, psr & 31, self.field("WIM"))

    def state(self):
        if self.is_running:
            return "is running"
        waits = WAITS[self.field("WAITS_FOR")]
        return "is ready" if waits == "runs" else waits


def threads():
    windows = Windows()
    known = number("&known")
    records = [word(known + 4 * slot) for slot in range(number("&KNOWN_MAX"))]
    records += [number("&thr_boot"), number("&thr_idle")]
    found = [Thread(record, windows) for record in records if record]
    return [thread for thread in found if thread.is_running or thread.field("ALIVE")]


class Threads(gdb.Command):
    """threads [bt [NAME]]: the threads of regwin, and their frames."""

    def __init__(self):
        super().__init__("threads", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split()
        if words[:1] not in ([], ["bt"]) or len(words) > 2:
            raise gdb.GdbError("threads [bt [NAME]]")
        found = [thread for thread in threads() if words[1:] in ([], [thread.name])]
        if not found:
            raise gdb.GdbError(f"no thread is called {words[1]}")
        for thread in found:
            pcs = list(thread.frames())
            print(f"{thread.name} {thread.state()}: {len(pcs)} frames")
            for at, pc in enumerate(pcs if words else pcs[:1]):
                is_call = at > 0 and not name_of(pcs[at - 1]).startswith("interrupt")
                print("   ", describe(pc, at, is_call))


Threads()
