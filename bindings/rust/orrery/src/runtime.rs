// SPDX-License-Identifier: LGPL-2.1-or-later
//! Machines and the runtime.
use crate::access::{Accesses, Modes};
use crate::data::{Block, Borrowed, Lent, Matrix, Scratch, Slot, Variable, Vector};
use crate::error::{Error, Result};
use crate::kernel::{Device, Kernel, KernelRef};
use crate::layout::{check, BlockOf, Layout, MatrixOf, Plain, VariableOf, VectorOf};
use crate::reduce::Operations;
use crate::task::{Builder, Codelets};
use orrery_sys::*;
use std::any::Any;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::future::Future;
use std::marker::PhantomData;
use std::os::raw::{c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};
use std::{env, process, ptr};

/// A name for the library.
pub(crate) fn c_name(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Error::Name(name.into()))
}

/// What a lock protects here is whole wherever a panic may come from.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) type CpuFunction = unsafe extern "C" fn(*mut *mut c_void, *mut c_void);

/// Versions for devices that are simulated alone: none of them is called there.
pub(crate) fn as_simulated(codelet: &mut starpu_codelet, function: CpuFunction) {
    codelet.cuda_funcs[0] = Some(function);
    codelet.hip_funcs[0] = Some(function);
    codelet.opencl_funcs[0] = Some(function);
}

/// A codelet, and what it points to.
pub(crate) struct CodeletMemory {
    pub(crate) codelet: starpu_codelet,
    _name: CString,
}

impl CodeletMemory {
    /// # Panics
    /// The name, of which all were checked, has a zero byte.
    pub(crate) fn new(name: &str, function: CpuFunction, modes: Modes) -> CodeletMemory {
        let name = CString::new(name).expect("a name without zero bytes");
        let mut codelet = starpu_codelet::default();
        codelet.cpu_funcs[0] = Some(function);
        codelet.name = name.as_ptr();
        if modes.listed.is_some() {
            codelet.nbuffers = STARPU_VARIABLE_NBUFFERS; // each task has its own
        } else {
            codelet.nbuffers = modes.named.len() as c_int;
            codelet.modes[..modes.named.len()].copy_from_slice(modes.named);
        }
        CodeletMemory { codelet, _name: name }
    }
}

/// The first panic of some tasks.
#[derive(Default)]
pub(crate) struct First(Mutex<Option<Error>>);

impl First {
    pub(crate) fn note(&self, error: &Error) {
        lock(&self.0).get_or_insert_with(|| error.clone());
    }
    pub(crate) fn take(&self) -> Result<()> {
        lock(&self.0).take().map_or(Ok(()), Err)
    }
    /// Calls the function, and notes its panic.
    ///
    /// # Safety
    /// `this` is one.
    pub(crate) unsafe fn guard(this: *const First, kernel: &str, f: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
            (*this).note(&Error::Panicked(kernel.into(), text_of(payload)));
        }
    }
}

/// What a panic says. Its payload may panic when it is dropped.
pub(crate) fn text_of(payload: Box<dyn Any + Send>) -> String {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text.to_string(),
        (_, Some(text)) => text.clone(),
        _ => "a value that is no text".to_string(),
    };
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(another);
    }
    text
}

// --- machines ---

/// Which machine a runtime has, and how it works there. What is not set comes from the
/// environment (docs/ENVIRONMENT.md), as for programs in C.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    settings: Vec<(String, String)>,
}

