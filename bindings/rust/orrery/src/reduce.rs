// SPDX-License-Identifier: LGPL-2.1-or-later
//! Reductions: tasks add to partial values, each worker to its own, which the runtime
//! combines before anything else uses the data.
use crate::access::Modes;
use crate::data::Slot;
use crate::error::{Error, Result};
use crate::layout::{Layout, Plain};
use crate::runtime::{as_simulated, CodeletMemory, First};
use orrery_sys::*;
use std::any::TypeId;
use std::collections::HashMap;
use std::os::raw::c_void;
use std::{ptr, slice};

/// What combines partial values, element by element.
///
/// ```
/// # fn main() -> orrery::Result<()> {
/// struct Or;
/// impl orrery::Operation<u8> for Or {
///     const NAMES: (&'static str, &'static str) = ("none", "or");
///     fn identity() -> u8 {
///         0
///     }
///     fn combine(into: &mut u8, other: u8) {
///         *into |= other
///     }
/// }
///
/// let machine = orrery::Machine::simulated("laptop-8").assume("* = 5us");
/// let rt = machine.run_kernels(true).start()?;
/// let bits = rt.variable(0u8)?;
/// for i in 0..8 {
///     rt.task("set").run((bits.reduce(Or)?,), move |(bits,)| *bits |= 1 << i)?;
/// }
/// assert_eq!(bits.into_inner(), 255);
/// # Ok(())
/// # }
/// ```
pub trait Operation<T: Plain>: 'static {
    /// The names that its two kernels have in traces: of that which makes an identity, and
    /// of that which combines.
    const NAMES: (&'static str, &'static str);
    /// What a partial value begins with.
    fn identity() -> T;
    /// `into` becomes both together.
    fn combine(into: &mut T, other: T);
}

/// The sum of elements.
pub struct Sum;
/// The product of elements.
pub struct Product;
/// The least element.
pub struct Least;
/// The greatest element.
pub struct Greatest;

macro_rules! operations {
    ($($t:ty: $zero:expr, $one:expr, $least:expr, $greatest:expr;)*) => { $(
        impl Operation<$t> for Sum {
            const NAMES: (&'static str, &'static str) = ("zero", "sum");
            fn identity() -> $t { $zero }
            fn combine(into: &mut $t, other: $t) { *into += other }
        }
        impl Operation<$t> for Product {
            const NAMES: (&'static str, &'static str) = ("one", "product");
            fn identity() -> $t { $one }
            fn combine(into: &mut $t, other: $t) { *into *= other }
        }
        impl Operation<$t> for Least {
            const NAMES: (&'static str, &'static str) = ("highest", "least");
            fn identity() -> $t { $greatest }
            fn combine(into: &mut $t, other: $t) { if other < *into { *into = other } }
        }
        impl Operation<$t> for Greatest {
            const NAMES: (&'static str, &'static str) = ("lowest", "greatest");
            fn identity() -> $t { $least }
            fn combine(into: &mut $t, other: $t) { if other > *into { *into = other } }
        }
    )* };
}
macro_rules! integers {
    ($($t:ty)*) => { operations! { $($t: 0, 1, <$t>::MIN, <$t>::MAX;)* } };
}
integers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }
operations! {
    f32: 0., 1., f32::NEG_INFINITY, f32::INFINITY;
    f64: 0., 1., f64::NEG_INFINITY, f64::INFINITY;
}

unsafe extern "C" fn init<L: Layout, O: Operation<L::Element>>(
    buffers: *mut *mut c_void,
    first: *mut c_void,
) {
    First::guard(first as *const First, O::NAMES.0, || {
        let identity = O::identity();
        L::runs(*buffers, &mut |at, n| {
            for i in 0..n {
                at.add(i).write(identity);
            }
        });
    });
}

unsafe extern "C" fn combine<L: Layout, O: Operation<L::Element>>(
    buffers: *mut *mut c_void,
    first: *mut c_void,
) {
    First::guard(first as *const First, O::NAMES.1, || {
        let mut from = Vec::new();
        L::runs(*buffers.add(1), &mut |at, _| from.push(at));
        let mut run = 0;
        L::runs(*buffers, &mut |at, n| {
            let into = slice::from_raw_parts_mut(at, n);
            for (i, element) in into.iter_mut().enumerate() {
                O::combine(element, *from[run].add(i));
            }
            run += 1;
        });
    });
}

fn modes_of(named: &'static [starpu_data_access_mode]) -> Modes {
    Modes { named, listed: None }
}

/// The two codelets of each layout and operation; ours, by raw pointers, since the library
/// has such as well.
#[derive(Default)]
pub(crate) struct Operations(HashMap<TypeId, *mut (CodeletMemory, CodeletMemory)>);

impl Drop for Operations {
    /// The library has stopped.
    fn drop(&mut self) {
        for (_, codelets) in self.0.drain() {
            drop(unsafe { Box::from_raw(codelets) });
        }
    }
}

/// The datum's operation, once.
pub(crate) fn set<L: Layout, O: Operation<L::Element>>(slot: &Slot, _: O) -> Result<()> {
    let kind = TypeId::of::<(L, O)>();
    if let Some(other) = slot.reduction.get() {
        return if other == kind { Ok(()) } else { Err(Error::Reduction) };
    }
    slot.rt.check_open()?;
    let rt = &slot.rt;
    let mut all = rt.operations.borrow_mut();
    let codelets = all.0.entry(kind).or_insert_with(|| {
        let mut init_codelet =
            CodeletMemory::new(O::NAMES.0, init::<L, O>, modes_of(&[STARPU_W]));
        let modes = modes_of(&[STARPU_RW | STARPU_COMMUTE, STARPU_R]);
        let mut combine_codelet = CodeletMemory::new(O::NAMES.1, combine::<L, O>, modes);
        if rt.is_simulated {
            as_simulated(&mut init_codelet.codelet, init::<L, O>);
            as_simulated(&mut combine_codelet.codelet, combine::<L, O>);
        }
        Box::into_raw(Box::new((init_codelet, combine_codelet)))
    });
    let report = &*rt.first as *const First as *mut c_void;
    slot.join();
    unsafe {
        starpu_data_set_reduction_methods_with_args(
            slot.handle.get(),
            ptr::addr_of_mut!((**codelets).1.codelet),
            report,
            ptr::addr_of_mut!((**codelets).0.codelet),
            report,
        )
    };
    slot.reduction.set(Some(kind));
    Ok(())
}
