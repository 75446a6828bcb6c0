//! What a worker takes away from itself, before it reads anything of a tenant.

use std::{fs, io, time::Duration};

use rustix::{
    process::{Resource, Rlimit, getrlimit, setrlimit},
    time::{ClockId, clock_gettime},
};

use crate::{jq::STACK_BYTES, wire};

/// Standard input, output and error.
const OPEN_FILES: u64 = 3;
/// What a worker has before any request, where the system does not tell: the stack, and this.
const RESTING_BYTES: u64 = 16 << 20;
/// What a worker may have before any request beside its stack. With more, the limit of a request would bound nothing.
const RESTING_BYTES_MAX: u64 = 64 << 20;

#[derive(Debug)]
pub(crate) struct Walls {
    /// The memory that the worker had before its first request.
    resting_bytes: u64,
    filtered: bool,
}

impl Walls {
    /// On the thread that will run what tenants write, and after it was started.
    pub(crate) fn raise() -> io::Result<Self> {
        let resting_bytes = data_bytes().unwrap_or(STACK_BYTES as u64 + RESTING_BYTES);
        if STACK_BYTES as u64 + RESTING_BYTES_MAX < resting_bytes {
            let why = format!("the worker has {resting_bytes} bytes of memory before its first request");
            return Err(io::Error::other(why));
        }
        for (resource, most) in
            [(Resource::Core, 0), (Resource::Fsize, 0), (Resource::Nofile, OPEN_FILES), (Resource::Nproc, 0)]
        {
            setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
        }
        Ok(Self { resting_bytes, filtered: filter_system_calls() })
    }

    pub(crate) fn greeting(&self) -> u8 {
        if self.filtered { wire::READY } else { wire::READY_UNFILTERED }
    }

    /// Before a request. The gateway looks at the clock; the limit of processor time is for the case
    /// that it was killed itself and left something endless behind.
    pub(crate) fn narrow(&self, time: Duration, memory_bytes: usize) -> io::Result<()> {
        let used = clock_gettime(ClockId::ProcessCPUTime);
        let used = Duration::from_secs(used.tv_sec.unsigned_abs());
        let seconds = used.saturating_add(time).as_secs() + 2;
        set_current(Resource::Cpu, Some(seconds))?;
        set_current(Resource::Data, Some(self.resting_bytes.saturating_add(memory_bytes as u64)))
    }

    /// After a request, so that the next one can be read whatever the limits of this one were.
    pub(crate) fn widen(&self) -> io::Result<()> {
        set_current(Resource::Data, None)
    }
}

/// Up to what is allowed at all.
fn set_current(resource: Resource, wanted: Option<u64>) -> io::Result<()> {
    let maximum = getrlimit(resource).maximum;
    let current = match (wanted, maximum) {
        (Some(wanted), Some(maximum)) => Some(wanted.min(maximum)),
        (wanted, maximum) => wanted.or(maximum),
    };
    Ok(setrlimit(resource, Rlimit { current, maximum })?)
}

/// What the system counts against [`Resource::Data`].
fn data_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Leaves what computing needs and answers everything else with "not permitted".
#[cfg(target_os = "linux")]
fn filter_system_calls() -> bool {
    use seccompiler::{SeccompAction, SeccompFilter, TargetArch};

    let denied = SeccompAction::Errno(rustix::io::Errno::PERM.raw_os_error().unsigned_abs());
    TargetArch::try_from(std::env::consts::ARCH)
        .and_then(|arch| SeccompFilter::new(permitted()?, denied, SeccompAction::Allow, arch))
        .and_then(seccompiler::BpfProgram::try_from)
        .is_ok_and(|program| seccompiler::apply_filter_all_threads(&program).is_ok())
}

#[cfg(target_os = "linux")]
type Rules = std::collections::BTreeMap<i64, Vec<seccompiler::SeccompRule>>;

#[cfg(target_os = "linux")]
fn permitted() -> Result<Rules, seccompiler::BackendError> {
    use seccompiler::{SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

    let plain = [
        // The heap.
        libc::SYS_brk,
        libc::SYS_madvise,
        libc::SYS_mprotect,
        libc::SYS_mremap,
        libc::SYS_munmap,
        // Locks, clocks, seeds of hash tables.
        libc::SYS_clock_gettime,
        libc::SYS_futex,
        libc::SYS_getrandom,
        libc::SYS_sched_yield,
        // The end: of itself, of the stack, of the memory.
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_restart_syscall,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
    ];
    let only = |argument: u8, operator: SeccompCmpOp, value: u64| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
            .and_then(|condition| SeccompRule::new(vec![condition]))
    };
    let is = |argument, value| only(argument, SeccompCmpOp::Eq, value);
    let mut rules: Rules = plain.into_iter().map(|call| (call, Vec::new())).collect();
    // The pipes, and no other file that somebody may have left open for all children.
    rules.insert(libc::SYS_read, vec![is(0, 0)?]);
    rules.insert(libc::SYS_write, vec![is(0, 1)?, is(0, 2)?]);
    rules.insert(libc::SYS_writev, vec![is(0, 1)?, is(0, 2)?]);
    // Memory, and no file as memory.
    let anonymous = libc::MAP_ANONYMOUS.unsigned_abs().into();
    rules.insert(libc::SYS_mmap, vec![only(3, SeccompCmpOp::MaskedEq(anonymous), anonymous)?]);
    // Its own limits and a signal to itself (which is how a process aborts), and nobody else's.
    rules.insert(libc::SYS_prlimit64, vec![is(0, 0)?]);
    rules.insert(libc::SYS_tgkill, vec![is(0, std::process::id().into())?]);
    Ok(rules)
}

#[cfg(not(target_os = "linux"))]
fn filter_system_calls() -> bool {
    false
}
