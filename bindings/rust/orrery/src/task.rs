// SPDX-License-Identifier: LGPL-2.1-or-later
//! Tasks: from a function and what it uses to what the library executes.
use crate::access::{Accesses, AllSeen, Modes, Use};
use crate::error::{Error, Result};
use crate::kernel::{Device, KernelRef, Model};
use crate::layout::Plain;
use crate::opencl::OpenCl;
use crate::ptx::Ptx;
use crate::runtime::{c_name, lock, text_of, CodeletMemory, CpuFunction, First, Inner};
use orrery_sys::*;
use std::collections::HashMap;
use std::ffi::CString;
use std::future::Future;
use std::hash::{BuildHasherDefault, Hasher};
use std::marker::PhantomData;
use std::mem::{self, size_of};
use std::os::raw::{c_char, c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::ptr;
use std::rc::Rc;
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

// --- codelets: one per function and kernel ---

/// What the library has of a kernel whose processors' function is one of Rust's.
#[repr(C)]
struct Entry {
    memory: CodeletMemory,        // first: the library's tasks point to it
    model: *mut starpu_perfmodel, // ours, or null
    _symbol: Option<CString>,
    opencl: Option<Arc<OpenCl>>,
    ptx: Option<Arc<Ptx>>,
    /// Of the kernel, or 0.
    number: u64,
    name: Box<str>,
    functions: Functions,
    modes: Modes,
}

impl Entry {
    fn new(
        kernel: KernelRef<'_>,
        functions: Functions,
        modes: Modes,
        is_simulated: bool,
    ) -> Result<Box<Entry>> {
        c_name(kernel.name())?;
        let mut entry = Box::new(Entry {
            memory: CodeletMemory::new(kernel.name(), functions.cpu, modes),
            model: ptr::null_mut(),
            _symbol: None,
            opencl: None,
            ptx: None,
            number: number_of(kernel),
            name: kernel.name().into(),
            functions,
            modes,
        });
        if let KernelRef::Kernel(kernel) = kernel {
            kernel.fill(&mut entry.memory.codelet, is_simulated, functions.launch);
            if let Some(Model { kind, symbol }) = &kernel.model {
                let symbol = symbol.clone();
                let mut model = Box::<starpu_perfmodel>::default();
                model.type_ = *kind;
                model.symbol = symbol.as_ptr();
                entry.model = Box::into_raw(model);
                entry.memory.codelet.model = entry.model;
                entry._symbol = Some(symbol);
            }
            if let (Some(program), false) = (&kernel.opencl, is_simulated) {
                program.compile(&kernel.name)?;
                entry.opencl = Some(program.clone());
            }
            entry.ptx = kernel.ptx.clone();
        }
        Ok(entry)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.model.is_null() {
            drop(unsafe { Box::from_raw(self.model) });
        }
    }
}

/// Numbers of kernels begin with 0, that of none.
fn number_of(kernel: KernelRef<'_>) -> u64 {
    match kernel {
        KernelRef::Name(_) => 0,
        KernelRef::Kernel(kernel) => kernel.number + 1,
    }
}

#[derive(Clone, Copy)]
struct Functions {
    cpu: CpuFunction,
    /// How a program for a device is launched.
    launch: CpuFunction,
}

/// Addresses of functions need little to be spread.
#[derive(Default)]
struct OfAddress(u64);

impl Hasher for OfAddress {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_usize(byte.into());
        }
    }
    fn write_usize(&mut self, n: usize) {
        self.0 = (self.0 ^ n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

/// All codelets of a runtime. Most functions belong to one kernel.
#[derive(Default)]
pub(crate) struct Codelets {
    /// Ours, by raw pointers, since the library has such as well.
    by_function: HashMap<usize, Vec<*mut Entry>, BuildHasherDefault<OfAddress>>,
    labels: HashMap<String, CString>,
}

impl Codelets {
    /// Functions of equal code may have one address, also where they are of other accesses.
    fn find(
        &mut self,
        kernel: KernelRef<'_>,
        functions: Functions,
        modes: Modes,
        is_simulated: bool,
    ) -> Result<*mut Entry> {
        let entries = self.by_function.entry(functions.cpu as usize).or_default();
        let number = number_of(kernel);
        for &entry in entries.iter() {
            // The library writes to the codelet meanwhile, not to these.
            let (e_number, e_name, e_modes, e_launch) = unsafe {
                ((*entry).number, &*(*entry).name, (*entry).modes, (*entry).functions.launch)
            };
            let same_kernel = e_number == number && (number != 0 || e_name == kernel.name());
            if same_kernel && e_modes == modes && e_launch as usize == functions.launch as usize
            {
                return Ok(entry);
            }
        }
        let entry = Box::into_raw(Entry::new(kernel, functions, modes, is_simulated)?);
        entries.push(entry);
        Ok(entry)
    }

    /// A name of a task, which traces may still read when the task has ended.
    fn label(&mut self, label: &str) -> Result<*const c_char> {
        if !self.labels.contains_key(label) {
            self.labels.insert(label.into(), c_name(label)?);
        }
        Ok(self.labels[label].as_ptr())
    }

    /// Before the library stops.
    pub(crate) fn unload(&self) {
        for &entry in self.by_function.values().flatten() {
            let entry = unsafe { &*entry };
            if let Some(program) = &entry.opencl {
                program.unload();
            }
            if let Some(module) = &entry.ptx {
                module.unload();
            }
        }
    }
}

impl Drop for Codelets {
    /// The library has stopped.
    fn drop(&mut self) {
        for entry in self.by_function.drain().flat_map(|(_, entries)| entries) {
            drop(unsafe { Box::from_raw(entry) });
        }
    }
}

// --- what a task has in memory ---

/// How a task ends, for who waits for it.
#[derive(Default)]
struct State {
    is_done: AtomicBool,
    end: Mutex<(Option<Error>, Option<Waker>)>,
}

/// The argument is first: it is what functions for devices get.
#[repr(C)]
struct Body<P, F> {
    argument: P,
    function: Option<F>,
    entry: *const Entry,
    state: Arc<State>,
    first: *const First,
    left: *const AtomicUsize,
}

impl<P, F> Body<P, F> {
    fn fail(&self, message: String) {
        let error = unsafe { Error::Panicked((*self.entry).name.to_string(), message) };
        unsafe { (*self.first).note(&error) };
        lock(&self.state.end).0 = Some(error);
    }
}

/// What processors call.
unsafe extern "C" fn kernel<A, P, F>(buffers: *mut *mut c_void, body: *mut c_void)
where
    A: Accesses,
    F: for<'k> FnOnce(<A as AllSeen<'k>>::Seen),
{
    let body = &mut *(body as *mut Body<P, F>);
    let function = body.function.take();
    let run = AssertUnwindSafe(|| {
        if let Some(function) = function {
            function(<A as AllSeen<'_>>::seen(buffers, number_of_buffers::<A>()));
        }
    });
    if let Err(payload) = catch_unwind(run) {
        body.fail(text_of(payload));
    }
}

/// Of the task that runs.
unsafe fn number_of_buffers<A: Accesses>() -> usize {
    match A::MODES.listed {
        None => A::MODES.named.len(),
        Some(_) => (*starpu_task_get_current()).nbuffers as usize,
    }
}

/// What OpenCL workers call, and CUDA workers of kernels in PTX.
unsafe extern "C" fn launch<A, P, F>(buffers: *mut *mut c_void, body: *mut c_void)
where
    A: Accesses,
{
    let body = &*(body as *const Body<P, F>);
    let argument = (size_of::<P>(), &body.argument as *const P as *const c_void);
    let buffers = slice::from_raw_parts(buffers, number_of_buffers::<A>());
    let entry = &*body.entry;
    let on_cuda = starpu_worker_get_type(starpu_worker_get_id()) == STARPU_CUDA_WORKER;
    let result = match (&entry.ptx, &entry.opencl) {
        (Some(module), _) if on_cuda => module.launch(buffers, argument),
        (_, Some(program)) if !on_cuda => program.launch(buffers, argument),
        _ => Err("it has no version for this device".into()),
    };
    if let Err(message) = result {
        body.fail(message);
    }
}

/// In the place of a function where a task is never submitted.
pub(crate) unsafe extern "C" fn stub(_: *mut *mut c_void, _: *mut c_void) {}

/// When the task has ended.
unsafe extern "C" fn finished<P, F>(body: *mut c_void) {
    let mut body = Box::from_raw(body as *mut Body<P, F>);
    // A function that was not called, as kernels are skipped, still has what it captured.
    let function = body.function.take();
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(function))) {
        body.fail(text_of(payload));
    }
    let waker = {
        let mut end = lock(&body.state.end);
        body.state.is_done.store(true, Ordering::Release);
        end.1.take()
    };
    let left = body.left;
    drop(body);
    if !left.is_null() {
        (*left).fetch_sub(1, Ordering::Release);
    }
    if let Some(waker) = waker {
        // Others' code: its panic has nowhere to go.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
            mem::forget(payload);
        }
    }
}

