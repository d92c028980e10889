// SPDX-License-Identifier: LGPL-2.1-or-later
//! Parts of data, with the layout that they have.
use crate::access::{Commute, Read, ReadWrite, Use, Write, DEPTH};
use crate::data::{Datum, Planned, Slot};
use crate::error::{Error, Result};
use crate::layout::{BlockOf, Layout, MatrixOf, Plain, VectorOf};
use orrery_sys::*;
use std::marker::PhantomData;
use std::os::raw::c_void;
use std::ptr;

type Filter = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut starpu_data_filter, u32, u32);

/// One level of a cut: the filter, the dimension that it cuts, into how many.
#[doc(hidden)]
pub struct Level {
    filter: Filter,
    dimension: usize,
    n: usize,
}

/// A way to cut a layout. A tuple of up to three cuts each part further: tiles of a matrix
/// are `(Rows(m), Columns(n))`.
pub trait Cut<L: Layout>: Sealed {
    /// What the parts are.
    type Child: Layout;
    #[doc(hidden)]
    fn levels(&self, to: &mut Vec<Level>);
}

#[doc(hidden)]
pub trait Sealed {}

/// A vector in so many blocks, of equal length but for one element.
pub struct Blocks(pub usize);
/// A matrix or block, its first dimension in so many parts.
pub struct Rows(pub usize);
/// A matrix or block, its second dimension in so many parts.
pub struct Columns(pub usize);
/// A block, its third dimension in so many parts.
pub struct Planes(pub usize);

macro_rules! cut {
    ($($name:ident of $layout:ident: $filter:ident, $dimension:literal)*) => { $(
        impl<T: Plain> Cut<$layout<T>> for $name {
            type Child = $layout<T>;
            fn levels(&self, to: &mut Vec<Level>) {
                to.push(Level { filter: $filter, dimension: $dimension, n: self.0 });
            }
        }
    )* };
}
impl Sealed for Blocks {}
impl Sealed for Rows {}
impl Sealed for Columns {}
impl Sealed for Planes {}
cut! {
    Blocks of VectorOf: starpu_vector_filter_block, 0
    Rows of MatrixOf: starpu_matrix_filter_block, 0
    Columns of MatrixOf: starpu_matrix_filter_vertical_block, 1
    Rows of BlockOf: starpu_block_filter_block, 0
    Columns of BlockOf: starpu_block_filter_vertical_block, 1
    Planes of BlockOf: starpu_block_filter_depth_block, 2
}

impl<A: Sealed, B: Sealed> Sealed for (A, B) {}
impl<L: Layout, A: Cut<L>, B: Cut<A::Child>> Cut<L> for (A, B) {
    type Child = B::Child;
    fn levels(&self, to: &mut Vec<Level>) {
        self.0.levels(to);
        self.1.levels(to);
    }
}
impl<A: Sealed, B: Sealed, C: Sealed> Sealed for (A, B, C) {}
impl<L: Layout, A: Cut<L>, B: Cut<A::Child>, C: Cut<B::Child>> Cut<L> for (A, B, C) {
    type Child = C::Child;
    fn levels(&self, to: &mut Vec<Level>) {
        self.0.levels(to);
        self.1.levels(to);
        self.2.levels(to);
    }
}

/// The levels, all of which fit the datum.
fn levels_of<L: Layout, C: Cut<L>>(datum: &Datum<L>, cut: &C) -> Result<Vec<Level>> {
    datum.slot.rt.check_open()?;
    let mut levels = Vec::new();
    cut.levels(&mut levels);
    let mut left = L::extents(datum.dims);
    for level in &levels {
        if level.n == 0 || level.n > left[level.dimension] {
            return Err(Error::Shape(format!(
                "{} elements cannot be cut into {} parts",
                left[level.dimension], level.n
            )));
        }
        left[level.dimension] /= level.n;
    }
    if levels.len() > DEPTH {
        return Err(Error::Shape(format!("a cut has up to {DEPTH} levels")));
    }
    Ok(levels)
}

fn filter_of(level: &Level) -> starpu_data_filter {
    starpu_data_filter {
        filter_func: Some(level.filter),
        nchildren: level.n as u32,
        ..Default::default()
    }
}

/// The parts of a datum.
///
/// ```
/// # fn main() -> orrery::Result<()> {
/// use orrery::{Columns, Rows};
///
/// let machine = orrery::Machine::simulated("laptop-8").assume("* = 5us");
/// let rt = machine.run_kernels(true).start()?;
/// let m = rt.matrix(vec![1f32; 36], 6, 6)?;
/// let tiles = m.plan((Rows(2), Columns(3)))?;
/// for tile in tiles.iter() {
///     rt.task("scale").run((tile.rw(),), |(mut t,)| t[[0, 0]] *= 2.)?; // 3 by 2 elements
/// }
/// // The whole, in its turn: the runtime submits what puts it together.
/// rt.task("add").run((m.rw(),), |(mut m,)| m[[3, 4]] += 1.)?;
/// assert_eq!(m.with(|m| [m[[0, 0]], m[[3, 4]], m[[1, 1]]])?, [2., 3., 1.]);
/// # Ok(())
/// # }
/// ```
///
/// `part(i)` of one level, `tile(i, j)` of two, `cell(i, j, k)` of
/// three.
pub struct Parts<'d, L: Layout> {
    slot: &'d Slot,
    /// The last level counts fastest.
    handles: Vec<starpu_data_handle_t>,
    counts: Vec<usize>,
    /// The number of the cut of each level.
    cuts: Vec<u32>,
    is_plan: bool,
    layout: PhantomData<L>,
}

