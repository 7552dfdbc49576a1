//! Windows: a job object, which ends with its last handle and all that is in it. Checked, never run.

#![expect(unsafe_code, reason = "job objects have no safe interface")]

use crate::command::Limits;
use crate::ended::Exit;
use std::io::{self, PipeReader, PipeWriter};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle};
use std::process::ExitStatus;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_ACTIVE_PROCESS,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOB_OBJECT_LIMIT_PROCESS_MEMORY, JOB_OBJECT_LIMIT_PROCESS_TIME,
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectBasicAccountingInformation, JobObjectExtendedLimitInformation, QueryInformationJobObject,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_SUSPENDED, OpenThread, ResumeThread, THREAD_SUSPEND_RESUME,
};

/// What is written to the command's input.
pub(crate) type Sender = ChildStdin;

/// What is read from the command's outputs.
pub(crate) type Receiver = ChildStdout;

/// What holds a command together.
pub(crate) const GROUP: &str = "job object";

pub(crate) fn sender(pipe: PipeWriter) -> io::Result<Sender> {
    ChildStdin::from_std(OwnedHandle::from(pipe).into())
}

pub(crate) fn receiver(pipe: PipeReader) -> io::Result<Receiver> {
    ChildStdout::from_std(OwnedHandle::from(pipe).into())
}

/// The processes of one command; they cannot leave. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Group {
    job: OwnedHandle,
    first: u32,
}

impl Group {
    /// Starts a program as the first of a job. It runs nothing until it is in it.
    pub(crate) fn start(mut program: Command, limits: &Limits) -> io::Result<(Child, Group)> {
        let job = make_job(limits)?;
        program.creation_flags(CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP).kill_on_drop(true);
        let child = program.spawn()?;
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let (process, first) = (child.raw_handle().ok_or_else(gone)?, child.id().ok_or_else(gone)?);
        // SAFETY: both handles are open.
        check(unsafe { AssignProcessToJobObject(job.as_raw_handle(), process) })?;
        resume(first)?;
        Ok((child, Group { job, first }))
    }

    /// Whether nobody is left.
    pub(crate) fn is_empty(&self) -> bool {
        let mut found = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        // SAFETY: the structure is ours to write and of the size that is said.
        let result = unsafe {
            QueryInformationJobObject(
                self.job.as_raw_handle(),
                JobObjectBasicAccountingInformation,
                (&raw mut found).cast(),
                size_of_val(&found) as u32,
                std::ptr::null_mut(),
            )
        };
        result != 0 && found.ActiveProcesses == 0
    }

    /// Asks those that share this process's console to end.
    pub(crate) fn ask(&self) {
        // SAFETY: no memory is involved.
        unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, self.first) };
    }

    /// Ends all.
    pub(crate) fn end(&self) {
        // SAFETY: the handle is open.
        unsafe { TerminateJobObject(self.job.as_raw_handle(), 1) };
    }
}

/// A job that ends with its handle and holds its processes to the limits.
fn make_job(limits: &Limits) -> io::Result<OwnedHandle> {
    // SAFETY: neither attributes nor a name are given.
    let job = own(unsafe { CreateJobObjectW(std::ptr::null(), std::ptr::null()) })?;
    let mut wanted = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    let basic = &mut wanted.BasicLimitInformation;
    basic.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    if let Some(cpu) = limits.cpu {
        // In steps of 100 nanoseconds.
        basic.PerProcessUserTimeLimit = i64::try_from(cpu.as_nanos() / 100).unwrap_or(i64::MAX);
        basic.LimitFlags |= JOB_OBJECT_LIMIT_PROCESS_TIME;
    }
    if let Some(processes) = limits.processes {
        basic.ActiveProcessLimit = u32::try_from(processes).unwrap_or(u32::MAX);
        basic.LimitFlags |= JOB_OBJECT_LIMIT_ACTIVE_PROCESS;
    }
    if let Some(memory) = limits.memory {
        basic.LimitFlags |= JOB_OBJECT_LIMIT_PROCESS_MEMORY;
        wanted.ProcessMemoryLimit = usize::try_from(memory).unwrap_or(usize::MAX);
    }
    // SAFETY: the structure is ours to read and of the size that is said.
    check(unsafe {
        SetInformationJobObject(
            job.as_raw_handle(),
            JobObjectExtendedLimitInformation,
            (&raw const wanted).cast(),
            size_of_val(&wanted) as u32,
        )
    })?;
    Ok(job)
}

/// Lets a process run that was started suspended. It has one thread.
fn resume(process: u32) -> io::Result<()> {
    // SAFETY: no memory is involved.
    let threads = own(unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) })?;
    let mut entry = THREADENTRY32 { dwSize: size_of::<THREADENTRY32>() as u32, ..THREADENTRY32::default() };
    // SAFETY: the structure is ours to write and says its size.
    let mut found = unsafe { Thread32First(threads.as_raw_handle(), &raw mut entry) };
    while found != 0 {
        if entry.th32OwnerProcessID == process {
            // SAFETY: no memory is involved.
            let thread = own(unsafe { OpenThread(THREAD_SUSPEND_RESUME, 0, entry.th32ThreadID) })?;
            // SAFETY: the handle is open.
            return match unsafe { ResumeThread(thread.as_raw_handle()) } {
                u32::MAX => Err(io::Error::last_os_error()),
                _ => Ok(()),
            };
        }
        // SAFETY: as above.
        found = unsafe { Thread32Next(threads.as_raw_handle(), &raw mut entry) };
    }
    Err(io::Error::from(io::ErrorKind::NotFound))
}

fn check(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn own(handle: RawHandle) -> io::Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new and nobody else's.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// How the program ended; what cannot be told counts as killed.
pub(crate) fn exit(status: io::Result<ExitStatus>) -> Exit {
    Exit::Code(status.ok().and_then(|status| status.code()).unwrap_or(1))
}
