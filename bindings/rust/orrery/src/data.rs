// SPDX-License-Identifier: LGPL-2.1-or-later
//! Data that tasks use. What a runtime knows of a datum is in its slot, which ends before
//! the memory does: with the datum, with its scope, or with the runtime.
use crate::access::{Commute, Contribute, Read, ReadWrite, Temporary, Use, Write, DEPTH};
use crate::error::{Error, Result};
use crate::layout::{check, BlockOf, Layout, MatrixOf, VariableOf, VectorOf, View};
use crate::parts::{Cut, Parts};
use crate::reduce::Operation;
use crate::runtime::Inner;
use orrery_sys::*;
use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
use std::ptr;
use std::rc::Rc;

/// A vector in the care of the runtime.
pub type Vector<T> = Data<VectorOf<T>>;
/// A matrix, column after column.
pub type Matrix<T> = Data<MatrixOf<T>>;
/// A block in three dimensions.
pub type Block<T> = Data<BlockOf<T>>;
/// One value.
pub type Variable<T> = Data<VariableOf<T>>;

/// One level of a plan: a handle and what it was cut into.
pub(crate) struct Planned {
    pub(crate) cut: u32,
    pub(crate) whole: starpu_data_handle_t,
    pub(crate) parts: Vec<starpu_data_handle_t>,
}

/// What the runtime knows of a datum.
#[doc(hidden)]
pub struct Slot {
    pub(crate) rt: Rc<Inner>,
    pub(crate) number: u64,
    /// Null once it has ended.
    pub(crate) handle: Cell<starpu_data_handle_t>,
    /// It is cut, with waiting, until it is used as a whole again.
    pub(crate) is_cut: Cell<bool>,
    /// Plans, those of parts behind those of what they are parts of.
    pub(crate) plans: RefCell<Vec<Planned>>,
    pub(crate) reduction: Cell<Option<TypeId>>,
}

impl Slot {
    pub(crate) fn new(rt: &Rc<Inner>, handle: starpu_data_handle_t) -> Rc<Slot> {
        let slot = Rc::new(Slot {
            rt: rt.clone(),
            number: rt.next_number(),
            handle: Cell::new(handle),
            is_cut: Cell::new(false),
            plans: RefCell::default(),
            reduction: Cell::new(None),
        });
        rt.keep(&slot);
        slot
    }

    /// Puts it together again if it is cut. Waits.
    pub(crate) fn join(&self) {
        if self.is_cut.replace(false) {
            unsafe { starpu_data_unpartition(self.handle.get(), STARPU_MAIN_RAM) };
        }
    }

    /// Ends the plans whose number is one of these, the last first.
    pub(crate) fn end_plans(&self, is_one: impl Fn(u32) -> bool) {
        let mut plans = self.plans.borrow_mut();
        for at in (0..plans.len()).rev() {
            if is_one(plans[at].cut) {
                let Planned { whole, mut parts, .. } = plans.remove(at);
                let n = parts.len() as u32;
                unsafe { starpu_data_partition_clean(whole, n, parts.as_mut_ptr()) };
            }
        }
    }

    /// Waits for its tasks; the value is where the memory is. Where nothing may wait the
    /// library ends the program, as the memory could not be given back.
    pub(crate) fn end(&self) {
        if self.handle.get().is_null() {
            return;
        }
        self.join();
        self.end_plans(|_| true);
        unsafe { starpu_data_unregister(self.handle.replace(ptr::null_mut())) };
        self.rt.drop_slot(self.number);
    }
}

/// What owned and borrowed data have in common: how tasks use them.
pub struct Datum<L: Layout> {
    pub(crate) slot: Rc<Slot>,
    pub(crate) at: *mut L::Element,
    pub(crate) dims: L::Dims,
}

impl<L: Layout> Datum<L> {
    /// # Safety
    /// The memory, if any, stays until the slot has ended.
    pub(crate) unsafe fn new(
        rt: &Rc<Inner>,
        at: *mut L::Element,
        dims: L::Dims,
    ) -> Result<Datum<L>> {
        rt.check_open()?;
        let slot = Slot::new(rt, L::register(at, dims));
        Ok(Datum { slot, at, dims })
    }