impl Machine {
    /// The machine that `ORRERY_MACHINE` names, else the real one.
    pub fn of_environment() -> Machine {
        Machine::default()
    }
    /// The machine that the program runs on.
    pub fn real() -> Machine {
        Machine::default().set("ORRERY_MACHINE", "")
    }
    /// A simulated machine: a name of the catalogue (`orrery machine list`), the path of a
    /// description, or several with a network between them.
    pub fn simulated(name: &str) -> Machine {
        Machine::default().set("ORRERY_MACHINE", name)
    }
    /// The scheduler, such as `"dmdas"`.
    pub fn scheduler(self, name: &str) -> Machine {
        self.set("STARPU_SCHED", name)
    }
    /// How many processors compute.
    pub fn cpus(self, n: usize) -> Machine {
        self.set("STARPU_NCPU", &n.to_string())
    }
    /// How many CUDA devices compute.
    pub fn cuda(self, n: usize) -> Machine {
        self.set("STARPU_NCUDA", &n.to_string())
    }
    /// Times of kernels that nobody has measured there: `"axpy on cuda = 12us"`
    /// (docs/ASSUME.md). Each call adds some.
    pub fn assume(mut self, what: &str) -> Machine {
        match self.settings.iter_mut().find(|(name, _)| name == "ORRERY_ASSUME") {
            Some((_, before)) => *before = format!("{before}; {what}"),
            None => return self.set("ORRERY_ASSUME", what),
        }
        self
    }
    /// Whether simulated kernels are executed, on processors, beside taking virtual time.
    pub fn run_kernels(self, run: bool) -> Machine {
        self.set("ORRERY_SIM_KERNELS", if run { "run" } else { "skip" })
    }
    /// Any variable of docs/ENVIRONMENT.md, such as `ORRERY_TRACE`.
    pub fn set(mut self, name: &str, value: &str) -> Machine {
        self.settings.retain(|(other, _)| other != name);
        self.settings.push((name.into(), value.into()));
        self
    }
    /// Starts the runtime. Where another thread has one, waits until it is dropped.
    ///
    /// What is set here is in the environment of the process while the library reads that:
    /// other threads should not look at the environment by functions of C meanwhile.
    pub fn start(&self) -> Result<Runtime> {
        Runtime::start(self)
    }
}

/// Variables of the environment that have other values as long.
struct Environment(Vec<(String, Option<std::ffi::OsString>)>);

impl Environment {
    fn set(settings: &[(String, String)]) -> Result<Environment> {
        let mut before = Environment(Vec::new());
        for (name, value) in settings {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(Error::Name(format!("{name}={value}")));
            }
            before.0.push((name.clone(), env::var_os(name)));
            env::set_var(name, value);
        }
        Ok(before)
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        for (name, value) in self.0.drain(..).rev() {
            match value {
                Some(value) => env::set_var(name, value),
                None => env::remove_var(name),
            }
        }
    }
}

// --- one runtime at a time ---

static OWNER: Mutex<Option<ThreadId>> = Mutex::new(None);
static FREED: Condvar = Condvar::new();

/// That this thread has the runtime of the process.
struct Claim;

impl Claim {
    fn wait() -> Result<Claim> {
        let me = thread::current().id();
        let mut owner = lock(&OWNER);
        loop {
            match *owner {
                None => break,
                Some(other) if other == me => return Err(Error::Running),
                Some(_) => owner = FREED.wait(owner).unwrap_or_else(PoisonError::into_inner),
            }
        }
        *owner = Some(me);
        Ok(Claim)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        *lock(&OWNER) = None;
        FREED.notify_one();
    }
}

// --- the runtime ---

/// What data and builders of tasks have of the runtime.
#[doc(hidden)]
pub struct Inner {
    is_open: Cell<bool>,
    pub(crate) is_simulated: bool,
    slots: RefCell<BTreeMap<u64, Weak<Slot>>>,
    numbers: Cell<u64>,
    pub(crate) codelets: RefCell<Codelets>,
    pub(crate) operations: RefCell<Operations>,
    pub(crate) first: Box<First>,
}

impl Inner {
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.is_open.get() {
            Ok(())
        } else {
            Err(Error::Closed)
        }
    }
    /// Never 0.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.set(self.numbers.get() + 1);
        self.numbers.get()
    }
    pub(crate) fn keep(&self, slot: &Rc<Slot>) {
        self.slots.borrow_mut().insert(slot.number, Rc::downgrade(slot));
    }
    pub(crate) fn drop_slot(&self, number: u64) {
        self.slots.borrow_mut().remove(&number);
    }

    fn close(&self) {
        if !self.is_open.get() {
            return;
        }
        wait_or_abort();
        // Data that are still there, or were forgotten, end before the library does.
        let slots: Vec<_> = self.slots.borrow().values().filter_map(Weak::upgrade).collect();
        for slot in slots {
            slot.end();
        }
        self.codelets.borrow().unload();
        self.is_open.set(false);
        unsafe { starpu_shutdown() };
    }
}

