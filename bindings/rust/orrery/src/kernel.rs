// SPDX-License-Identifier: LGPL-2.1-or-later
//! Kernels: a name, a model of how long they take, versions for devices.
use crate::error::{Error, Result};
use crate::opencl::OpenCl;
use crate::ptx::Ptx;
use crate::runtime::{c_name, CpuFunction};
use orrery_sys::*;
use std::ffi::CString;
use std::os::raw::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// A kind of worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Device {
    /// A core of a processor.
    Cpu,
    /// A device of CUDA.
    Cuda,
    /// A device of HIP.
    Hip,
    /// A device of OpenCL.
    OpenCl,
}

impl Device {
    pub(crate) fn archtype(self) -> starpu_worker_archtype {
        match self {
            Device::Cpu => STARPU_CPU_WORKER,
            Device::Cuda => STARPU_CUDA_WORKER,
            Device::Hip => STARPU_HIP_WORKER,
            Device::OpenCl => STARPU_OPENCL_WORKER,
        }
    }
}

/// A model of how long a kernel takes, of which the library keeps a file under the symbol.
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) kind: starpu_perfmodel_type,
    pub(crate) symbol: CString,
}

impl Model {
    fn of(kind: starpu_perfmodel_type, symbol: &str) -> Result<Model> {
        let symbol = c_name(symbol)?;
        Ok(Model { kind, symbol })
    }
    /// The mean of what tasks with data of the same shape took.
    pub fn history(symbol: &str) -> Result<Model> {
        Model::of(STARPU_HISTORY_BASED, symbol)
    }
    /// alpha * size^beta.
    pub fn power(symbol: &str) -> Result<Model> {
        Model::of(STARPU_REGRESSION_BASED, symbol)
    }
    /// a * size^b + c.
    pub fn power_and_offset(symbol: &str) -> Result<Model> {
        Model::of(STARPU_NL_REGRESSION_BASED, symbol)
    }
}

/// A function of C that works on a device: it gets the interfaces of the task's data
/// (`struct starpu_vector_interface *` and its kin), whose memory is the device's, and the
/// address of the task's argument ([`Builder::argument`](crate::Builder::argument)).
pub type DeviceFunction =
    unsafe extern "C" fn(buffers: *mut *mut c_void, argument: *mut c_void);

/// A kernel that more is known of than its name. Made once, it serves many tasks: what the
/// library knows of it stays until the runtime ends.
///
/// ```
/// # fn main() -> orrery::Result<()> {
/// use orrery::{Device, Kernel, Machine};
///
/// let rt = Machine::simulated("h100-pcie-4")
///     .assume("scale on cuda = 3us")
///     .cpus(0)
///     .start()?;
/// let scale = Kernel::new("scale")?.simulated(Device::Cuda);
/// let x = rt.vector(vec![1f64; 1 << 20])?;
/// let seen = rt.predict(&scale, (x.rw(),), Device::Cuda)?;
/// assert_eq!(seen, Some(3.));
/// rt.task(&scale).priority(1).run((x.rw(),), |(x,)| x.iter_mut().for_each(|x| *x *= 2.))?;
/// # Ok(())
/// # }
/// ```
pub struct Kernel {
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) model: Option<Model>,
    pub(crate) simulated: Vec<Device>,
    pub(crate) cuda: Option<DeviceFunction>,
    pub(crate) hip: Option<DeviceFunction>,
    pub(crate) opencl: Option<Arc<OpenCl>>,
    pub(crate) ptx: Option<Arc<Ptx>>,
}

static KERNELS: AtomicU64 = AtomicU64::new(0);

impl Kernel {
    /// One of that name, which processors execute.
    pub fn new(name: &str) -> Result<Kernel> {
        if name.contains('\0') {
            return Err(Error::Name(name.into()));
        }
        Ok(Kernel {
            number: KERNELS.fetch_add(1, Ordering::Relaxed),
            name: name.into(),
            model: None,
            simulated: Vec::new(),
            cuda: None,
            hip: None,
            opencl: None,
            ptx: None,
        })
    }

    /// How long it takes is kept under this symbol.
    pub fn model(mut self, model: Model) -> Kernel {
        self.model = Some(model);
        self
    }

    /// Simulated devices of that kind can execute it, real ones not: nobody needs to write
    /// a version for a device before its time there is worth it.
    pub fn simulated(mut self, device: Device) -> Kernel {
        self.simulated.push(device);
        self
    }

    /// What CUDA devices execute: it launches kernels in the stream that
    /// `starpu_cuda_get_local_stream()` returns, and need not wait for them.
    ///
    /// # Safety
    /// The function uses the data of each task with this kernel as their accesses say, and
    /// the argument as the type that it has.
    pub unsafe fn cuda(mut self, function: DeviceFunction) -> Kernel {
        self.cuda = Some(function);
        self
    }

    /// The same of HIP devices, in the stream of `starpu_hip_get_local_stream()`.
    ///
    /// # Safety
    /// As of [`cuda`](Kernel::cuda).
    pub unsafe fn hip(mut self, function: DeviceFunction) -> Kernel {
        self.hip = Some(function);
        self
    }

    /// What OpenCL devices execute.
    ///
    /// # Safety
    /// As of [`cuda`](Kernel::cuda), for the kernel in the source.
    pub unsafe fn opencl(mut self, program: OpenCl) -> Kernel {
        self.opencl = Some(Arc::new(program));
        self
    }

    /// What CUDA devices execute, of a module that their driver compiles; instead of a
    /// function ([`cuda`](Kernel::cuda)).
    ///
    /// # Safety
    /// As of [`cuda`](Kernel::cuda), for the function in the module.
    pub unsafe fn ptx(mut self, module: Ptx) -> Kernel {
        self.ptx = Some(Arc::new(module));
        self
    }

    /// Fills the versions for devices. What OpenCL's and PTX's get is how they are launched.
    pub(crate) fn fill(
        &self,
        codelet: &mut starpu_codelet,
        is_simulated: bool,
        launch: CpuFunction,
    ) {
        let ptx = self.ptx.as_ref().map(|_| launch);
        if let Some(function) = ptx.or(self.cuda) {
            codelet.cuda_funcs[0] = Some(function);
            codelet.cuda_flags[0] = STARPU_CUDA_ASYNC as _;
        }
        if self.hip.is_some() {
            codelet.hip_funcs[0] = self.hip;
            codelet.hip_flags[0] = STARPU_HIP_ASYNC as _;
        }
        if self.opencl.is_some() {
            codelet.opencl_funcs[0] = Some(launch);
            codelet.opencl_flags[0] = STARPU_OPENCL_ASYNC as _;
        }
        for device in self.simulated.iter().filter(|_| is_simulated) {
            match device {
                Device::Cpu => {}
                Device::Cuda => codelet.cuda_funcs[0] = Some(launch),
                Device::Hip => codelet.hip_funcs[0] = Some(launch),
                Device::OpenCl => codelet.opencl_funcs[0] = Some(launch),
            }
        }
    }
}

/// What a task may be of: a kernel, or a name.
#[derive(Clone, Copy)]
pub enum KernelRef<'a> {
    /// Only processors execute it.
    Name(&'a str),
    /// One that more is known of.
    Kernel(&'a Kernel),
}

impl KernelRef<'_> {
    pub(crate) fn name(&self) -> &str {
        match self {
            KernelRef::Name(name) => name,
            KernelRef::Kernel(kernel) => &kernel.name,
        }
    }
}
