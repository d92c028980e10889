// SPDX-License-Identifier: LGPL-2.1-or-later
//! How data lie in memory, and what kernels see of them.
use crate::error::{Error, Result};
use orrery_sys::*;
use std::marker::PhantomData;
use std::mem::{align_of, size_of};
use std::ops::{Index, IndexMut};
use std::os::raw::c_void;
use std::{ptr, slice};

/// Elements of data: copied as bytes between memories, and made by devices.
///
/// # Safety
/// Every pattern of bits is a value of the type, and it has no bytes between its fields.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($t:ty)*) => { $(unsafe impl Plain for $t {})* };
}
plain! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 }
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// A layout: vector, matrix, block or variable. Implemented here alone.
pub trait Layout: Sealed + for<'k> View<'k> + 'static {
    /// What the data consist of.
    type Element: Plain;
    /// Their extent in each dimension.
    type Dims: Copy;

    /// How many elements that is; `None`: more than can be counted.
    #[doc(hidden)]
    fn count(dims: Self::Dims) -> Option<usize>;
    /// Registers memory of that many elements, or none (null).
    ///
    /// # Safety
    /// The memory stays until the handle is unregistered.
    #[doc(hidden)]
    unsafe fn register(at: *mut Self::Element, dims: Self::Dims) -> starpu_data_handle_t;
    /// What is at that memory.
    ///
    /// # Safety
    /// It has that many elements, which nobody writes as long.
    #[doc(hidden)]
    unsafe fn whole<'k>(at: *mut Self::Element, dims: Self::Dims) -> <Self as View<'k>>::Ref;
    /// The same, to be written.
    ///
    /// # Safety
    /// It has that many elements, which nobody else uses as long.
    #[doc(hidden)]
    unsafe fn whole_mut<'k>(
        at: *mut Self::Element,
        dims: Self::Dims,
    ) -> <Self as View<'k>>::Mut;
    /// The extents of up to three dimensions, 1 for others.
    #[doc(hidden)]
    fn extents(dims: Self::Dims) -> [usize; 3];
    /// Each run of elements that lie side by side.
    ///
    /// # Safety
    /// The structure is of that layout.
    #[doc(hidden)]
    unsafe fn runs(buffer: *mut c_void, f: &mut dyn FnMut(*mut Self::Element, usize));
}

/// What kernels see of a layout.
pub trait View<'k>: Sealed {
    /// Of data that are read.
    type Ref: 'k;
    /// Of data that are written.
    type Mut: 'k;

    /// # Safety
    /// The structure is of that layout, its memory nobody's who writes, as long.
    #[doc(hidden)]
    unsafe fn by_ref(buffer: *mut c_void) -> Self::Ref;
    /// # Safety
    /// The structure is of that layout, its memory nobody else's, as long.
    #[doc(hidden)]
    unsafe fn by_mut(buffer: *mut c_void) -> Self::Mut;
}

/// Nobody else implements layouts.
#[doc(hidden)]
pub trait Sealed {}
impl<T: Plain> Sealed for VectorOf<T> {}
impl<T: Plain> Sealed for VariableOf<T> {}
impl<T: Plain> Sealed for MatrixOf<T> {}
impl<T: Plain> Sealed for BlockOf<T> {}

fn extent(n: usize) -> Option<u32> {
    u32::try_from(n).ok()
}

/// What all memory of the library is aligned to, as malloc's is.
const ALIGNMENT: usize = 16;

/// The extents as the library counts them, or what is wrong.
pub(crate) fn check<L: Layout>(dims: L::Dims, len: Option<usize>) -> Result<usize> {
    if size_of::<L::Element>() == 0 || align_of::<L::Element>() > ALIGNMENT {
        return Err(Error::Shape(format!(
            "elements have one byte at least, and are aligned to {ALIGNMENT} bytes at most"
        )));
    }
    let n = L::count(dims).filter(|n| n.checked_mul(size_of::<L::Element>()).is_some());
    match (n, len) {
        (None, _) => Err(Error::Shape(
            "the data have more elements than the library can count (2^32 in each \
             dimension)"
                .into(),
        )),
        (Some(n), Some(len)) if n != len => {
            Err(Error::Shape(format!("there are {len} elements, and the shape has {n}")))
        }
        (Some(0), _) => Err(Error::Shape("data have one element at least".into())),
        (Some(n), _) => Ok(n),
    }
}