/// Waits for all tasks. Where nothing may wait the program ends, as tasks use memory that
/// would be gone.
fn wait_or_abort() {
    if unsafe { starpu_task_wait_for_all() } != 0 {
        eprintln!("orrery: a runtime or a scope ends in a callback, where nothing may wait");
        process::abort();
    }
}

/// A runtime: the machine, its workers, the tasks.
///
/// It stays in the thread that has started it. Dropping it waits for all tasks; data that
/// are still there have their values then.
///
/// ```
/// use orrery::Machine;
///
/// # fn main() -> orrery::Result<()> {
/// let rt = Machine::simulated("h100-pcie-4")
///     .assume("axpy on cpu = 20us")
///     .run_kernels(true)
///     .start()?;
/// let x = rt.vector(vec![1f32; 1000])?;
/// let y = rt.vector(vec![2f32; 1000])?;
/// for i in 0..3 {
///     let a = i as f32;
///     rt.task("axpy").run((x.read(), y.rw()), move |(x, y)| {
///         for (y, x) in y.iter_mut().zip(x) {
///             *y += a * x;
///         }
///     })?;
/// }
/// rt.wait_all()?;
/// assert!(rt.now_us() >= 60.); // virtual time
/// assert_eq!(y.into_vec(), vec![5f32; 1000]);
/// # Ok(())
/// # }
/// ```
pub struct Runtime {
    inner: Rc<Inner>,
    _claim: Claim,
}

impl Runtime {
    /// The runtime of the machine that the environment names, else of the real one.
    pub fn new() -> Result<Runtime> {
        Machine::of_environment().start()
    }

    fn start(machine: &Machine) -> Result<Runtime> {
        let claim = Claim::wait()?;
        let environment = Environment::set(&machine.settings)?;
        let status = unsafe { starpu_init(ptr::null_mut()) };
        drop(environment);
        match status {
            0 => {}
            // ENODEV.
            -19 => return Err(Error::NoWorkers),
            errno => return Err(Error::Start(-errno)),
        }
        let inner = Inner {
            is_open: Cell::new(true),
            is_simulated: unsafe { orrery_is_simulated() } != 0,
            slots: RefCell::default(),
            numbers: Cell::new(0),
            codelets: RefCell::default(),
            operations: RefCell::default(),
            first: Box::default(),
        };
        Ok(Runtime { inner: Rc::new(inner), _claim: claim })
    }

    /// Whether the machine is simulated.
    pub fn is_simulated(&self) -> bool {
        self.inner.is_simulated
    }
    /// Whether kernels are executed, rather than only taking virtual time.
    pub fn runs_kernels(&self) -> bool {
        unsafe { orrery_runs_kernels() != 0 }
    }
    /// The machine's name.
    pub fn machine(&self) -> String {
        let name = unsafe { orrery_machine_name() };
        if name.is_null() {
            return String::new();
        }
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }
    /// How many workers there are.
    pub fn workers(&self) -> usize {
        unsafe { starpu_worker_get_count() as usize }
    }
    /// How many workers of that kind there are.
    pub fn workers_of(&self, device: Device) -> usize {
        unsafe { starpu_worker_get_count_by_type(device.archtype()).max(0) as usize }
    }
    /// The machine's clock in µs: virtual time where it is simulated.
    pub fn now_us(&self) -> f64 {
        unsafe { starpu_timing_now() }
    }
    /// The priorities that the scheduler tells apart.
    pub fn priorities(&self) -> std::ops::RangeInclusive<i32> {
        unsafe { STARPU_MIN_PRIO()..=STARPU_MAX_PRIO() }
    }

