// SPDX-License-Identifier: LGPL-2.1-or-later
//! Kernels in PTX, the text that compilers for NVIDIA's GPUs write.
use crate::device::{words_of, Library};
use crate::error::Result;
use crate::runtime::{c_name, lock};
use orrery_sys::*;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::mem::transmute;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr;
use std::sync::Mutex;

/// A module in PTX, one function of which does what the kernel does on processors.
///
/// For each of the task's data the function has these parameters: the address of the first
/// element; and `.u64`s of the shape: the length of a vector; rows, columns and the distance of
/// columns of a matrix; three extents, the distance of columns and of planes of a block; none of
/// a variable. The task's argument, if it has one, is the last, as the type that it has. There
/// is at least one thread for each element of the last of the data; those beyond its extents
/// have nothing to do. `nvcc -ptx` and rustc's target `nvptx64-nvidia-cuda` write such text.
///
/// ```
/// # fn main() -> orrery::Result<()> {
/// use orrery::{Device, Kernel, Machine, Ptx};
///
/// const TEXT: &str = "
/// .version 6.0
/// .target sm_50
/// .address_size 64
/// .visible .entry one(.param .u64 x)
/// {
///     .reg .b64 %x;
///     ld.param.u64 %x, [x];
///     st.u32 [%x], 1;
///     ret;
/// }";
///
/// let rt = Machine::simulated("h100-pcie-4")
///     .assume("one on cuda = 3us")
///     .cpus(0)
///     .start()?;
/// // The function writes what the accesses below say.
/// let one = unsafe { Kernel::new("one")?.ptx(Ptx::new(TEXT, "one")?) };
/// let x = rt.variable(0u32)?;
/// assert_eq!(rt.predict(&one, (x.write(),), Device::Cuda)?, Some(3.));
/// rt.task(&one).run((x.write(),), |(x,)| *x = 1)?;
/// rt.wait_all()?;
/// # Ok(())
/// # }
/// ```
pub struct Ptx {
    source: CString,
    function: CString,
    threads: Option<[u32; 3]>,
    /// By the number of the device, of the runtime that has the kernel.
    modules: Mutex<HashMap<c_int, Loaded>>,
}

impl Ptx {
    /// The function `function` of that text, which a device's driver compiles when the first
    /// task is executed there. A text that it refuses is an error of the task.
    pub fn new(source: &str, function: &str) -> Result<Ptx> {
        Ok(Ptx {
            source: c_name(source)?,
            function: c_name(function)?,
            threads: None,
            modules: Mutex::new(HashMap::new()),
        })
    }

    /// Threads of a block in each dimension; otherwise 256, 32 by 8, or 32 by 4 by 2, as the
    /// last of the data has dimensions.
    pub fn threads(mut self, x: u32, y: u32, z: u32) -> Ptx {
        self.threads = Some([x.max(1), y.max(1), z.max(1)]);
        self
    }

    /// Puts it into the stream of the worker that calls.
    ///
    /// # Safety
    /// These are the buffers of a kernel of a CUDA worker; the argument, if its size is not 0,
    /// is there.
    pub(crate) unsafe fn launch(
        &self,
        buffers: &[*mut c_void],
        argument: (usize, *const c_void),
    ) -> std::result::Result<(), String> {
        let (words, extents) = words_of(buffers, |memory| [memory.pointer])?;
        if extents.contains(&0) {
            return Ok(());
        }
        let mut parameters: Vec<_> =
            words.iter().map(|word| word as *const usize as *const c_void).collect();
        if argument.0 > 0 {
            parameters.push(argument.1);
        }
        let driver = Driver::find()?;
        let device = starpu_worker_get_devid(starpu_worker_get_id());
        let function = {
            let mut modules = lock(&self.modules);
            if !modules.contains_key(&device) {
                modules.insert(device, driver.load(&self.source, &self.function)?);
            }
            modules[&device].function
        };
        let block =
            self.threads.unwrap_or([[256, 1, 1], [32, 8, 1], [32, 4, 2]][extents.len() - 1]);
        let mut grid = [1; 3];
        for (i, &n) in extents.iter().enumerate() {
            let blocks = (n - 1) / block[i] as usize + 1;
            grid[i] =
                u32::try_from(blocks).map_err(|_| format!("{n} elements are too many"))?;
        }
        driver.check(
            "the kernel",
            (driver.launch)(
                function.0,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                0,
                starpu_cuda_get_local_stream(),
                parameters.as_ptr(),
                ptr::null(),
            ),
        )
    }

