// SPDX-License-Identifier: LGPL-2.1-or-later
//! A vector that is multiplied by a number, on the C interface: with orrery-sys, or with what
//! bindgen makes of installed headers (test-rust-bindings.py).
use std::os::raw::{c_int, c_void};
use std::{mem, ptr};
use sys::*;

unsafe extern "C" fn scale(buffers: *mut *mut c_void, arg: *mut c_void) {
    let vector = *buffers as *mut starpu_vector_interface;
    let mut factor = 0f32;
    starpu_codelet_unpack_args(arg, &mut factor as *mut f32 as *mut c_void);
    let at = (*vector).ptr as *mut f32;
    for i in 0..(*vector).nx as usize {
        *at.add(i) *= factor;
    }
}

fn main() {
    let mut model = starpu_perfmodel {
        type_: STARPU_HISTORY_BASED,
        symbol: b"vector_scal_sys\0".as_ptr() as *const _,
        ..unsafe { mem::zeroed() }
    };
    let mut codelet: starpu_codelet = unsafe { mem::zeroed() };
    codelet.where_ = STARPU_CPU as u32;
    codelet.cpu_funcs[0] = Some(scale);
    codelet.nbuffers = 1;
    codelet.modes[0] = STARPU_RW as _;
    codelet.model = &mut model;
    let mut vector = vec![1f32; 2048];
    let mut factor = 3.5f32;
    unsafe {
        if starpu_init(ptr::null_mut()) != 0 {
            std::process::exit(77);
        }
        let mut handle = ptr::null_mut();
        starpu_vector_data_register(
            &mut handle,
            STARPU_MAIN_RAM as c_int,
            vector.as_mut_ptr() as usize,
            vector.len() as u32,
            mem::size_of::<f32>(),
        );
        let status = starpu_task_insert(
            &mut codelet,
            STARPU_RW as c_int,
            handle,
            STARPU_VALUE as c_int,
            &mut factor as *mut f32,
            mem::size_of::<f32>(),
            0 as c_int,
        );
        assert_eq!(status, 0);
        starpu_task_wait_for_all();
        starpu_data_unregister(handle);
        // Functions that C has in its headers.
        let set = starpu_bitmap_create();
        starpu_bitmap_set(set, 7);
        assert_eq!((starpu_bitmap_get(set, 7), starpu_bitmap_next(set, -1)), (1, 7));
        starpu_bitmap_destroy(set);
        starpu_shutdown();
    }
    println!("{}", vector[2047]);
}