/// A task that was submitted. It may be dropped, or awaited: with an error if its kernel
/// panicked.
pub struct Submitted {
    state: Arc<State>,
}

impl Submitted {
    /// Whether it has ended.
    pub fn is_done(&self) -> bool {
        self.state.is_done.load(Ordering::Acquire)
    }
}

impl Future for Submitted {
    type Output = Result<()>;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let mut end = lock(&self.state.end);
        if !self.is_done() {
            end.1 = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(end.0.clone().map_or(Ok(()), Err))
    }
}

// --- builders ---

/// A task that is being described: what is optional, then [`run`](Builder::run).
#[must_use = "a task is submitted by `run`"]
pub struct Builder<'a, 's, P = ()> {
    rt: &'a Rc<Inner>,
    kernel: KernelRef<'a>,
    first: &'a First,
    left: Option<&'a AtomicUsize>,
    argument: P,
    priority: c_int,
    flops: f64,
    worker: Option<usize>,
    label: Option<&'a str>,
    life: PhantomData<fn(&'s ()) -> &'s ()>,
}

impl<'a, 's> Builder<'a, 's> {
    pub(crate) fn new(
        rt: &'a Rc<Inner>,
        kernel: KernelRef<'a>,
        first: &'a First,
        left: Option<&'a AtomicUsize>,
    ) -> Self {
        Builder {
            rt,
            kernel,
            first,
            left,
            argument: (),
            priority: 0,
            flops: 0.,
            worker: None,
            label: None,
            life: PhantomData,
        }
    }

