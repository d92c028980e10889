// SPDX-License-Identifier: LGPL-2.1-or-later
//! Tasks on the processors and devices of a machine that is real or simulated, chosen when
//! the program starts.
//!
//! A program hands its data to a [`Runtime`] and submits tasks: a function, and how it uses
//! the data. The runtime executes them on workers, in an order in which each finds what was
//! submitted before it, and moves data between memories. On a simulated machine the same
//! program tells how long it would take there.
//!
//! What the types see to:
//!
//! - A kernel sees `&[T]` of what it reads and `&mut [T]` of what it writes, nobody else does
//!   meanwhile, and it is on another thread only with what is `Send`.
//! - Data belong to the runtime ([`Runtime::vector`]), or are borrowed for a scope
//!   ([`Runtime::scope`]). No guard must be dropped for either to be sound.
//! - One task may not have the same memory twice if it writes: an error when it is submitted.
//! - A panic of a kernel is an error of who awaits the task, and of [`Runtime::wait_all`]; the
//!   other tasks run.
//!
//! `docs/RUST.md` begins with an empty file and ends on GPUs that you do not have.
#![deny(missing_docs)]

mod access;
mod data;
mod device;
mod error;
mod kernel;
mod layout;
mod opencl;
mod parts;
mod ptx;
mod reduce;
mod runtime;
mod task;

pub use access::{
    Access, Accesses, AllSeen, Commute, Contribute, Read, ReadWrite, Seen, Temporary, Write,
};
pub use data::{Block, Borrowed, Data, Datum, Lent, Matrix, Scratch, Variable, Vector};
pub use error::{Error, Result};
pub use kernel::{Device, DeviceFunction, Kernel, KernelRef, Model};
pub use layout::{
    BlockMut, BlockOf, BlockRef, Layout, MatrixMut, MatrixOf, MatrixRef, Plain, VariableOf,
    VectorOf, View,
};
pub use opencl::OpenCl;
pub use parts::{Blocks, Columns, Cut, Part, Parts, Planes, Rows};
pub use ptx::Ptx;
pub use reduce::{Greatest, Least, Operation, Product, Sum};
pub use runtime::{Machine, Runtime, Scope};
pub use task::{Builder, Submitted};

/// The C interface, for what this crate has not.
pub use orrery_sys as sys;