impl<'d, L: Layout> Parts<'d, L> {
    pub(crate) fn cut<W: Layout, C: Cut<W, Child = L>>(
        datum: &'d Datum<W>,
        cut: C,
    ) -> Result<Self> {
        let levels = levels_of(datum, &cut)?;
        let slot = &*datum.slot;
        slot.join();
        // Those of parts that were forgotten: nobody has them any more.
        slot.end_plans(|_| true);
        let mut filters: Vec<_> = levels.iter().map(filter_of).collect();
        let whole = slot.handle.get();
        unsafe {
            starpu_data_map_filters_array(whole, filters.len() as i32, filters.as_mut_ptr())
        };
        slot.is_cut.set(true);
        let mut handles = vec![whole];
        for level in &levels {
            handles = handles
                .iter()
                .flat_map(|&h| {
                    (0..level.n as u32).map(move |i| unsafe { starpu_data_get_child(h, i) })
                })
                .collect();
        }
        Ok(Parts::of(slot, &levels, handles, false))
    }

    pub(crate) fn plan<W: Layout, C: Cut<W, Child = L>>(
        datum: &'d Datum<W>,
        cut: C,
    ) -> Result<Self> {
        let levels = levels_of(datum, &cut)?;
        let mut this = Parts::of(&datum.slot, &levels, Vec::new(), true);
        let mut wholes = vec![datum.whole().handle];
        for (level, &cut) in levels.iter().zip(&this.cuts) {
            let mut all = Vec::new();
            for whole in wholes {
                let mut parts = vec![ptr::null_mut(); level.n];
                let mut filter = filter_of(level);
                unsafe { starpu_data_partition_plan(whole, &mut filter, parts.as_mut_ptr()) };
                all.extend_from_slice(&parts);
                this.slot.plans.borrow_mut().push(Planned { cut, whole, parts });
            }
            wholes = all;
        }
        this.handles = wholes;
        Ok(this)
    }

    fn of(
        slot: &'d Slot,
        levels: &[Level],
        handles: Vec<starpu_data_handle_t>,
        is_plan: bool,
    ) -> Self {
        Parts {
            slot,
            handles,
            counts: levels.iter().map(|level| level.n).collect(),
            cuts: levels.iter().map(|_| slot.rt.next_number() as u32).collect(),
            is_plan,
            layout: PhantomData,
        }
    }

    /// How many there are on each level.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// The part with that number on each level.
    ///
    /// # Panics
    /// There is none.
    pub fn at(&self, at: &[usize]) -> Part<'_, L> {
        assert!(
            at.len() == self.counts.len() && at.iter().zip(&self.counts).all(|(i, n)| i < n),
            "the part {at:?} is none of {:?}",
            self.counts
        );
        let mut path = [(0, 0); DEPTH];
        let mut number = 0;
        for (level, &i) in at.iter().enumerate() {
            path[level] = (self.cuts[level], i as u32);
            number = number * self.counts[level] + i;
        }
        let used = Use { slot: self.slot, handle: self.handles[number], path };
        Part(used, PhantomData)
    }

    /// Part `i` of a cut of one level.
    pub fn part(&self, i: usize) -> Part<'_, L> {
        self.at(&[i])
    }
    /// Part `j` of part `i`.
    pub fn tile(&self, i: usize, j: usize) -> Part<'_, L> {
        self.at(&[i, j])
    }
    /// Part `k` of part `j` of part `i`.
    pub fn cell(&self, i: usize, j: usize, k: usize) -> Part<'_, L> {
        self.at(&[i, j, k])
    }

    /// All of them, the last level fastest.
    pub fn iter(&self) -> impl Iterator<Item = Part<'_, L>> + '_ {
        (0..self.handles.len()).map(move |number| {
            let mut left = number;
            let mut at = vec![0; self.counts.len()];
            for (i, n) in at.iter_mut().zip(&self.counts).rev() {
                *i = left % n;
                left /= n;
            }
            self.at(&at)
        })
    }
}

impl<L: Layout> Drop for Parts<'_, L> {
    fn drop(&mut self) {
        if self.slot.handle.get().is_null() {
            return; // the runtime was closed, and has done this
        }
        if self.is_plan {
            self.slot.end_plans(|cut| self.cuts.contains(&cut));
        } else {
            self.slot.join();
        }
    }
}

/// A part of a datum.
pub struct Part<'p, L: Layout>(Use<'p>, PhantomData<L>);

impl<L: Layout> Clone for Part<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<L: Layout> Copy for Part<'_, L> {}

impl<'p, L: Layout> Part<'p, L> {
    /// A task reads it.
    pub fn read(&self) -> Read<'p, L> {
        Read::new(self.0)
    }
    /// A task writes all of it.
    pub fn write(&self) -> Write<'p, L> {
        Write::new(self.0)
    }
    /// A task reads and writes it.
    pub fn rw(&self) -> ReadWrite<'p, L> {
        ReadWrite::new(self.0)
    }
    /// A task reads and writes it, in any order among such tasks.
    pub fn commute(&self) -> Commute<'p, L> {
        Commute::new(self.0)
    }
}