    /// Before the library stops, while contexts of devices are there.
    pub(crate) fn unload(&self) {
        for (_, loaded) in lock(&self.modules).drain() {
            if let Ok(driver) = Driver::find() {
                unsafe { driver.unload(&loaded) };
            }
        }
    }
}

/// An object of the driver's, which any thread may use.
struct Handle(*mut c_void);
unsafe impl Send for Handle {}

impl Clone for Handle {
    fn clone(&self) -> Handle {
        *self
    }
}
impl Copy for Handle {}

struct Loaded {
    context: Handle,
    module: Handle,
    function: Handle,
}

extern "C" {
    // Its type is a vendor's, so that orrery-sys has it not.
    fn starpu_cuda_get_local_stream() -> *mut c_void;
}

type GetHandle = unsafe extern "C" fn(*mut *mut c_void) -> c_int;
type UseHandle = unsafe extern "C" fn(*mut c_void) -> c_int;
type Load = unsafe extern "C" fn(*mut *mut c_void, *const c_void) -> c_int;
type Find = unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> c_int;
type Words = unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int;
type Launch = unsafe extern "C" fn(
    *mut c_void,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    *mut c_void,
    *const *const c_void,
    *const *const c_void,
) -> c_int;

/// What CUDA's driver has for modules.
struct Driver {
    context: GetHandle,
    push: UseHandle,
    pop: GetHandle,
    load: Load,
    find: Find,
    unload: UseHandle,
    launch: Launch,
    words: Words,
}

impl Driver {
    /// In the library that liborrery uses.
    fn find() -> std::result::Result<Driver, String> {
        let named = std::env::var("ORRERY_CUDA_LIBRARY").ok().filter(|name| !name.is_empty());
        let library = Library::open(named.as_deref().unwrap_or("libcuda.so.1"))?;
        let entry = |name: &str| library.entry(name);
        unsafe {
            Ok(Driver {
                context: transmute::<*mut c_void, GetHandle>(entry("cuCtxGetCurrent")?),
                push: transmute::<*mut c_void, UseHandle>(entry("cuCtxPushCurrent_v2")?),
                pop: transmute::<*mut c_void, GetHandle>(entry("cuCtxPopCurrent_v2")?),
                load: transmute::<*mut c_void, Load>(entry("cuModuleLoadData")?),
                find: transmute::<*mut c_void, Find>(entry("cuModuleGetFunction")?),
                unload: transmute::<*mut c_void, UseHandle>(entry("cuModuleUnload")?),
                launch: transmute::<*mut c_void, Launch>(entry("cuLaunchKernel")?),
                words: transmute::<*mut c_void, Words>(entry("cuGetErrorString")?),
            })
        }
    }

    fn check(&self, what: &str, code: c_int) -> std::result::Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        let mut text = ptr::null();
        let words = match unsafe { (self.words)(code, &mut text) } {
            0 if !text.is_null() => unsafe { CStr::from_ptr(text) }.to_string_lossy().into(),
            _ => format!("error {code}"),
        };
        Err(format!("CUDA's driver refuses {what}: {words}"))
    }

    /// Into the context of this thread.
    unsafe fn load(
        &self,
        source: &CStr,
        function: &CStr,
    ) -> std::result::Result<Loaded, String> {
        let none = Handle(ptr::null_mut());
        let mut loaded = Loaded { context: none, module: none, function: none };
        self.check("its context", (self.context)(&mut loaded.context.0))?;
        let text = source.as_ptr() as *const c_void;
        self.check("its module", (self.load)(&mut loaded.module.0, text))?;
        let name = function.to_string_lossy();
        let found = (self.find)(&mut loaded.function.0, loaded.module.0, function.as_ptr());
        if let Err(refused) = self.check(&format!("its function {name}"), found) {
            self.unload(&loaded);
            return Err(refused);
        }
        Ok(loaded)
    }

    unsafe fn unload(&self, loaded: &Loaded) {
        if (self.push)(loaded.context.0) == 0 {
            let mut context = ptr::null_mut();
            (self.unload)(loaded.module.0);
            (self.pop)(&mut context);
        }
    }
}
