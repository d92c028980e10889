// SPDX-License-Identifier: LGPL-2.1-or-later
//! The C interface of Orrery, which is StarPU 1.4's: every function, structure and constant
//! of `starpu.h`, `orrery.h` and the headers for policies, under the same names.
//!
//! What macros are in C are functions here: `STARPU_VECTOR_GET_PTR(buffer)`. Lists of
//! variable length (`starpu_task_insert`) are C's: arguments have C's types, and end with 0.
//! The crate `orrery` is the safe one.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
#![allow(clippy::all)]

mod accessors;
mod bindings;
mod platform;

pub use accessors::*;
pub use bindings::*;
pub use platform::*;

use std::os::raw::c_int;

/// The bit of a type of workers in `starpu_codelet::where_`.
#[inline]
pub const fn STARPU_WORKER_TO_MASK(archtype: starpu_worker_archtype) -> u32 {
    1 << (archtype + 1)
}

/// The least priority that the policy of the calling thread's context knows.
///
/// # Safety
/// The library is initialised.
#[inline]
pub unsafe fn STARPU_MIN_PRIO() -> c_int {
    starpu_sched_get_min_priority()
}

/// The greatest one.
///
/// # Safety
/// The library is initialised.
#[inline]
pub unsafe fn STARPU_MAX_PRIO() -> c_int {
    starpu_sched_get_max_priority()
}
