// SPDX-License-Identifier: LGPL-2.1-or-later
//! What can go wrong, in words.
use std::fmt;

/// What a call of this crate can fail with. What the library has to say beside it goes to
/// stderr.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The machine has no workers, or there is no machine of that name.
    NoWorkers,
    /// The library does not start, with this errno.
    Start(i32),
    /// This thread has a runtime already: one process has one at a time.
    Running,
    /// The runtime of the data was closed.
    Closed,
    /// No worker of this machine can execute the kernel.
    NoDevice(String),
    /// The library refuses the task of this kernel, with this errno.
    Refused(String, i32),
    /// Two accesses of one task overlap, and one of them writes; they are counted from 0.
    Alias(String, usize, usize),
    /// A kernel panicked: its name and its message.
    Panicked(String, String),
    /// A shape does not fit the data, or has more elements than the library can count.
    Shape(String),
    /// The data contribute to another reduction already.
    Reduction,
    /// Nothing may wait here: in a callback, or in a kernel of a device.
    WouldWait,
    /// A name has a zero byte in it.
    Name(String),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoWorkers => write!(
                f,
                "the machine has no workers: `orrery machine list` shows the names there are"
            ),
            Error::Start(errno) => write!(
                f,
                "the runtime does not start: {}",
                std::io::Error::from_raw_os_error(*errno)
            ),
            Error::Running => write!(
                f,
                "there is a runtime already: use it, or drop it before another one starts"
            ),
            Error::Closed => write!(f, "the runtime of these data was closed"),
            Error::NoDevice(kernel) => write!(
                f,
                "no worker of this machine can execute `{kernel}`: give the kernel a version \
                 for the devices that there are"
            ),
            Error::Refused(kernel, errno) => write!(
                f,
                "the task of `{kernel}` is refused: {}",
                std::io::Error::from_raw_os_error(*errno)
            ),
            Error::Alias(kernel, one, other) => write!(
                f,
                "accesses {one} and {other} of the task of `{kernel}` overlap, and one of them \
                 writes: give the data once, with the mode that includes both"
            ),
            Error::Panicked(kernel, message) => {
                write!(f, "a kernel of `{kernel}` panicked: {message}")
            }
            Error::Shape(what) => write!(f, "{what}"),
            Error::Reduction => write!(
                f,
                "the data contribute to another reduction: one datum has one operation"
            ),
            Error::WouldWait => {
                write!(f, "nothing may wait in a callback, or in a kernel of a device")
            }
            Error::Name(name) => write!(f, "the name {name:?} has a zero byte in it"),
        }
    }
}

impl std::error::Error for Error {}
