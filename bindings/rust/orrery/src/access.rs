// SPDX-License-Identifier: LGPL-2.1-or-later
//! How a task uses its data: the mode is a type, which says what its kernel sees.
use crate::data::Slot;
use crate::layout::{Layout, View};
use orrery_sys::*;
use std::marker::PhantomData;
use std::os::raw::c_void;

/// Levels of parts of parts that an access can tell apart.
pub(crate) const DEPTH: usize = 4;

/// One datum, or a part of one, as a task names it. A part has the number of the cut it is
/// of, and its own in it, for each level.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub struct Use<'d> {
    pub(crate) slot: &'d Slot,
    pub(crate) handle: starpu_data_handle_t,
    pub(crate) path: [(u32, u32); DEPTH],
}

impl Use<'_> {
    /// Whether they have memory in common.
    pub(crate) fn overlaps(&self, other: &Use<'_>) -> bool {
        if !std::ptr::eq(self.slot, other.slot) {
            return false;
        }
        for (a, b) in self.path.iter().zip(&other.path) {
            if a != b {
                // Other parts of the same cut are apart; all else is not known to be.
                return a.0 != b.0 || a.0 == 0;
            }
        }
        true
    }
}

/// An access that is an element of the tuple given to a task.
pub trait Access: Sealed + for<'k> Seen<'k> {
    #[doc(hidden)]
    const MODE: starpu_data_access_mode;
    #[doc(hidden)]
    fn used(&self) -> Use<'_>;
}

/// What a kernel sees of an access.
pub trait Seen<'k>: Sealed {
    /// A reference, or a view.
    type Seen: 'k;
    /// # Safety
    /// The structure is of the access's layout, and the kernel has its turn.
    #[doc(hidden)]
    unsafe fn seen(buffer: *mut c_void) -> Self::Seen;
}

#[doc(hidden)]
pub trait Sealed {}

macro_rules! access {
    ($(#[$doc:meta])* $name:ident, $mode:expr, $view:ident, $buffer:ident => $make:expr) => {
        $(#[$doc])*
        pub struct $name<'d, L>(pub(crate) Use<'d>, PhantomData<L>);

        impl<'d, L> $name<'d, L> {
            pub(crate) fn new(used: Use<'d>) -> Self {
                $name(used, PhantomData)
            }
        }
        impl<L: Layout> Sealed for $name<'_, L> {}
        impl<L: Layout> Access for $name<'_, L> {
            const MODE: starpu_data_access_mode = $mode;
            #[inline]
            fn used(&self) -> Use<'_> {
                self.0
            }
        }
        impl<'k, L: Layout> Seen<'k> for $name<'_, L> {
            type Seen = <L as View<'k>>::$view;
            #[inline]
            unsafe fn seen($buffer: *mut c_void) -> Self::Seen {
                $make
            }
        }
    };
}

access! {
    /// The kernel reads the data.
    Read, STARPU_R, Ref, buffer => <L as View<'k>>::by_ref(buffer)
}
access! {
    /// The kernel reads and writes the data.
    ReadWrite, STARPU_RW, Mut, buffer => <L as View<'k>>::by_mut(buffer)
}
access! {
    /// The kernel writes all of the data, which are not brought for it: what it finds there
    /// is not defined, often 0.
    Write, STARPU_W, Mut, buffer => {
        // Home memory has been written by who made it; other memory may be new.
        if starpu_worker_get_local_memory_node() != STARPU_MAIN_RAM {
            clear::<L>(buffer);
        }
        <L as View<'k>>::by_mut(buffer)
    }
}
access! {
    /// The kernel reads and writes the data, in any order among neighbours that do so too.
    Commute, STARPU_RW | STARPU_COMMUTE, Mut, buffer => <L as View<'k>>::by_mut(buffer)
}
access! {
    /// The kernel adds to a partial value of its worker's, which begins with the identity
    /// of the reduction.
    Contribute, STARPU_REDUX, Mut, buffer => <L as View<'k>>::by_mut(buffer)
}
access! {
    /// Memory for the kernel alone, which begins with zeroes.
    Temporary, STARPU_SCRATCH, Mut, buffer => {
        clear::<L>(buffer);
        <L as View<'k>>::by_mut(buffer)
    }
}