// --- vectors ---

/// The layout of vectors: kernels see slices.
pub struct VectorOf<T>(PhantomData<T>);

impl<T: Plain> Layout for VectorOf<T> {
    type Element = T;
    type Dims = usize;

    fn count(n: usize) -> Option<usize> {
        extent(n).map(|_| n)
    }
    unsafe fn register(at: *mut T, n: usize) -> starpu_data_handle_t {
        let mut handle = ptr::null_mut();
        let home = if at.is_null() { -1 } else { STARPU_MAIN_RAM as i32 };
        starpu_vector_data_register(&mut handle, home, at as usize, n as u32, size_of::<T>());
        handle
    }
    unsafe fn whole<'k>(at: *mut T, n: usize) -> &'k [T] {
        slice::from_raw_parts(at, n)
    }
    unsafe fn whole_mut<'k>(at: *mut T, n: usize) -> &'k mut [T] {
        slice::from_raw_parts_mut(at, n)
    }
    fn extents(n: usize) -> [usize; 3] {
        [n, 1, 1]
    }
    unsafe fn runs(buffer: *mut c_void, f: &mut dyn FnMut(*mut T, usize)) {
        let v = &*(buffer as *const starpu_vector_interface);
        f(v.ptr as *mut T, v.nx as usize);
    }
}

impl<'k, T: Plain> View<'k> for VectorOf<T> {
    type Ref = &'k [T];
    type Mut = &'k mut [T];

    #[inline]
    unsafe fn by_ref(buffer: *mut c_void) -> &'k [T] {
        let v = &*(buffer as *const starpu_vector_interface);
        slice::from_raw_parts(v.ptr as *const T, v.nx as usize)
    }
    #[inline]
    unsafe fn by_mut(buffer: *mut c_void) -> &'k mut [T] {
        let v = &*(buffer as *const starpu_vector_interface);
        slice::from_raw_parts_mut(v.ptr as *mut T, v.nx as usize)
    }
}

// --- variables ---

/// The layout of single values.
pub struct VariableOf<T>(PhantomData<T>);

impl<T: Plain> Layout for VariableOf<T> {
    type Element = T;
    type Dims = ();

    fn count(_: ()) -> Option<usize> {
        Some(1)
    }
    unsafe fn register(at: *mut T, _: ()) -> starpu_data_handle_t {
        let mut handle = ptr::null_mut();
        let home = if at.is_null() { -1 } else { STARPU_MAIN_RAM as i32 };
        starpu_variable_data_register(&mut handle, home, at as usize, size_of::<T>());
        handle
    }
    unsafe fn whole<'k>(at: *mut T, _: ()) -> &'k T {
        &*at
    }
    unsafe fn whole_mut<'k>(at: *mut T, _: ()) -> &'k mut T {
        &mut *at
    }
    fn extents(_: ()) -> [usize; 3] {
        [1; 3]
    }
    unsafe fn runs(buffer: *mut c_void, f: &mut dyn FnMut(*mut T, usize)) {
        f(STARPU_VARIABLE_GET_PTR(buffer) as *mut T, 1);
    }
}

impl<'k, T: Plain> View<'k> for VariableOf<T> {
    type Ref = &'k T;
    type Mut = &'k mut T;

    #[inline]
    unsafe fn by_ref(buffer: *mut c_void) -> &'k T {
        &*(STARPU_VARIABLE_GET_PTR(buffer) as *const T)
    }
    #[inline]
    unsafe fn by_mut(buffer: *mut c_void) -> &'k mut T {
        &mut *(STARPU_VARIABLE_GET_PTR(buffer) as *mut T)
    }
}

// --- matrices and blocks ---