    /// A vector that the runtime has, until [`into_vec`](crate::Data::into_vec).
    pub fn vector<T: Plain>(&self, elements: Vec<T>) -> Result<Vector<T>> {
        let n = elements.len();
        Vector::new(&self.inner, elements, n)
    }
    /// A matrix of `rows` by `columns` elements, column after column.
    pub fn matrix<T: Plain>(
        &self,
        elements: Vec<T>,
        rows: usize,
        columns: usize,
    ) -> Result<Matrix<T>> {
        Matrix::new(&self.inner, elements, [rows, columns])
    }
    /// A block in three dimensions; elements of the first lie side by side.
    pub fn block<T: Plain>(&self, elements: Vec<T>, dims: [usize; 3]) -> Result<Block<T>> {
        Block::new(&self.inner, elements, dims)
    }
    /// One value.
    pub fn variable<T: Plain>(&self, value: T) -> Result<Variable<T>> {
        Variable::new(&self.inner, vec![value], ())
    }
    /// Memory of `n` elements that each task which asks for it has for itself.
    pub fn scratch<T: Plain>(&self, n: usize) -> Result<Scratch<VectorOf<T>>> {
        Scratch::new(&self.inner, n)
    }
    /// The same, a matrix.
    pub fn scratch_matrix<T: Plain>(
        &self,
        rows: usize,
        columns: usize,
    ) -> Result<Scratch<MatrixOf<T>>> {
        Scratch::new(&self.inner, [rows, columns])
    }

    /// A task, to be described and then [`run`](Builder::run). A kernel is a [`Kernel`], or
    /// just a name for what processors execute.
    pub fn task<'a>(&'a self, kernel: impl Into<KernelRef<'a>>) -> Builder<'a, 'static> {
        Builder::new(&self.inner, kernel.into(), &self.inner.first, None)
    }

    /// Waits for all tasks. The first panic of those outside of scopes since the last call
    /// is its error; all other tasks have run.
    pub fn wait_all(&self) -> Result<()> {
        if unsafe { starpu_task_wait_for_all() } != 0 {
            return Err(Error::WouldWait);
        }
        self.inner.first.take()
    }

    /// How many µs a task of that kernel should take there, by its performance model or what
    /// is assumed; `None`: nobody knows, or no such worker can execute it.
    pub fn predict<'a, A: Accesses>(
        &'a self,
        kernel: impl Into<KernelRef<'a>>,
        accesses: A,
        device: Device,
    ) -> Result<Option<f64>> {
        self.task(kernel).predict(accesses, device)
    }

    /// Lends memory of the caller's to tasks, and waits for the tasks of the scope, also
    /// where the function panics. The first panic of its kernels is the error.
    ///
    /// ```
    /// # fn main() -> orrery::Result<()> {
    /// let rt = orrery::Machine::simulated("laptop-8")
    ///     .assume("scale on cpu = 5us")
    ///     .run_kernels(true)
    ///     .start()?;
    /// let mut numbers = vec![3u64; 64];
    /// let factor = 7;
    /// rt.scope(|s| -> orrery::Result<()> {
    ///     let data = s.vector(&mut numbers)?;
    ///     s.task("scale").run((data.rw(),), |(v,)| {
    ///         for x in v {
    ///             *x *= factor; // a variable of the caller's
    ///         }
    ///     })?;
    ///     Ok(())
    /// })??;
    /// assert_eq!(numbers[63], 21);
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope<'env, R>(
        &'env self,
        f: impl for<'s> FnOnce(&'s Scope<'s, 'env>) -> R,
    ) -> Result<R> {
        let scope = Scope {
            rt: &self.inner,
            slots: RefCell::default(),
            left: AtomicUsize::new(0),
            first: First::default(),
            scope: PhantomData,
            env: PhantomData,
        };
        let result = {
            let _end = EndOfScope(&scope.left, &scope.slots);
            f(&scope)
        };
        scope.first.take()?;
        Ok(result)
    }

    /// Runs a future on this thread, and waits inside of the runtime meanwhile, so that
    /// virtual time goes on.
    ///
    /// ```
    /// # fn main() -> orrery::Result<()> {
    /// let rt = orrery::Machine::simulated("laptop-8").assume("* = 5us").start()?;
    /// let x = rt.variable(1)?;
    /// rt.block_on(async {
    ///     rt.task("one").run((x.rw(),), |(x,)| *x += 1)?.await?;
    ///     rt.task("two").run((x.rw(),), |(x,)| *x += 1)?.await
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let bell = Arc::new(Bell::new());
        let waker = Waker::from(bell.clone());
        let mut context = Context::from_waker(&waker);
        let mut future = Box::pin(future);
        loop {
            if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return value;
            }
            bell.wait();
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.inner.close();
    }
}