    pub(crate) fn whole(&self) -> Use<'_> {
        self.slot.join();
        Use { slot: &self.slot, handle: self.slot.handle.get(), path: [(0, 0); DEPTH] }
    }

    /// A task reads it.
    pub fn read(&self) -> Read<'_, L> {
        Read::new(self.whole())
    }
    /// A task writes all of it.
    pub fn write(&self) -> Write<'_, L> {
        Write::new(self.whole())
    }
    /// A task reads and writes it.
    pub fn rw(&self) -> ReadWrite<'_, L> {
        ReadWrite::new(self.whole())
    }
    /// A task reads and writes it, in any order among such tasks.
    pub fn commute(&self) -> Commute<'_, L> {
        Commute::new(self.whole())
    }
    /// A task contributes to it: partial values, which are combined before anything else
    /// uses the data. A datum has one operation.
    pub fn reduce<O: Operation<L::Element>>(&self, operation: O) -> Result<Contribute<'_, L>> {
        crate::reduce::set::<L, O>(&self.slot, operation)?;
        Ok(Contribute::new(self.whole()))
    }

    /// The extent in each dimension.
    pub fn dims(&self) -> L::Dims {
        self.dims
    }

    /// Its name in traces and messages.
    pub fn set_name(&self, name: &str) -> Result<()> {
        let name = crate::runtime::c_name(name)?;
        self.slot.rt.check_open()?;
        unsafe { starpu_data_set_name(self.whole().handle, name.as_ptr()) };
        Ok(())
    }

    /// Brings it to where workers of that memory node will use it; does not wait.
    pub fn prefetch(&self, node: u32) -> Result<()> {
        self.slot.rt.check_open()?;
        if node >= unsafe { starpu_memory_nodes_get_count() } {
            return Err(Error::Shape(format!("there is no memory node {node}")));
        }
        unsafe { starpu_data_prefetch_on_node(self.whole().handle, node, 1) };
        Ok(())
    }

    /// Waits until no task writes it, and lends the value. Tasks that write it and are
    /// submitted inside begin afterwards: who waits for them inside waits forever.
    pub fn with<R>(&self, f: impl FnOnce(<L as View<'_>>::Ref) -> R) -> Result<R> {
        let _held = self.acquire(STARPU_R)?;
        Ok(f(unsafe { L::whole(self.at, self.dims) }))
    }

    /// Of one that has ended the value is in the memory, and nobody uses it.
    pub(crate) fn acquire(&self, mode: starpu_data_access_mode) -> Result<Option<Held>> {
        if self.slot.handle.get().is_null() {
            return Ok(None);
        }
        let handle = self.whole().handle;
        match unsafe { starpu_data_acquire(handle, mode) } {
            0 => Ok(Some(Held(handle))),
            _ => Err(Error::WouldWait),
        }
    }

    /// Parts, to be used in turns with the whole, without waiting: the runtime submits what
    /// switches between them. They end when what is returned is dropped.
    pub fn plan<C: Cut<L>>(&self, cut: C) -> Result<Parts<'_, C::Child>> {
        Parts::plan(self, cut)
    }
}

/// An acquisition, which ends with it.
pub(crate) struct Held(starpu_data_handle_t);

impl Drop for Held {
    fn drop(&mut self) {
        unsafe { starpu_data_release(self.0) };
    }
}

/// A datum whose memory the runtime has. It may be forgotten: then its memory stays.
pub struct Data<L: Layout> {
    datum: Datum<L>,
    len: usize,
    capacity: usize,
}

impl<L: Layout> Data<L> {
    pub(crate) fn new(rt: &Rc<Inner>, memory: Vec<L::Element>, dims: L::Dims) -> Result<Self> {
        check::<L>(dims, Some(memory.len()))?;
        let mut memory = ManuallyDrop::new(memory);
        let datum = unsafe { Datum::new(rt, memory.as_mut_ptr(), dims) };
        match datum {
            Ok(datum) => Ok(Data { datum, len: memory.len(), capacity: memory.capacity() }),
            Err(error) => {
                drop(ManuallyDrop::into_inner(memory));
                Err(error)
            }
        }
    }