macro_rules! grid {
    ($of:ident, $shared:ident, $mutable:ident, $n:literal, $interface:ident, $register:ident,
     $strides:ident, $what:literal) => {
        #[doc = concat!("The layout of ", $what, ".")]
        pub struct $of<T>(PhantomData<T>);

        #[doc = concat!("What a kernel sees of ", $what, " that it reads.")]
        #[derive(Clone, Copy)]
        pub struct $shared<'k, T> {
            at: *const T,
            dims: [usize; $n],
            strides: [usize; $n],
            life: PhantomData<&'k [T]>,
        }

        #[doc = concat!("What a kernel sees of ", $what, " that it writes.")]
        pub struct $mutable<'k, T> {
            at: *mut T,
            dims: [usize; $n],
            strides: [usize; $n],
            life: PhantomData<&'k mut [T]>,
        }

        // Slices of plain elements.
        unsafe impl<T: Plain> Send for $shared<'_, T> {}
        unsafe impl<T: Plain> Sync for $shared<'_, T> {}
        unsafe impl<T: Plain> Send for $mutable<'_, T> {}
        unsafe impl<T: Plain> Sync for $mutable<'_, T> {}

        impl<T> $shared<'_, T> {
            /// The extent in each dimension; elements of the first lie side by side.
            pub fn dims(&self) -> [usize; $n] {
                self.dims
            }
            /// How many elements lie between neighbours in each dimension.
            pub fn strides(&self) -> [usize; $n] {
                self.strides
            }
            /// The first element, for libraries.
            pub fn as_ptr(&self) -> *const T {
                self.at
            }
        }

        impl<T> $mutable<'_, T> {
            /// The extent in each dimension; elements of the first lie side by side.
            pub fn dims(&self) -> [usize; $n] {
                self.dims
            }
            /// How many elements lie between neighbours in each dimension.
            pub fn strides(&self) -> [usize; $n] {
                self.strides
            }
            /// The first element, for libraries.
            pub fn as_mut_ptr(&mut self) -> *mut T {
                self.at
            }
        }

        impl<T: Plain> Index<[usize; $n]> for $shared<'_, T> {
            type Output = T;
            #[inline]
            fn index(&self, at: [usize; $n]) -> &T {
                unsafe { &*self.at.add(offset(at, self.dims, self.strides)) }
            }
        }
        impl<T: Plain> Index<[usize; $n]> for $mutable<'_, T> {
            type Output = T;
            #[inline]
            fn index(&self, at: [usize; $n]) -> &T {
                unsafe { &*self.at.add(offset(at, self.dims, self.strides)) }
            }
        }
        impl<T: Plain> IndexMut<[usize; $n]> for $mutable<'_, T> {
            #[inline]
            fn index_mut(&mut self, at: [usize; $n]) -> &mut T {
                unsafe { &mut *self.at.add(offset(at, self.dims, self.strides)) }
            }
        }

        impl<T: Plain> Layout for $of<T> {
            type Element = T;
            type Dims = [usize; $n];

            fn count(dims: [usize; $n]) -> Option<usize> {
                // What lies before a plane is counted in 32 bits as well.
                let before =
                    dims[..$n - 1].iter().try_fold(1, |n: usize, &d| n.checked_mul(d))?;
                extent(before)?;
                dims.iter().try_fold(1usize, |n, &d| extent(d).and_then(|_| n.checked_mul(d)))
            }
            unsafe fn register(at: *mut T, dims: [usize; $n]) -> starpu_data_handle_t {
                let mut handle = ptr::null_mut();
                let home = if at.is_null() { -1 } else { STARPU_MAIN_RAM as i32 };
                $register(&mut handle, home, at as usize, dims, size_of::<T>());
                handle
            }
            unsafe fn whole<'k>(at: *mut T, dims: [usize; $n]) -> $shared<'k, T> {
                $shared { at, dims, strides: dense(dims), life: PhantomData }
            }
            unsafe fn whole_mut<'k>(at: *mut T, dims: [usize; $n]) -> $mutable<'k, T> {
                $mutable { at, dims, strides: dense(dims), life: PhantomData }
            }
            fn extents(dims: [usize; $n]) -> [usize; 3] {
                let mut all = [1; 3];
                all[..$n].copy_from_slice(&dims);
                all
            }
            unsafe fn runs(buffer: *mut c_void, f: &mut dyn FnMut(*mut T, usize)) {
                let view = <Self as View>::by_mut(buffer);
                let columns: usize = view.dims[1..].iter().product();
                for mut c in 0..columns {
                    let mut skip = 0;
                    for k in 1..$n {
                        skip += c % view.dims[k] * view.strides[k];
                        c /= view.dims[k];
                    }
                    f(view.at.add(skip), view.dims[0]);
                }
            }
        }

        impl<'k, T: Plain> View<'k> for $of<T> {
            type Ref = $shared<'k, T>;
            type Mut = $mutable<'k, T>;

            #[inline]
            unsafe fn by_ref(buffer: *mut c_void) -> $shared<'k, T> {
                let (at, dims, strides) = $strides(&*(buffer as *const $interface));
                $shared { at: at as *const T, dims, strides, life: PhantomData }
            }
            #[inline]
            unsafe fn by_mut(buffer: *mut c_void) -> $mutable<'k, T> {
                let (at, dims, strides) = $strides(&*(buffer as *const $interface));
                $mutable { at: at as *mut T, dims, strides, life: PhantomData }
            }
        }
    };
}