/// Zeroes are a value of every plain type.
pub(crate) unsafe fn clear<L: Layout>(buffer: *mut c_void) {
    L::runs(buffer, &mut |at, n| std::ptr::write_bytes(at, 0, n));
}

/// The modes of a task's accesses: of those that its type names, and of a list behind them.
#[derive(Clone, Copy, PartialEq)]
#[doc(hidden)]
pub struct Modes {
    pub(crate) named: &'static [starpu_data_access_mode],
    pub(crate) listed: Option<starpu_data_access_mode>,
}

impl Modes {
    pub(crate) fn of(&self, i: usize) -> starpu_data_access_mode {
        self.named.get(i).copied().or(self.listed).unwrap_or(STARPU_NONE)
    }
}

/// The accesses of a task: a tuple of up to eight; or of up to three and a `Vec` of any number
/// of another one, for which the kernel sees a `Vec`.
pub trait Accesses: Sealed + for<'k> AllSeen<'k> {
    #[doc(hidden)]
    const MODES: Modes;
    #[doc(hidden)]
    fn each<'a>(&'a self, f: &mut dyn FnMut(usize, Use<'a>));
}

/// What a kernel sees of all of them.
pub trait AllSeen<'k>: Sealed {
    /// A tuple.
    type Seen: 'k;
    /// # Safety
    /// These are the `n` buffers of a kernel with these accesses.
    #[doc(hidden)]
    unsafe fn seen(buffers: *mut *mut c_void, n: usize) -> Self::Seen;
}

macro_rules! tuple {
    ($($name:ident $n:tt),*) => {
        impl<$($name: Access),*> Sealed for ($($name,)*) {}
        impl<$($name: Access),*> Accesses for ($($name,)*) {
            const MODES: Modes = Modes { named: &[$($name::MODE),*], listed: None };
            #[inline]
            fn each<'a>(&'a self, _f: &mut dyn FnMut(usize, Use<'a>)) {
                $(_f($n, self.$n.used());)*
            }
        }
        impl<'k, $($name: Access),*> AllSeen<'k> for ($($name,)*) {
            type Seen = ($(<$name as Seen<'k>>::Seen,)*);
            #[inline]
            #[allow(clippy::unused_unit)]
            unsafe fn seen(_buffers: *mut *mut c_void, _: usize) -> Self::Seen {
                ($(<$name as Seen<'k>>::seen(*_buffers.add($n)),)*)
            }
        }
    };
}
tuple!();
tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

macro_rules! list {
    ($($name:ident $n:tt),*; $at:tt) => {
        impl<$($name: Access,)* R: Access> Sealed for ($($name,)* Vec<R>,) {}
        impl<$($name: Access,)* R: Access> Accesses for ($($name,)* Vec<R>,) {
            const MODES: Modes = Modes { named: &[$($name::MODE),*], listed: Some(R::MODE) };
            fn each<'a>(&'a self, f: &mut dyn FnMut(usize, Use<'a>)) {
                $(f($n, self.$n.used());)*
                for (i, access) in self.$at.iter().enumerate() {
                    f($at + i, access.used());
                }
            }
        }
        impl<'k, $($name: Access,)* R: Access> AllSeen<'k> for ($($name,)* Vec<R>,) {
            type Seen = ($(<$name as Seen<'k>>::Seen,)* Vec<<R as Seen<'k>>::Seen>,);
            unsafe fn seen(buffers: *mut *mut c_void, n: usize) -> Self::Seen {
                let listed = ($at..n).map(|i| <R as Seen<'k>>::seen(*buffers.add(i)));
                ($(<$name as Seen<'k>>::seen(*buffers.add($n)),)* listed.collect(),)
            }
        }
    };
}
list!(; 0);
list!(A 0; 1);
list!(A 0, B 1; 2);
list!(A 0, B 1, C 2; 3);
