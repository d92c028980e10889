// SPDX-License-Identifier: LGPL-2.1-or-later
//! Kernels in OpenCL C.
use crate::device::{words_of, Library};
use crate::error::{Error, Result};
use crate::runtime::{c_name, lock};
use orrery_sys::*;
use std::ffi::CString;
use std::mem::{size_of, transmute};
use std::os::raw::{c_char, c_void};
use std::ptr;
use std::sync::Mutex;

/// A program in OpenCL C, one kernel of which does what the kernel does on processors.
///
/// For each of the task's data the kernel has these arguments: `__global T *`; a `ulong`,
/// which element of that memory is the first; and `ulong`s of the shape: the length of a
/// vector; rows, columns and the distance of columns of a matrix; three extents, the
/// distance of columns and of planes of a block; none of a variable. The task's argument,
/// if it has one, is the last. There is a work item for each element of the last of the
/// data.
pub struct OpenCl {
    source: CString,
    function: CString,
    /// Compiled, for the devices of the runtime that has it.
    programs: Mutex<Option<Box<starpu_opencl_program>>>,
}

// OpenCL's programs are for all threads, one of which at a time has them here.
unsafe impl Send for OpenCl {}
unsafe impl Sync for OpenCl {}

impl OpenCl {
    /// The kernel `function` of that source, which is compiled when the first task that
    /// uses it is submitted.
    pub fn new(source: &str, function: &str) -> Result<OpenCl> {
        Ok(OpenCl {
            source: c_name(source)?,
            function: c_name(function)?,
            programs: Mutex::new(None),
        })
    }

    pub(crate) fn compile(&self, kernel: &str) -> Result<()> {
        let mut programs = lock(&self.programs);
        if programs.is_some() {
            return Ok(());
        }
        let mut compiled = Box::<starpu_opencl_program>::default();
        let source = self.source.as_ptr();
        match unsafe {
            starpu_opencl_load_opencl_from_string(source, &mut *compiled, ptr::null())
        } {
            0 => *programs = Some(compiled),
            _ => return Err(Error::Refused(kernel.into(), 22)),
        }
        Ok(())
    }

    pub(crate) fn unload(&self) {
        if let Some(mut programs) = lock(&self.programs).take() {
            unsafe { starpu_opencl_unload_opencl(&mut *programs) };
        }
    }

    /// Puts it into the queue of the worker that calls.
    ///
    /// # Safety
    /// These are the buffers of a kernel of an OpenCL worker; the argument, if its size is
    /// not 0, is there.
    pub(crate) unsafe fn launch(
        &self,
        buffers: &[*mut c_void],
        argument: (usize, *const c_void),
    ) -> std::result::Result<(), String> {
        let (words, extents) = words_of(buffers, |memory| [memory.handle, memory.offset])?;
        let calls = Calls::find()?;
        let device = starpu_worker_get_devid(starpu_worker_get_id());
        let (mut kernel, mut queue) = (ptr::null_mut(), ptr::null_mut());
        let mut programs = lock(&self.programs);
        let programs = programs.as_mut().ok_or("its program is not compiled")?;
        let name = self.function.as_ptr() as *mut c_char;
        let mut status =
            starpu_opencl_load_kernel(&mut kernel, &mut queue, &mut **programs, name, device);
        for (i, word) in words.iter().enumerate() {
            if status == 0 {
                let at = word as *const usize as *const c_void;
                status = (calls.set)(kernel as *mut c_void, i as u32, size_of::<usize>(), at);
            }
        }
        if status == 0 && argument.0 > 0 {
            let i = words.len() as u32;
            status = (calls.set)(kernel as *mut c_void, i, argument.0, argument.1);
        }
        if status == 0 {
            let (n, extents, none) = (extents.len() as u32, extents.as_ptr(), ptr::null());
            let (kernel, queue) = (kernel as *mut c_void, queue as *mut c_void);
            let event = ptr::null_mut();
            status =
                (calls.enqueue)(queue, kernel, n, none, extents, none, 0, ptr::null(), event);
        }
        starpu_opencl_release_kernel(kernel);
        if status == 0 {
            Ok(())
        } else {
            Err(format!("OpenCL refuses the kernel, with {status}"))
        }
    }
}

type SetArgument = unsafe extern "C" fn(*mut c_void, u32, usize, *const c_void) -> i32;
type Enqueue = unsafe extern "C" fn(
    *mut c_void,
    *mut c_void,
    u32,
    *const usize,
    *const usize,
    *const usize,
    u32,
    *const c_void,
    *mut c_void,
) -> i32;

/// What OpenCL's loader has, which the library has opened for its workers.
struct Calls {
    set: SetArgument,
    enqueue: Enqueue,
}

impl Calls {
    fn find() -> std::result::Result<Calls, String> {
        let loader = Library::open("libOpenCL.so.1")?;
        unsafe {
            Ok(Calls {
                set: transmute::<*mut c_void, SetArgument>(loader.entry("clSetKernelArg")?),
                enqueue: transmute::<*mut c_void, Enqueue>(
                    loader.entry("clEnqueueNDRangeKernel")?,
                ),
            })
        }
    }
}
