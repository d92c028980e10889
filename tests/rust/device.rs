// SPDX-License-Identifier: LGPL-2.1-or-later
//! An extern function for GPUs, on one or what stands in for it: it gets the device's memory
//! and the argument. It computes on the host, so that it needs no vendor's compiler.
//! usage: device cuda|hip
use orrery::sys::*;
use orrery::*;
use std::os::raw::c_void;
use std::process::exit;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Copies bytes: (from, its node, to, its node, how many).
type Copy = unsafe fn(*mut c_void, u32, *mut c_void, u32, usize);

/// Multiplies a vector by the argument.
unsafe fn scale(buffers: *mut *mut c_void, argument: *mut c_void, fetch: Copy, store: Copy) {
    let vector = *buffers;
    let factor = *(argument as *const f32);
    let mut host = vec![0f32; STARPU_VECTOR_GET_NX(vector) as usize];
    let there = STARPU_VECTOR_GET_PTR(vector) as *mut c_void;
    let here = host.as_mut_ptr() as *mut c_void;
    let bytes = host.len() * STARPU_VECTOR_GET_ELEMSIZE(vector);
    let node = starpu_worker_get_local_memory_node();
    fetch(there, node, here, STARPU_MAIN_RAM, bytes);
    host.iter_mut().for_each(|x| *x *= factor);
    store(here, STARPU_MAIN_RAM, there, node, bytes);
    CALLS.fetch_add(1, Ordering::Relaxed);
}

macro_rules! on {
    ($name:ident, $copy:ident, $kinds:expr) => {
        unsafe extern "C" fn $name(buffers: *mut *mut c_void, argument: *mut c_void) {
            const KINDS: (i32, i32) = $kinds;
            scale(
                buffers,
                argument,
                |a, an, b, bn, n| {
                    $copy(a, an, b, bn, n, ptr::null_mut(), KINDS.0 as _);
                },
                |a, an, b, bn, n| {
                    $copy(a, an, b, bn, n, ptr::null_mut(), KINDS.1 as _);
                },
            );
        }
    };
}
on!(on_cuda, starpu_cuda_copy_async_sync, (2, 1));
on!(on_hip, starpu_hip_copy_async_sync, (2, 1));

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let is_hip = std::env::args().nth(1).as_deref() == Some("hip");
    let (device, kind) = match is_hip {
        true => (Device::Hip, STARPU_HIP_WORKER),
        false => (Device::Cuda, STARPU_CUDA_WORKER),
    };
    if rt.workers_of(device) == 0 {
        exit(77);
    }
    let first =
        (0..rt.workers()).find(|&w| unsafe { starpu_worker_get_type(w as i32) == kind });
    let kernel = unsafe { Kernel::new("scale")?.cuda(on_cuda).hip(on_hip) };
    let mut v = rt.vector(vec![1f32; 1000])?;
    for part in v.partition(Blocks(10))?.iter() {
        for i in 0..4 {
            let factor = (i + 1) as f32;
            let task = rt.task(&kernel).argument(factor);
            // On the device, and on whatever the scheduler likes.
            let task = match first {
                Some(worker) if i % 2 == 0 => task.worker(worker),
                _ => task,
            };
            task.run((part.rw(),), move |(v,)| v.iter_mut().for_each(|x| *x *= factor))?;
        }
    }
    rt.wait_all()?;
    assert_eq!(v.into_vec(), vec![24f32; 1000]);
    assert!(rt.is_simulated() || CALLS.load(Ordering::Relaxed) >= 20);
    println!("the device has executed its part");
    Ok(())
}
