// SPDX-License-Identifier: LGPL-2.1-or-later
//! An extern function for CUDA devices, on a GPU or what stands in for one: it gets the
//! device's memory and the argument. It computes on the host, so that it needs no compiler
//! of CUDA's.
use orrery::sys::*;
use orrery::*;
use std::os::raw::c_void;
use std::process::exit;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Multiplies a vector by the argument.
unsafe extern "C" fn scale(buffers: *mut *mut c_void, argument: *mut c_void) {
    let vector = *buffers;
    let factor = *(argument as *const f32);
    let mut host = vec![0f32; STARPU_VECTOR_GET_NX(vector) as usize];
    let there = STARPU_VECTOR_GET_PTR(vector) as *mut c_void;
    let here = host.as_mut_ptr() as *mut c_void;
    let bytes = host.len() * STARPU_VECTOR_GET_ELEMSIZE(vector);
    let node = starpu_worker_get_local_memory_node();
    let (from, to, now) = (2, 1, ptr::null_mut());
    starpu_cuda_copy_async_sync(there, node, here, STARPU_MAIN_RAM, bytes, now, from);
    host.iter_mut().for_each(|x| *x *= factor);
    starpu_cuda_copy_async_sync(here, STARPU_MAIN_RAM, there, node, bytes, now, to);
    CALLS.fetch_add(1, Ordering::Relaxed);
}

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    if rt.workers_of(Device::Cuda) == 0 {
        exit(77);
    }
    let first = (0..rt.workers())
        .find(|&w| unsafe { starpu_worker_get_type(w as i32) == STARPU_CUDA_WORKER });
    let kernel = unsafe { Kernel::new("scale")?.cuda(scale) };
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