/// Strides without gaps.
fn dense<const N: usize>(dims: [usize; N]) -> [usize; N] {
    let mut strides = [1; N];
    for k in 1..N {
        strides[k] = strides[k - 1] * dims[k - 1];
    }
    strides
}

#[inline]
fn offset<const N: usize>(at: [usize; N], dims: [usize; N], strides: [usize; N]) -> usize {
    assert!(
        at.iter().zip(&dims).all(|(i, n)| i < n),
        "the element {at:?} is outside of {dims:?}"
    );
    at.iter().zip(&strides).map(|(i, s)| i * s).sum()
}

unsafe fn register_matrix(
    handle: &mut starpu_data_handle_t,
    home: i32,
    at: usize,
    [nx, ny]: [usize; 2],
    size: usize,
) {
    starpu_matrix_data_register(handle, home, at, nx as u32, nx as u32, ny as u32, size);
}

unsafe fn register_block(
    handle: &mut starpu_data_handle_t,
    home: i32,
    at: usize,
    [nx, ny, nz]: [usize; 3],
    size: usize,
) {
    let (ldy, ldz) = (nx as u32, (nx * ny) as u32);
    starpu_block_data_register(
        handle, home, at, ldy, ldz, nx as u32, ny as u32, nz as u32, size,
    );
}

fn matrix_strides(m: &starpu_matrix_interface) -> (usize, [usize; 2], [usize; 2]) {
    (m.ptr, [m.nx as usize, m.ny as usize], [1, m.ld as usize])
}

fn block_strides(b: &starpu_block_interface) -> (usize, [usize; 3], [usize; 3]) {
    let dims = [b.nx as usize, b.ny as usize, b.nz as usize];
    (b.ptr, dims, [1, b.ldy as usize, b.ldz as usize])
}

grid!(
    MatrixOf,
    MatrixRef,
    MatrixMut,
    2,
    starpu_matrix_interface,
    register_matrix,
    matrix_strides,
    "a matrix, column after column: `[i, j]` is element i of column j"
);
grid!(
    BlockOf,
    BlockRef,
    BlockMut,
    3,
    starpu_block_interface,
    register_block,
    block_strides,
    "a block in three dimensions, plane after plane"
);

impl<'k, T: Plain> MatrixRef<'k, T> {
    /// The elements of column `j`, which lie side by side.
    pub fn column(&self, j: usize) -> &'k [T] {
        let first = offset([0, j], self.dims, self.strides);
        unsafe { slice::from_raw_parts(self.at.add(first), self.dims[0]) }
    }
}

impl<T: Plain> MatrixMut<'_, T> {
    /// The elements of column `j`, which lie side by side.
    pub fn column(&self, j: usize) -> &[T] {
        let first = offset([0, j], self.dims, self.strides);
        unsafe { slice::from_raw_parts(self.at.add(first), self.dims[0]) }
    }
    /// The same, to be written.
    pub fn column_mut(&mut self, j: usize) -> &mut [T] {
        let first = offset([0, j], self.dims, self.strides);
        unsafe { slice::from_raw_parts_mut(self.at.add(first), self.dims[0]) }
    }
}
