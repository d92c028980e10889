// SPDX-License-Identifier: LGPL-2.1-or-later
//! Kernels in PTX, on a GPU or what stands in for one. Here a stand-in executes the functions
//! below in place of those in the text; nothing else of a launch is different.
use orrery::*;
use std::env::var;
use std::ffi::CString;
use std::mem::transmute;
use std::os::raw::{c_char, c_int, c_void};
use std::process::exit;

const TEXT: &str = include_str!("kernels.ptx");

type Bytes = unsafe extern "C" fn(*const c_void) -> *mut c_void;
type Body = unsafe extern "C" fn(*const *const c_void, *const [u32; 3], *const [u32; 3]);
type Function = unsafe extern "C" fn(*const c_char, Body) -> c_int;

extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

unsafe fn of_library(name: &str) -> *mut c_void {
    let library = CString::new(var("ORRERY_CUDA_LIBRARY").unwrap_or("libcuda.so.1".into()));
    let name = CString::new(name).unwrap();
    dlsym(dlopen(library.unwrap().as_ptr(), 2), name.as_ptr())
}

unsafe fn word(parameters: *const *const c_void, i: usize) -> usize {
    *(*parameters.add(i) as *const usize)
}

/// Where a stand-in has the element at this address of a device.
unsafe fn element<T>(address: usize, i: usize) -> *mut T {
    let bytes = transmute::<*mut c_void, Bytes>(of_library("gpu_standin_bytes"));
    bytes((address + i * std::mem::size_of::<T>()) as *const c_void) as *mut T
}

/// Calls it for each thread of one dimension.
unsafe fn threads(i: usize, grid: *const [u32; 3], block: *const [u32; 3]) -> usize {
    (*grid)[i] as usize * (*block)[i] as usize
}

unsafe extern "C" fn scale(p: *const *const c_void, g: *const [u32; 3], b: *const [u32; 3]) {
    let factor = *(*p.add(2) as *const f32);
    for i in (0..threads(0, g, b)).filter(|&i| i < word(p, 1)) {
        *element::<f32>(word(p, 0), i) *= factor;
    }
}

unsafe extern "C" fn add(p: *const *const c_void, g: *const [u32; 3], b: *const [u32; 3]) {
    for i in (0..threads(0, g, b)).filter(|&i| i < word(p, 5)) {
        for j in (0..threads(1, g, b)).filter(|&j| j < word(p, 6)) {
            let x = *element::<f64>(word(p, 0), i + j * word(p, 3));
            *element::<f64>(word(p, 4), i + j * word(p, 7)) += x;
        }
    }
}

unsafe extern "C" fn one(p: *const *const c_void, _: *const [u32; 3], _: *const [u32; 3]) {
    *element::<u32>(word(p, 0), 0) = 1;
}

/// A version for processors that must not be called: all tasks go to the device.
fn never() {
    panic!("a processor was asked")
}

fn kernel(name: &str, module: Ptx) -> Result<Kernel> {
    // The functions use their parameters as the accesses below say.
    Ok(unsafe { Kernel::new(name)?.ptx(module) })
}

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    if rt.workers_of(Device::Cuda) == 0 {
        exit(77);
    }
    let first = (0..rt.workers())
        .find(|&w| unsafe { sys::starpu_worker_get_type(w as i32) } == sys::STARPU_CUDA_WORKER)
        .unwrap();
    let devices = rt.workers_of(Device::Cuda);
    let standin = unsafe { of_library("gpu_standin_function") };
    if !standin.is_null() {
        let standin = unsafe { transmute::<*mut c_void, Function>(standin) };
        for (name, body) in [("scale\0", scale as Body), ("add\0", add), ("one\0", one)] {
            assert_eq!(unsafe { standin(name.as_ptr() as *const c_char, body) }, 0);
        }
    }

    // A vector in parts, on each device; whose length no block divides.
    let scaling = kernel("scale", Ptx::new(TEXT, "scale")?)?;
    let mut v = rt.vector((0..3001).map(|i| i as f32).collect())?;
    for (i, part) in v.partition(Blocks(7))?.iter().enumerate() {
        for factor in [2f32, 0.5, 3.] {
            let task = rt.task(&scaling).argument(factor).worker(first + i % devices);
            task.run((part.rw(),), |_| never())?;
        }
    }
    rt.wait_all()?;
    assert!(v.into_vec().iter().enumerate().all(|(i, &x)| x == 3. * i as f32));

    // Matrices: two tiles, whose columns are as far from each other as those of the whole.
    for module in [Ptx::new(TEXT, "add")?, Ptx::new(TEXT, "add")?.threads(4, 16, 1)] {
        let adding = kernel("add", module)?;
        let x = rt.matrix((0..35).map(f64::from).collect(), 5, 7)?;
        let mut y = rt.matrix(vec![1.; 70], 10, 7)?;
        let halves = y.partition(Rows(2))?;
        rt.task(&adding).worker(first).run((x.read(), halves.part(1).rw()), |_| never())?;
        rt.wait_all()?;
        drop(halves);
        let y = y.into_vec();
        for i in 0..70 {
            let (row, column) = (i % 10, i / 10);
            let more = if row < 5 { 0. } else { (row - 5 + 5 * column) as f64 };
            assert_eq!(y[i], 1. + more, "{row}, {column}");
        }
    }

    // A variable, and no argument.
    let ones = kernel("one", Ptx::new(TEXT, "one")?)?;
    let x = rt.variable(0u32)?;
    rt.task(&ones).worker(first).run((x.write(),), |_| never())?;
    rt.wait_all()?;
    assert_eq!(x.into_inner(), 1);

    // What the driver refuses is an error of the task.
    for (module, said) in [
        (Ptx::new("not a module", "one")?, "refuses its module"),
        (Ptx::new(TEXT, "absent")?, "refuses its function absent"),
        (Ptx::new(TEXT, "one")?.threads(2000, 1, 1), "refuses the kernel"),
    ] {
        let refused = kernel("refused", module)?;
        let x = rt.variable(0u32)?;
        let task = rt.task(&refused).worker(first).run((x.rw(),), |_| never())?;
        let error = rt.block_on(task).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        // Each wait has the first error since the last one.
        assert!(rt.wait_all().is_err());
    }
    Ok(())
}
