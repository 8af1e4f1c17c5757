//! A program of which every system call is watched, and of which one is made to fail, or is its last.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

/// What happens at a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The program is killed before the call does anything.
    KilledBefore,
    /// The program is killed after the call has done what it does.
    KilledAfter,
    /// The call does nothing, and says why.
    Fails(Errno),
}

/// A system call that changes something outside the program, as it was watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub kind: Kind,
    /// The file that an open descriptor belongs to.
    pub path: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Write,
    /// What was written is on the disk afterwards.
    Sync,
    /// A file gets another length, name or mode, is made or is gone.
    Change,
}

/// The system calls that change something, by their numbers.
fn kind_of(number: u64) -> Option<Kind> {
    match number {
        // write, pwrite64, writev, pwritev, pwritev2
        1 | 18 | 20 | 296 | 328 => Some(Kind::Write),
        // fsync, fdatasync, msync, sync_file_range
        74 | 75 | 26 | 277 => Some(Kind::Sync),
        // open, truncate, ftruncate, rename, creat, link, unlink, chmod, fchmod, fallocate, openat, unlinkat, renameat,
        // linkat, renameat2
        2 | 76 | 77 | 82 | 85 | 86 | 87 | 90 | 91 | 285 | 257 | 263 | 264 | 265 | 316 => Some(Kind::Change),
        _ => None,
    }
}

/// Runs a program whose main thread is watched, and lets the fault happen at the call with this number, counted from 0 among
/// those that change something.
pub fn run(command: &Command, fault: Option<(usize, Fault)>) -> (Output, Vec<Call>) {
    #[allow(clippy::zombie_processes, reason = "who watches it waits for it")]
    let mut waiting = waiting(command);
    let pid = Pid::from_raw(i32::try_from(waiting.id()).expect("a number of a process"));
    let options = Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_EXITKILL;
    ptrace::seize(pid, options).expect("our own child can be watched");
    // Whatever it prints fits into its pipes.
    waiting.stdin.take().expect("it is piped").write_all(b"go\n").expect("it waits for this");
    let calls = watch(pid, fault);
    let read = |from: &mut dyn Read| {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).expect("it can be read");
        bytes
    };
    let stdout = read(waiting.stdout.as_mut().expect("it is piped"));
    let stderr = read(waiting.stderr.as_mut().expect("it is piped"));
    let (calls, status) = calls;
    // It was waited for by `watch`, so nobody else knows its status.
    (Output { status: std::os::unix::process::ExitStatusExt::from_raw(status), stdout, stderr }, calls)
}

/// The program behind a shell that waits for a line.
fn waiting(command: &Command) -> Child {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "read -r _; exec \"$0\" \"$@\" < /dev/null"])
        .arg(command.get_program())
        .args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell")
}

/// Follows a process to its end: the calls of the program, and the status with which it ended.
fn watch(pid: Pid, fault: Option<(usize, Fault)>) -> (Vec<Call>, i32) {
    let mut calls = Vec::new();
    let (mut is_program, mut is_inside, mut then) = (false, false, None);
    // It was seized while it was running: the first stop is the exec.
    loop {
        match waitpid(pid, Some(WaitPidFlag::__WALL)).expect("it is our child") {
            WaitStatus::Exited(_, code) => return (calls, code << 8),
            WaitStatus::Signaled(_, signal, _) => return (calls, signal as i32),
            WaitStatus::PtraceEvent(..) => {
                // The call of exec ends after this event.
                (is_program, is_inside) = (true, true);
                ptrace::syscall(pid, None).expect("it is stopped");
            }
            WaitStatus::PtraceSyscall(_) if !is_program => ptrace::syscall(pid, None).expect("it is stopped"),
            WaitStatus::PtraceSyscall(_) => {
                is_inside = !is_inside;
                if is_inside {
                    then = enter(pid, &mut calls, fault);
                    if then == Some(Fault::KilledBefore) {
                        ptrace::kill(pid).expect("it is stopped");
                        continue;
                    }
                } else {
                    match then.take() {
                        Some(Fault::KilledAfter) => {
                            ptrace::kill(pid).expect("it is stopped");
                            continue;
                        }
                        Some(Fault::Fails(errno)) => {
                            let mut registers = ptrace::getregs(pid).expect("it is stopped");
                            registers.rax = (-i64::from(errno as i32)) as u64;
                            ptrace::setregs(pid, registers).expect("it is stopped");
                        }
                        _ => {}
                    }
                }
                ptrace::syscall(pid, None).expect("it is stopped");
            }
            WaitStatus::Stopped(_, signal) => {
                ptrace::syscall(pid, Some(signal).filter(|signal| *signal != Signal::SIGTRAP))
                    .expect("it is stopped");
            }
            _ => ptrace::syscall(pid, None).expect("it is stopped"),
        }
    }
}

/// The beginning of a call: it is listed if it changes something, and the fault is returned if it is the one.
fn enter(pid: Pid, calls: &mut Vec<Call>, fault: Option<(usize, Fault)>) -> Option<Fault> {
    let mut registers = ptrace::getregs(pid).expect("it is stopped");
    let kind = kind_of(registers.orig_rax)?;
    // Reading a file changes nothing: openat is a change if it may make or shorten one.
    const MAKES: u64 = 0o100 | 0o1000;
    if registers.orig_rax == 257 && registers.rdx & MAKES == 0 {
        return None;
    }
    let path = std::fs::read_link(format!("/proc/{pid}/fd/{}", registers.rdi)).ok();
    calls.push(Call { kind, path: path.filter(|_| kind != Kind::Change) });
    let (_, fault) = fault.filter(|(number, _)| *number == calls.len() - 1)?;
    if matches!(fault, Fault::Fails(_)) {
        // No call has this number.
        registers.orig_rax = u64::MAX;
        ptrace::setregs(pid, registers).expect("it is stopped");
    }
    Some(fault)
}