/// What a thread waits on inside of the runtime.
struct Bell(UnsafeCell<starpu_sem_t>);

// The library's semaphores are for all threads.
unsafe impl Send for Bell {}
unsafe impl Sync for Bell {}

impl Bell {
    fn new() -> Bell {
        let bell = Bell(UnsafeCell::new(starpu_sem_t::default()));
        unsafe { starpu_sem_init(bell.0.get(), 0, 0) };
        bell
    }
    fn wait(&self) {
        unsafe {
            orrery_own_wait_begin(self.0.get().cast());
            starpu_sem_wait(self.0.get());
        }
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        unsafe { starpu_sem_destroy(self.0.get()) };
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        unsafe {
            orrery_own_wait_end(self.0.get().cast());
            starpu_sem_post(self.0.get());
        }
    }
}

// --- scopes ---

/// Where tasks may use what is borrowed for `'s`: of [`Runtime::scope`].
pub struct Scope<'s, 'env: 's> {
    rt: &'env Rc<Inner>,
    slots: RefCell<Vec<Rc<Slot>>>,
    /// Tasks that may still use what they have borrowed.
    left: AtomicUsize,
    first: First,
    scope: PhantomData<&'s mut &'s ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Waits for all of a scope, however it ends.
struct EndOfScope<'a>(&'a AtomicUsize, &'a RefCell<Vec<Rc<Slot>>>);

impl Drop for EndOfScope<'_> {
    fn drop(&mut self) {
        while self.0.load(Ordering::Acquire) > 0 {
            wait_or_abort();
        }
        for slot in self.1.take() {
            slot.end();
        }
    }
}

impl<'s, 'env> Scope<'s, 'env> {
    fn borrow<L: Layout>(
        &'s self,
        at: *mut L::Element,
        len: usize,
        dims: L::Dims,
    ) -> Result<Borrowed<'s, L>> {
        check::<L>(dims, Some(len))?;
        let borrowed = unsafe { Borrowed::<L>::new(self.rt, at, dims) }?;
        self.slots.borrow_mut().push(borrowed.slot.clone());
        Ok(borrowed)
    }

    /// A vector: the slice is the scope's until it ends.
    pub fn vector<T: Plain>(&'s self, v: &'s mut [T]) -> Result<Borrowed<'s, VectorOf<T>>> {
        self.borrow(v.as_mut_ptr(), v.len(), v.len())
    }
    /// A matrix, column after column.
    pub fn matrix<T: Plain>(
        &'s self,
        v: &'s mut [T],
        rows: usize,
        columns: usize,
    ) -> Result<Borrowed<'s, MatrixOf<T>>> {
        self.borrow(v.as_mut_ptr(), v.len(), [rows, columns])
    }
    /// A block in three dimensions.
    pub fn block<T: Plain>(
        &'s self,
        v: &'s mut [T],
        dims: [usize; 3],
    ) -> Result<Borrowed<'s, BlockOf<T>>> {
        self.borrow(v.as_mut_ptr(), v.len(), dims)
    }
    /// One value.
    pub fn variable<T: Plain>(&'s self, v: &'s mut T) -> Result<Borrowed<'s, VariableOf<T>>> {
        self.borrow(v, 1, ())
    }
    /// A vector that the tasks only read.
    pub fn lend<T: Plain>(&'s self, v: &'s [T]) -> Result<Lent<'s, VectorOf<T>>> {
        let borrowed = self.borrow(v.as_ptr() as *mut T, v.len(), v.len())?;
        Ok(Lent(borrowed))
    }

    /// As [`Runtime::task`]; its function may use what is borrowed for the scope.
    pub fn task<'a>(&'s self, kernel: impl Into<KernelRef<'a>>) -> Builder<'a, 's>
    where
        's: 'a,
    {
        Builder::new(self.rt, kernel.into(), &self.first, Some(&self.left))
    }
}

/// A name is a kernel that processors alone execute.
impl<'a> From<&'a str> for KernelRef<'a> {
    fn from(name: &'a str) -> Self {
        KernelRef::Name(name)
    }
}
impl<'a> From<&'a Kernel> for KernelRef<'a> {
    fn from(kernel: &'a Kernel) -> Self {
        KernelRef::Kernel(kernel)
    }
}