    /// What functions for devices get beside the data. The function of `run` has captured
    /// what it needs.
    pub fn argument<P: Plain>(self, argument: P) -> Builder<'a, 's, P> {
        Builder {
            argument,
            rt: self.rt,
            kernel: self.kernel,
            first: self.first,
            left: self.left,
            priority: self.priority,
            flops: self.flops,
            worker: self.worker,
            label: self.label,
            life: PhantomData,
        }
    }

    /// Of [`Runtime::predict`](crate::Runtime::predict).
    pub(crate) fn predict<A: Accesses>(
        self,
        accesses: A,
        device: Device,
    ) -> Result<Option<f64>> {
        self.rt.check_open()?;
        check(&accesses, self.kernel)?;
        let functions = Functions { cpu: stub, launch: stub };
        let simulated = self.rt.is_simulated;
        let mut codelets = self.rt.codelets.borrow_mut();
        let entry = codelets.find(self.kernel, functions, A::MODES, simulated)?;
        let mut best = f64::NAN;
        unsafe {
            let task = starpu_task_create();
            (*task).cl = ptr::addr_of_mut!((*entry).memory.codelet);
            give(task, &accesses);
            for worker in 0..starpu_worker_get_count() {
                if starpu_worker_get_type(worker as c_int) == device.archtype() {
                    best = best.min(orrery_task_length(task, worker, 0)); // NaN is no least
                }
            }
            (*task).set_destroy(0);
            starpu_task_destroy(task);
        }
        Ok(Some(best).filter(|us| *us > 0.))
    }
}

/// That data are there, and do not overlap where one of them is written.
fn check<A: Accesses>(accesses: &A, kernel: KernelRef<'_>) -> Result<()> {
    let mut few = [None; STARPU_NMAXBUFS as usize];
    let mut more = Vec::new();
    let mut error = None;
    accesses.each(&mut |i, used| {
        if used.slot.handle.get().is_null() {
            error = Some(Error::Closed);
        }
        for (j, other) in few.iter().chain(&more).enumerate().take(i) {
            let reads = A::MODES.of(i) | A::MODES.of(j) == STARPU_R;
            if !reads && other.map_or(false, |other: Use<'_>| used.overlaps(&other)) {
                error = Some(Error::Alias(kernel.name().into(), j, i));
            }
        }
        match few.get_mut(i) {
            Some(place) => *place = Some(used),
            None => more.push(Some(used)),
        }
    });
    error.map_or(Ok(()), Err)
}

extern "C" {
    fn malloc(size: usize) -> *mut c_void;
}

/// Gives the task its data; of a list the modes as well. Whether there was memory.
unsafe fn give<A: Accesses>(task: *mut starpu_task, accesses: &A) -> bool {
    let t = &mut *task;
    if A::MODES.listed.is_none() {
        accesses.each(&mut |i, used| t.handles[i] = used.handle);
        return true;
    }
    let mut n = 0;
    accesses.each(&mut |_, _| n += 1);
    t.nbuffers = n as c_int;
    let (mut handles, mut modes) = (t.handles.as_mut_ptr(), t.modes.as_mut_ptr());
    if n > STARPU_NMAXBUFS as usize {
        // The library frees them with the task.
        t.dyn_handles = malloc(n * size_of::<starpu_data_handle_t>()) as *mut _;
        t.dyn_modes = malloc(n * size_of::<starpu_data_access_mode>()) as *mut _;
        if t.dyn_handles.is_null() || t.dyn_modes.is_null() {
            return false;
        }
        handles = t.dyn_handles;
        modes = t.dyn_modes;
    }
    accesses.each(&mut |i, used| {
        handles.add(i).write(used.handle);
        modes.add(i).write(A::MODES.of(i));
    });
    true
}

/// What a task's structure gets of its types.
struct Call {
    entry: *mut Entry,
    label: Option<*const c_char>,
    size: usize,
    body: *mut c_void,
    finished: unsafe extern "C" fn(*mut c_void),
}

impl<'a, 's, P: Copy + Send + 'static> Builder<'a, 's, P> {
    /// Larger is more urgent, for schedulers that look at it.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
    /// The work of the kernel, for reports.
    pub fn flops(mut self, flops: f64) -> Self {
        self.flops = flops;
        self
    }
    /// Only that worker executes it.
    pub fn worker(mut self, worker: usize) -> Self {
        self.worker = Some(worker);
        self
    }
    /// A name of this task in traces, rather than that of its kernel.
    pub fn label(mut self, label: &'a str) -> Self {
        self.label = Some(label);
        self
    }

