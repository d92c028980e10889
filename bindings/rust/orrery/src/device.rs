// SPDX-License-Identifier: LGPL-2.1-or-later
//! What programs for devices have in common: what they get of data, and the vendors' libraries.
use orrery_sys::*;
use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_void};

/// Of a buffer, on the device of the worker that executes the kernel.
pub(crate) struct Memory {
    /// The first element, where a device has addresses.
    pub pointer: usize,
    /// Where it has none: the memory, and which element of it is the first.
    pub handle: usize,
    pub offset: usize,
    /// The length of a vector; rows, columns and the distance of columns of a matrix; three
    /// extents, the distance of columns and of planes of a block; nothing of a variable.
    pub shape: Vec<usize>,
    /// One for each dimension.
    pub extents: Vec<usize>,
}

impl Memory {
    /// # Safety
    /// The buffer is one of a kernel's.
    pub unsafe fn of(buffer: *mut c_void) -> std::result::Result<Memory, String> {
        // All interfaces begin with their number.
        match *(buffer as *const starpu_data_interface_id) {
            STARPU_VECTOR_INTERFACE_ID => {
                let v = &*(buffer as *const starpu_vector_interface);
                Ok(Memory {
                    pointer: v.ptr,
                    handle: v.dev_handle,
                    offset: v.offset / v.elemsize,
                    shape: vec![v.nx as usize],
                    extents: vec![v.nx as usize],
                })
            }
            STARPU_VARIABLE_INTERFACE_ID => {
                let v = &*(buffer as *const starpu_variable_interface);
                Ok(Memory {
                    pointer: v.ptr,
                    handle: v.dev_handle,
                    offset: v.offset / v.elemsize,
                    shape: vec![],
                    extents: vec![1],
                })
            }
            STARPU_MATRIX_INTERFACE_ID => {
                let m = &*(buffer as *const starpu_matrix_interface);
                let (nx, ny) = (m.nx as usize, m.ny as usize);
                Ok(Memory {
                    pointer: m.ptr,
                    handle: m.dev_handle,
                    offset: m.offset / m.elemsize,
                    shape: vec![nx, ny, m.ld as usize],
                    extents: vec![nx, ny],
                })
            }
            STARPU_BLOCK_INTERFACE_ID => {
                let b = &*(buffer as *const starpu_block_interface);
                let extents = vec![b.nx as usize, b.ny as usize, b.nz as usize];
                let mut shape = extents.clone();
                shape.extend([b.ldy as usize, b.ldz as usize]);
                Ok(Memory {
                    pointer: b.ptr,
                    handle: b.dev_handle,
                    offset: b.offset / b.elemsize,
                    shape,
                    extents,
                })
            }
            other => {
                Err(format!("a buffer has the interface {other}, which is not known here"))
            }
        }
    }
}

/// What a kernel gets of its data, in order: where the memory is, and its shape; and the
/// extents of the last.
///
/// # Safety
/// They are the buffers of a kernel.
pub(crate) unsafe fn words_of<const N: usize>(
    buffers: &[*mut c_void],
    place: impl Fn(&Memory) -> [usize; N],
) -> std::result::Result<(Vec<usize>, Vec<usize>), String> {
    let mut words = Vec::new();
    let mut extents = vec![1];
    for &buffer in buffers {
        let memory = Memory::of(buffer)?;
        words.extend(place(&memory));
        words.extend(memory.shape);
        extents = memory.extents;
    }
    Ok((words, extents))
}

extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// A vendor's library, which liborrery has opened for its workers.
pub(crate) struct Library {
    handle: *mut c_void,
    name: String,
}

impl Library {
    pub fn open(name: &str) -> std::result::Result<Library, String> {
        const RTLD_NOW: c_int = 2;
        let c_name = CString::new(name).map_err(|_| format!("{name:?} is no file's name"))?;
        let handle = unsafe { dlopen(c_name.as_ptr(), RTLD_NOW) };
        if handle.is_null() {
            return Err(format!("{name} cannot be opened"));
        }
        Ok(Library { handle, name: name.into() })
    }

    /// The address of a function.
    pub fn entry(&self, entry: &str) -> std::result::Result<*mut c_void, String> {
        let c_name = CString::new(entry).map_err(|_| format!("{entry:?} is no name"))?;
        let address = unsafe { dlsym(self.handle, c_name.as_ptr()) };
        match address.is_null() {
            true => Err(format!("{} lacks {entry}", self.name)),
            false => Ok(address),
        }
    }
}
