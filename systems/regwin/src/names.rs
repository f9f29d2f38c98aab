//! The names of a run: schemes, schedules, behaviours, compilers.

/// How threads use the windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// Not shared: a switch stores all windows.
    Ns,
    /// Shared, one reserved window.
    Snp,
    /// Shared, a private reserved window for each thread.
    Sp,
    /// Ours: shared or not, as it turns out at each switch.
    Adaptive,
    /// The same program compiled without windows.
    Flat,
}

/// Which ready thread runs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Schedule {
    /// The thread that has been ready for longest.
    Fifo,
    /// The same, but a thread that is woken while its windows are still there comes first.
    WorkingSet,
    /// The most urgent thread, at once; of several the one that has been ready for longest.
    Priorities,
}

/// Where a thread without windows goes, in the schemes of the paper that share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Allocate {
    /// Above the suspended thread.
    Simple,
    /// To free windows, if there are any.
    Search,
    /// To free windows, else where the thread that has not run for longest has its lowest window.
    Lru,
}

/// One departure from how the runtime is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variant {
    /// None; like the paper's, it does not look at stacks. All published counts are of it.
    Plain,
    /// Stacks are looked at at each switch and overflow, as in a build by the words of the header.
    Checked,
    /// The same, and timer interrupts switch threads.
    Preempt,
    /// The same, with floating point.
    Float,
    /// Plain, with floating point.
    Fpu,
    /// An underflow in place copies all eight in registers.
    CopyAll,
    /// The compiler's `restore` adds nothing.
    NoPeephole,
    /// Without sharing: an overflow or underflow moves two windows.
    TwoATrap,
    FourATrap,
}

/// What the spell checker does with its streams: how many bytes fit in S1, S4, S5, S6
/// and in S2, S3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Behaviour {
    HighFine,
    HighMedium,
    HighCoarse,
    LowFine,
    LowMedium,
    LowCoarse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cc {
    /// GNU C for SPARC.
    Gcc,
    Clang,
}

/// What a library is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    Sparc,
    Xtensa,
}

impl Target {
    pub const ALL: [Target; 2] = [Target::Sparc, Target::Xtensa];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Sparc => "sparc",
            Target::Xtensa => "xtensa",
        }
    }
}

impl Scheme {
    pub const ALL: [Scheme; 5] =
        [Scheme::Ns, Scheme::Snp, Scheme::Sp, Scheme::Adaptive, Scheme::Flat];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Ns => "ns",
            Scheme::Snp => "snp",
            Scheme::Sp => "sp",
            Scheme::Adaptive => "adaptive",
            Scheme::Flat => "flat",
        }
    }

    /// The scheme of this name.
    pub fn named(name: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Those whose threads use windows.
    pub fn windowed() -> impl Iterator<Item = Scheme> {
        Scheme::ALL.into_iter().filter(|found| *found != Scheme::Flat)
    }

    /// True if windows of several threads are resident.
    pub fn shares(self) -> bool {
        match self {
            Scheme::Ns | Scheme::Flat => false,
            Scheme::Snp | Scheme::Sp | Scheme::Adaptive => true,
        }
    }
}

impl Allocate {
    pub const ALL: [Allocate; 3] = [Allocate::Simple, Allocate::Search, Allocate::Lru];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Allocate::Simple => "simple",
            Allocate::Search => "search",
            Allocate::Lru => "lru",
        }
    }

    /// The allocation of this name.
    pub fn named(name: &str) -> Option<Allocate> {
        Allocate::ALL.into_iter().find(|it| it.name() == name)
    }

    /// True if this scheme can do so: only `snp` and `sp` have a choice.
    pub fn fits(self, scheme: Scheme) -> bool {
        self == Allocate::Simple
            || match scheme {
                Scheme::Snp | Scheme::Sp => true,
                Scheme::Ns | Scheme::Adaptive | Scheme::Flat => false,
            }
    }
}

impl Schedule {
    pub const ALL: [Schedule; 3] = [Schedule::Fifo, Schedule::WorkingSet, Schedule::Priorities];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Schedule::Fifo => "fifo",
            Schedule::WorkingSet => "working-set",
            Schedule::Priorities => "priorities",
        }
    }

    /// The schedule of this name.
    pub fn named(name: &str) -> Option<Schedule> {
        Schedule::ALL.into_iter().find(|it| it.name() == name)
    }
}

impl Behaviour {
    /// All of them, in the order of the paper's table 1.
    pub const ALL: [Behaviour; 6] = [
        Behaviour::HighFine,
        Behaviour::HighMedium,
        Behaviour::HighCoarse,
        Behaviour::LowFine,
        Behaviour::LowMedium,
        Behaviour::LowCoarse,
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Behaviour::HighFine => "high-fine",
            Behaviour::HighMedium => "high-medium",
            Behaviour::HighCoarse => "high-coarse",
            Behaviour::LowFine => "low-fine",
            Behaviour::LowMedium => "low-medium",
            Behaviour::LowCoarse => "low-coarse",
        }
    }

    /// The behaviour of this name.
    pub fn named(name: &str) -> Option<Behaviour> {
        Behaviour::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Bytes of S1, S4, S5, S6 and of S2, S3: the paper's M and N.
    pub fn buffers(self) -> (u32, u32) {
        match self {
            Behaviour::HighFine => (1, 1),
            Behaviour::HighMedium => (4, 4),
            Behaviour::HighCoarse => (16, 16),
            Behaviour::LowFine => (1024, 1),
            Behaviour::LowMedium => (1024, 4),
            Behaviour::LowCoarse => (1024, 16),
        }
    }
}

impl Cc {
    pub const ALL: [Cc; 2] = [Cc::Gcc, Cc::Clang];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Cc::Gcc => "gcc",
            Cc::Clang => "clang",
        }
    }

    /// The compiler of this name.
    pub fn named(name: &str) -> Option<Cc> {
        Cc::ALL.into_iter().find(|it| it.name() == name)
    }
}