    /// Makes the library's task, and submits it. Returns 0 or a negative errno, in which case
    /// the body is still the caller's.
    unsafe fn submit<A: Accesses>(&self, accesses: &A, call: Call) -> c_int {
        let task = starpu_task_create();
        if task.is_null() {
            return -12; // ENOMEM
        }
        let has_memory = give(task, accesses);
        let t = &mut *task;
        t.cl = ptr::addr_of_mut!((*call.entry).memory.codelet);
        t.priority = self.priority;
        t.flops = self.flops;
        t.name = call.label.unwrap_or(ptr::null());
        if let Some(worker) = self.worker {
            t.set_execute_on_a_specific_worker(1);
            t.workerid = worker as u32;
        }
        t.cl_arg = call.body;
        t.cl_arg_size = call.size;
        t.callback_func = Some(call.finished);
        t.callback_arg = call.body;
        let status = if has_memory { starpu_task_submit(task) } else { -12 };
        if status != 0 {
            (*task).set_destroy(0);
            starpu_task_destroy(task);
        }
        status
    }

    /// Submits it: when those before that use its data have ended, a worker calls the
    /// function with the data, as the accesses say. It has a tuple, also of one element.
    pub fn run<A, F>(self, accesses: A, function: F) -> Result<Submitted>
    where
        A: Accesses,
        F: for<'k> FnOnce(<A as AllSeen<'k>>::Seen) + Send + 's,
    {
        self.rt.check_open()?;
        check(&accesses, self.kernel)?;
        let functions = Functions { cpu: kernel::<A, P, F>, launch: launch::<A, P, F> };
        let (entry, label) = {
            let mut codelets = self.rt.codelets.borrow_mut();
            let simulated = self.rt.is_simulated;
            let entry = codelets.find(self.kernel, functions, A::MODES, simulated)?;
            (entry, self.label.map(|label| codelets.label(label)).transpose()?)
        };
        let state = Arc::new(State::default());
        let body = Box::into_raw(Box::new(Body {
            argument: self.argument,
            function: Some(function),
            entry,
            state: state.clone(),
            first: self.first,
            left: self.left.map_or(ptr::null(), |left| left as *const AtomicUsize),
        }));
        if let Some(left) = self.left {
            left.fetch_add(1, Ordering::Relaxed);
        }
        let call = Call {
            entry,
            label,
            size: size_of::<P>(),
            body: body as *mut c_void,
            finished: finished::<P, F>,
        };
        let status = unsafe { self.submit(&accesses, call) };
        if status == 0 {
            return Ok(Submitted { state });
        }
        if let Some(left) = self.left {
            left.fetch_sub(1, Ordering::Relaxed);
        }
        drop(unsafe { Box::from_raw(body) });
        let name = self.kernel.name().to_string();
        Err(match status {
            -19 => Error::NoDevice(name), // ENODEV
            errno => Error::Refused(name, -errno),
        })
    }
}