    /// Waits until no task uses it, and lends the value, to be changed.
    pub fn with_mut<R>(&mut self, f: impl FnOnce(<L as View<'_>>::Mut) -> R) -> Result<R> {
        let _held = self.datum.acquire(STARPU_RW)?;
        Ok(f(unsafe { L::whole_mut(self.datum.at, self.datum.dims) }))
    }

    /// Cuts it, after the tasks that use it. It is put together again when what is returned
    /// is dropped, which waits for the tasks of the parts.
    pub fn partition<C: Cut<L>>(&mut self, cut: C) -> Result<Parts<'_, C::Child>> {
        Parts::cut(&self.datum, cut)
    }

    /// Waits for the tasks that use it, and gives its elements back.
    pub fn into_vec(self) -> Vec<L::Element> {
        let mut this = ManuallyDrop::new(self);
        this.datum.slot.end();
        unsafe {
            ptr::drop_in_place(&mut this.datum);
            Vec::from_raw_parts(this.datum.at, this.len, this.capacity)
        }
    }
}

impl<T: crate::layout::Plain> Data<VariableOf<T>> {
    /// Waits for the tasks that use it, and gives the value back.
    pub fn into_inner(self) -> T {
        self.into_vec()[0]
    }
}

impl<L: Layout> Drop for Data<L> {
    fn drop(&mut self) {
        self.datum.slot.end();
        let (at, len, capacity) = (self.datum.at, self.len, self.capacity);
        mem::drop(unsafe { Vec::from_raw_parts(at, len, capacity) });
    }
}

impl<L: Layout> Deref for Data<L> {
    type Target = Datum<L>;
    fn deref(&self) -> &Datum<L> {
        &self.datum
    }
}

/// A datum in memory that outlives its scope.
pub struct Borrowed<'s, L: Layout> {
    datum: Datum<L>,
    life: PhantomData<&'s mut [L::Element]>,
}

impl<'s, L: Layout> Borrowed<'s, L> {
    /// # Safety
    /// The memory is the scope's until it has ended the slot.
    pub(crate) unsafe fn new(
        rt: &Rc<Inner>,
        at: *mut L::Element,
        dims: L::Dims,
    ) -> Result<Self> {
        Ok(Borrowed { datum: Datum::new(rt, at, dims)?, life: PhantomData })
    }

    /// Waits until no task uses it, and lends the value, to be changed.
    pub fn with_mut<R>(&mut self, f: impl FnOnce(<L as View<'_>>::Mut) -> R) -> Result<R> {
        let _held = self.datum.acquire(STARPU_RW)?;
        Ok(f(unsafe { L::whole_mut(self.datum.at, self.datum.dims) }))
    }

    /// As [`Data::partition`].
    pub fn partition<C: Cut<L>>(&mut self, cut: C) -> Result<Parts<'_, C::Child>> {
        Parts::cut(&self.datum, cut)
    }
}

impl<L: Layout> Deref for Borrowed<'_, L> {
    type Target = Datum<L>;
    fn deref(&self) -> &Datum<L> {
        &self.datum
    }
}

/// A datum in memory that its scope only reads.
pub struct Lent<'s, L: Layout>(pub(crate) Borrowed<'s, L>);

impl<L: Layout> Lent<'_, L> {
    /// A task reads it.
    pub fn read(&self) -> Read<'_, L> {
        self.0.read()
    }
    /// The extent in each dimension.
    pub fn dims(&self) -> L::Dims {
        self.0.dims()
    }
}

/// Memory that each task has for itself while it runs.
pub struct Scratch<L: Layout>(Datum<L>);

impl<L: Layout> Scratch<L> {
    pub(crate) fn new(rt: &Rc<Inner>, dims: L::Dims) -> Result<Self> {
        check::<L>(dims, None)?;
        Ok(Scratch(unsafe { Datum::new(rt, ptr::null_mut(), dims) }?))
    }

    /// A task has such memory, which begins with zeroes.
    pub fn get(&self) -> Temporary<'_, L> {
        Temporary::new(self.0.whole())
    }
}

impl<L: Layout> Drop for Scratch<L> {
    fn drop(&mut self) {
        self.0.slot.end();
    }
}
