//! Why a request is not done, in words.

/// Most threads of a program.
pub const THREADS_MAX: usize = 1024;

/// Most programs at a time.
pub const PROGRAMS_MAX: usize = 1000;

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    Stranger(u32),
    NotThere(i32),
    /// The first process of the machine.
    Init,
    /// The manager, its supervisor or the client.
    Itself(i32),
    /// What started the manager or the client: a shell, a terminal.
    Above(i32, String),
    /// A process of another user.
    Owner(i32, u32),
    /// Another user than root tells of a step of Slurm.
    NoSlurm(u32),
    /// A process that the client telling of a step has not started.
    NoTask(i32),
    /// A thread of the kernel.
    Kernel(i32),
    /// It is in a program that is managed already.
    Managed(i32),
    Threads(usize),
    /// A program without a name.
    Empty,
    /// A process of another user below it.
    Below(i32, i32, u32),
    /// A user who may not ask.
    Denied(String),
    /// A user who is in no group that may ask.
    NoGroup(String),
    /// A user has so many programs, and may have so many.
    Programs(usize, usize),
    /// A program wants so many processors, its user's programs have so many, and may have so many.
    Processors(usize, usize, usize),
    /// A user has no program of this number.
    NoProgram(u64),
    /// No descriptors came with a program of a user of many.
    NoStreams,
    /// A program to start, and this daemon starts none.
    AttachOnly,
    /// No control group of this path in these hierarchies.
    NoControlGroup(String, String),
    /// The control group of all.
    AllGroups,
    EmptyGroup(String),
    /// A control group of a manager, in this folder.
    ManagersGroup(String, String),
    SlurmsGroup(String),
    /// The folder of a control group is another user's.
    GroupOwner(String, u32),
    /// So many processes of a control group are outside our process namespace.
    Unseen(String, usize),
    /// Somebody else's control group, with turns that freeze.
    FrozenTurns(String),
    /// It, or one inside it or around it, is managed already.
    GroupManaged(String),
    Full,
    /// Too few descriptors are left for one more program.
    Descriptors(String),
    /// What was asked is no request.
    NoRequest(String),
    /// The operating system refused.
    Failed(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Stranger(uid) => write!(f, "user {uid} is not the owner of this daemon"),
            Refusal::NotThere(pid) => write!(f, "there is no process {pid}"),
            Refusal::Init => write!(f, "process 1 starts and ends all others: it is never frozen"),
            Refusal::Itself(pid) => {
                write!(f, "process {pid} is part of the manager, or asks: it is never frozen")
            }
            Refusal::Above(pid, name) => {
                write!(
                    f,
                    "process {pid} (`{name}`) runs the manager or the client: once frozen, nothing could thaw it"
                )
            }
            Refusal::Owner(pid, uid) => write!(f, "process {pid} belongs to user {uid}"),
            Refusal::NoSlurm(uid) => {
                write!(f, "user {uid} tells of a step: only root does, as Slurm runs")
            }
            Refusal::NoTask(pid) => write!(f, "process {pid} is no task of the step's daemon"),
            Refusal::Kernel(pid) => write!(f, "process {pid} is a thread of the kernel"),
            Refusal::Managed(pid) => write!(f, "process {pid} is managed already"),
            Refusal::Threads(n) => write!(f, "{n} threads: choose 1 to {THREADS_MAX}"),
            Refusal::Empty => write!(f, "a command is empty"),
            Refusal::Below(pid, child, uid) => {
                write!(f, "process {child} below process {pid} belongs to user {uid}")
            }
            Refusal::Denied(user) => {
                write!(f, "this daemon takes nothing from user {user}: its administrator denies it")
            }
            Refusal::NoGroup(user) => write!(
                f,
                "this daemon takes nothing from user {user}, who is in none of the groups that it allows"
            ),
            Refusal::Programs(n, most) => {
                write!(
                    f,
                    "{n} programs of yours run already, and a user may have {most}: end one, or wait for its end"
                )
            }
            Refusal::Processors(n, had, most) => {
                write!(
                    f,
                    "a program of {n} threads: yours have {had}, and a user's programs may have {most} processors together"
                )
            }
            Refusal::NoProgram(id) => write!(f, "there is no program {id} of yours"),
            Refusal::NoStreams => {
                write!(f, "standard input, output and error did not come with the program")
            }
            Refusal::AttachOnly => {
                write!(
                    f,
                    "this daemon starts no programs (--attach-only): start it yourself, and give its number, --pid"
                )
            }
            Refusal::NoControlGroup(path, places) => {
                write!(
                    f,
                    "there is no control group `{path}` in {places}: it must be in one of them, where one sees that its owner pauses it"
                )
            }
            Refusal::AllGroups => {
                write!(f, "the group of all groups: name one of those inside it")
            }
            Refusal::EmptyGroup(path) => {
                write!(f, "no process is in control group `{path}`: start what belongs there first")
            }
            Refusal::ManagersGroup(path, name) => {
                write!(f, "control group `{path}` belongs to a manager of programs (`{name}`)")
            }
            Refusal::SlurmsGroup(path) => {
                write!(f, "control group `{path}` is Slurm's, whose plugin gives its steps")
            }
            Refusal::GroupOwner(path, uid) => {
                write!(f, "control group `{path}` belongs to user {uid}")
            }
            Refusal::Unseen(path, n) => write!(
                f,
                "the {n} processes of control group `{path}` are not in the daemon's process namespace, so it cannot see whether they compute: run the daemon in that of the host (`hostPID: true`)"
            ),
            Refusal::FrozenTurns(path) => write!(
                f,
                "control group `{path}` is not ours: nobody could tell our freezing it from its owner's; a daemon with --turns soft takes it"
            ),
            Refusal::GroupManaged(path) => {
                write!(
                    f,
                    "control group `{path}`, or one inside it or around it, is managed already"
                )
            }
            Refusal::Full => write!(f, "{PROGRAMS_MAX} programs run already"),
            Refusal::Descriptors(said) => {
                write!(
                    f,
                    "the daemon has too few files left for one more program ({said}): raise its limit, `ulimit -n`, or end a program"
                )
            }
            Refusal::NoRequest(said) => write!(f, "this is no request: {said}"),
            Refusal::Failed(said) => write!(f, "{said}"),
        }
    }
}
