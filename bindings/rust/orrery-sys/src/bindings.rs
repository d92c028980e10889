// SPDX-License-Identifier: LGPL-2.1-or-later
// Made by bindings/rust/generate.py of the headers in include/: do not edit.
use super::platform::*;
use std::os::raw::*;

pub const STARPU_MAJOR_VERSION: u32 = 1;
pub const STARPU_MINOR_VERSION: u32 = 4;
pub const STARPU_RELEASE_VERSION: u32 = 99;
pub const STARPU_USE_CPU: u32 = 1;
pub const STARPU_OPENMP: u32 = 1;
pub const STARPU_HAVE_FC: u32 = 1;
pub const STARPU_WORKER_CALLBACKS: u32 = 1;
pub const STARPU_MAXNODES: u32 = 64;
pub const STARPU_NMAXBUFS: u32 = 8;
pub const STARPU_NMAXWORKERS: u32 = 256;
pub const STARPU_MAXIMPLEMENTATIONS: u32 = 4;
pub const STARPU_NMAX_SCHED_CTXS: u32 = 10;
pub const STARPU_MAXCPUS: u32 = 256;
pub const STARPU_MAXNUMANODES: u32 = 16;
pub const STARPU_MAXCUDADEVS: u32 = 16;
pub const STARPU_MAXHIPDEVS: u32 = 16;
pub const STARPU_MAXOPENCLDEVS: u32 = 16;
pub const STARPU_MAXMAXFPGADEVS: u32 = 12;
pub const STARPU_FXT_MAX_FILES: u32 = 64;
pub const STARPU_LINUX_SYS: u32 = 1;
pub const STARPU_HAVE_MALLOC_H: u32 = 1;
pub const STARPU_USE_ERAND48_R: u32 = 1;
pub const STARPU_HAVE_UNISTD_H: u32 = 1;
pub const STARPU_HAVE_HDF5: u32 = 1;
pub const STARPU_HAVE_SETENV: u32 = 1;
pub const STARPU_HAVE_UNSETENV: u32 = 1;
pub const STARPU_HAVE_POSIX_MEMALIGN: u32 = 1;
pub const STARPU_HAVE_STRUCT_TIMESPEC: u32 = 1;
pub const STARPU_HAVE_STRERROR_R: u32 = 1;
pub const STARPU_HAVE_NEARBYINTF: u32 = 1;
pub const STARPU_HAVE_RINTF: u32 = 1;
pub const STARPU_USE_DRAND48: u32 = 1;
pub const STARPU_HAVE_PTHREAD_SPIN_LOCK: u32 = 1;
pub const STARPU_HAVE_PTHREAD_BARRIER: u32 = 1;
pub const STARPU_HAVE_PTHREAD_SETNAME_NP: u32 = 1;
pub const STARPU_PTHREAD_MUTEX_INITIALIZER_ZERO: u32 = 1;
pub const STARPU_PTHREAD_COND_INITIALIZER_ZERO: u32 = 1;
pub const STARPU_PTHREAD_RWLOCK_INITIALIZER_ZERO: u32 = 1;
pub const STARPU_HAVE_STATEMENT_EXPRESSIONS: u32 = 1;
pub const STARPU_HAVE_SYNC_BOOL_COMPARE_AND_SWAP: u32 = 1;
pub const STARPU_HAVE_SYNC_BOOL_COMPARE_AND_SWAP_8: u32 = 1;
pub const STARPU_HAVE_SYNC_VAL_COMPARE_AND_SWAP: u32 = 1;
pub const STARPU_HAVE_SYNC_VAL_COMPARE_AND_SWAP_8: u32 = 1;
pub const STARPU_HAVE_SYNC_FETCH_AND_ADD: u32 = 1;
pub const STARPU_HAVE_SYNC_FETCH_AND_ADD_8: u32 = 1;
pub const STARPU_HAVE_SYNC_FETCH_AND_OR: u32 = 1;
pub const STARPU_HAVE_SYNC_FETCH_AND_OR_8: u32 = 1;
pub const STARPU_HAVE_SYNC_LOCK_TEST_AND_SET: u32 = 1;
pub const STARPU_HAVE_SYNC_SYNCHRONIZE: u32 = 1;
pub const STARPU_HAVE_ATOMIC_COMPARE_EXCHANGE_N: u32 = 1;
pub const STARPU_HAVE_ATOMIC_COMPARE_EXCHANGE_N_8: u32 = 1;
pub const STARPU_HAVE_ATOMIC_EXCHANGE_N: u32 = 1;
pub const STARPU_HAVE_ATOMIC_EXCHANGE_N_8: u32 = 1;
pub const STARPU_HAVE_ATOMIC_FETCH_ADD: u32 = 1;
pub const STARPU_HAVE_ATOMIC_FETCH_ADD_8: u32 = 1;
pub const STARPU_HAVE_ATOMIC_FETCH_OR: u32 = 1;
pub const STARPU_HAVE_ATOMIC_FETCH_OR_8: u32 = 1;
pub const STARPU_HAVE_ATOMIC_TEST_AND_SET: u32 = 1;
pub const STARPU_CACHELINE_SIZE: u32 = 64;
pub const STARPU_BACKTRACE_LENGTH: u32 = 32;
pub const STARPU_ACQUIRE_NO_NODE: i32 = - 1;
pub const STARPU_ACQUIRE_NO_NODE_LOCK_ALL: i32 = - 2;
pub const STARPU_PTHREAD_BARRIER_SERIAL_THREAD: i32 = - 1;
pub const STARPU_COO_GET_OFFSET: u32 = 0;
pub const STARPU_CSR_GET_OFFSET: u32 = 0;
pub const STARPU_BCSR_GET_OFFSET: u32 = 0;
pub const STARPU_DISK_SIZE_MIN: u32 = 16777216;
pub const STARPU_NOWHERE: u32 = 1;
pub const STARPU_CODELET_SIMGRID_EXECUTE: u32 = 1;
pub const STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT: u32 = 2;
pub const STARPU_CODELET_NOPLANS: u32 = 4;
pub const STARPU_CUDA_ASYNC: u32 = 1;
pub const STARPU_HIP_ASYNC: u32 = 1;
pub const STARPU_OPENCL_ASYNC: u32 = 1;
pub const STARPU_MAIN_RAM: u32 = 0;
pub const STARPU_TASK_INVALID: u32 = 0;
pub const STARPU_VARIABLE_NBUFFERS: i32 = - 1;
pub const STARPU_SPECIFIC_NODE_LOCAL: i32 = - 1;
pub const STARPU_SPECIFIC_NODE_CPU: i32 = - 2;
pub const STARPU_SPECIFIC_NODE_SLOW: i32 = - 3;
pub const STARPU_SPECIFIC_NODE_FAST: i32 = - 4;
pub const STARPU_SPECIFIC_NODE_LOCAL_OR_CPU: i32 = - 5;
pub const STARPU_SPECIFIC_NODE_NONE: i32 = - 6;
pub const STARPU_TASK_TYPE_NORMAL: u32 = 0;
pub const STARPU_TASK_TYPE_INTERNAL: u32 = 1;
pub const STARPU_TASK_TYPE_DATA_ACQUIRE: u32 = 2;
pub const STARPU_PARALLEL_WORKER_MIN_NB: u32 = 131072;
pub const STARPU_PARALLEL_WORKER_MAX_NB: u32 = 262144;
pub const STARPU_PARALLEL_WORKER_NB: u32 = 393216;
pub const STARPU_PARALLEL_WORKER_PREFERE_MIN: u32 = 524288;
pub const STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS: u32 = 655360;
pub const STARPU_PARALLEL_WORKER_POLICY_NAME: u32 = 786432;
pub const STARPU_PARALLEL_WORKER_POLICY_STRUCT: u32 = 917504;
pub const STARPU_PARALLEL_WORKER_CREATE_FUNC: u32 = 1048576;
pub const STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG: u32 = 1179648;
pub const STARPU_PARALLEL_WORKER_TYPE: u32 = 1310720;
pub const STARPU_PARALLEL_WORKER_AWAKE_WORKERS: u32 = 1441792;
pub const STARPU_PARALLEL_WORKER_PARTITION_ONE: u32 = 1572864;
pub const STARPU_PARALLEL_WORKER_NEW: u32 = 1703936;
pub const STARPU_PARALLEL_WORKER_NCORES: u32 = 1835008;
pub const STARPU_CLUSTER_MIN_NB: u32 = 131072;
pub const STARPU_CLUSTER_MAX_NB: u32 = 262144;
pub const STARPU_CLUSTER_NB: u32 = 393216;
pub const STARPU_CLUSTER_PREFERE_MIN: u32 = 524288;
pub const STARPU_CLUSTER_KEEP_HOMOGENEOUS: u32 = 655360;
pub const STARPU_CLUSTER_POLICY_NAME: u32 = 786432;
pub const STARPU_CLUSTER_POLICY_STRUCT: u32 = 917504;
pub const STARPU_CLUSTER_CREATE_FUNC: u32 = 1048576;
pub const STARPU_CLUSTER_CREATE_FUNC_ARG: u32 = 1179648;
pub const STARPU_CLUSTER_TYPE: u32 = 1310720;
pub const STARPU_CLUSTER_AWAKE_WORKERS: u32 = 1441792;
pub const STARPU_CLUSTER_PARTITION_ONE: u32 = 1572864;
pub const STARPU_CLUSTER_NEW: u32 = 1703936;
pub const STARPU_CLUSTER_NCORES: u32 = 1835008;
pub const STARPU_PROFILING_DISABLE: u32 = 0;
pub const STARPU_PROFILING_ENABLE: u32 = 1;
pub const STARPU_NS_PER_S: u32 = 1000000000;
pub const STARPU_SCHED_CTX_POLICY_NAME: u32 = 65536;
pub const STARPU_SCHED_CTX_POLICY_STRUCT: u32 = 131072;
pub const STARPU_SCHED_CTX_POLICY_MIN_PRIO: u32 = 196608;
pub const STARPU_SCHED_CTX_POLICY_MAX_PRIO: u32 = 262144;
pub const STARPU_SCHED_CTX_HIERARCHY_LEVEL: u32 = 327680;
pub const STARPU_SCHED_CTX_NESTED: u32 = 393216;
pub const STARPU_SCHED_CTX_AWAKE_WORKERS: u32 = 458752;
pub const STARPU_SCHED_CTX_POLICY_INIT: u32 = 524288;
pub const STARPU_SCHED_CTX_USER_DATA: u32 = 589824;
pub const STARPU_SCHED_CTX_CUDA_NSMS: u32 = 655360;
pub const STARPU_SCHED_CTX_SUB_CTXS: u32 = 720896;
pub const STARPU_DEFAULT_PRIO: u32 = 0;
pub const STARPU_MALLOC_PINNED: u32 = 2;
pub const STARPU_MALLOC_COUNT: u32 = 4;
pub const STARPU_MALLOC_NORECLAIM: u32 = 8;
pub const STARPU_MEMORY_WAIT: u32 = 16;
pub const STARPU_MEMORY_OVERFLOW: u32 = 32;
pub const STARPU_MALLOC_SIMULATION_FOLDED: u32 = 64;
pub const STARPU_MALLOC_SIMULATION_UNIQUE: u32 = 128;
pub const STARPU_MODE_SHIFT: u32 = 17;
pub const STARPU_VALUE: u32 = 131072;
pub const STARPU_CALLBACK: u32 = 262144;
pub const STARPU_CALLBACK_WITH_ARG: u32 = 393216;
pub const STARPU_CALLBACK_ARG: u32 = 524288;
pub const STARPU_PRIORITY: u32 = 655360;
pub const STARPU_EXECUTE_ON_NODE: u32 = 786432;
pub const STARPU_EXECUTE_ON_DATA: u32 = 917504;
pub const STARPU_DATA_ARRAY: u32 = 1048576;
pub const STARPU_DATA_MODE_ARRAY: u32 = 1179648;
pub const STARPU_TAG: u32 = 1310720;
pub const STARPU_HYPERVISOR_TAG: u32 = 1441792;
pub const STARPU_FLOPS: u32 = 1572864;
pub const STARPU_SCHED_CTX: u32 = 1703936;
pub const STARPU_PROLOGUE_CALLBACK: u32 = 1835008;
pub const STARPU_PROLOGUE_CALLBACK_ARG: u32 = 1966080;
pub const STARPU_PROLOGUE_CALLBACK_POP: u32 = 2097152;
pub const STARPU_PROLOGUE_CALLBACK_POP_ARG: u32 = 2228224;
pub const STARPU_EXECUTE_ON_WORKER: u32 = 2359296;
pub const STARPU_EXECUTE_WHERE: u32 = 2490368;
pub const STARPU_TAG_ONLY: u32 = 2621440;
pub const STARPU_POSSIBLY_PARALLEL: u32 = 2752512;
pub const STARPU_WORKER_ORDER: u32 = 2883584;
pub const STARPU_NODE_SELECTION_POLICY: u32 = 3014656;
pub const STARPU_NAME: u32 = 3145728;
pub const STARPU_CL_ARGS: u32 = 3276800;
pub const STARPU_CL_ARGS_NFREE: u32 = 3407872;
pub const STARPU_TASK_DEPS_ARRAY: u32 = 3538944;
pub const STARPU_TASK_COLOR: u32 = 3670016;
pub const STARPU_HANDLES_SEQUENTIAL_CONSISTENCY: u32 = 3801088;
pub const STARPU_TASK_SYNCHRONOUS: u32 = 3932160;
pub const STARPU_TASK_END_DEPS_ARRAY: u32 = 4063232;
pub const STARPU_TASK_END_DEP: u32 = 4194304;
pub const STARPU_TASK_WORKERIDS: u32 = 4325376;
pub const STARPU_SEQUENTIAL_CONSISTENCY: u32 = 4456448;
pub const STARPU_TASK_PROFILING_INFO: u32 = 4587520;
pub const STARPU_TASK_NO_SUBMITORDER: u32 = 4718592;
pub const STARPU_CALLBACK_ARG_NFREE: u32 = 4849664;
pub const STARPU_CALLBACK_WITH_ARG_NFREE: u32 = 4980736;
pub const STARPU_PROLOGUE_CALLBACK_ARG_NFREE: u32 = 5111808;
pub const STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE: u32 = 5242880;
pub const STARPU_TASK_SCHED_DATA: u32 = 5373952;
pub const STARPU_TRANSACTION: u32 = 5505024;
pub const STARPU_TASK_FILE: u32 = 5636096;
pub const STARPU_TASK_LINE: u32 = 5767168;
pub const STARPU_EPILOGUE_CALLBACK: u32 = 5898240;
pub const STARPU_EPILOGUE_CALLBACK_ARG: u32 = 6029312;
pub const STARPU_BUBBLE_FUNC: u32 = 6160384;
pub const STARPU_BUBBLE_FUNC_ARG: u32 = 6291456;
pub const STARPU_BUBBLE_GEN_DAG_FUNC: u32 = 6422528;
pub const STARPU_BUBBLE_GEN_DAG_FUNC_ARG: u32 = 6553600;
pub const STARPU_BUBBLE_PARENT: u32 = 6684672;
pub const STARPU_SHIFTED_MODE_MAX: u32 = 6815744;
pub const STARPU_THREAD_ACTIVE: u32 = 1;
pub const STARPU_HETEROPRIO_MAX_PREFETCH: u32 = 2;
pub const STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY_COUNT: u32 = 28;
pub const STARPU_SCHED_SIMPLE_DECIDE_MASK: u32 = 3;
pub const STARPU_SCHED_SIMPLE_DECIDE_WORKERS: u32 = 1;
pub const STARPU_SCHED_SIMPLE_DECIDE_MEMNODES: u32 = 2;
pub const STARPU_SCHED_SIMPLE_DECIDE_ARCHS: u32 = 3;
pub const STARPU_SCHED_SIMPLE_DECIDE_ALWAYS: u32 = 8;
pub const STARPU_SCHED_SIMPLE_PERFMODEL: u32 = 16;
pub const STARPU_SCHED_SIMPLE_IMPL: u32 = 32;
pub const STARPU_SCHED_SIMPLE_FIFO_ABOVE: u32 = 64;
pub const STARPU_SCHED_SIMPLE_FIFO_ABOVE_PRIO: u32 = 128;
pub const STARPU_SCHED_SIMPLE_FIFOS_BELOW: u32 = 256;
pub const STARPU_SCHED_SIMPLE_FIFOS_BELOW_PRIO: u32 = 512;
pub const STARPU_SCHED_SIMPLE_FIFOS_BELOW_READY: u32 = 1024;
pub const STARPU_SCHED_SIMPLE_WS_BELOW: u32 = 2048;
pub const STARPU_SCHED_SIMPLE_COMBINED_WORKERS: u32 = 4096;
pub const STARPU_SCHED_SIMPLE_FIFOS_BELOW_EXP: u32 = 8192;
pub const STARPU_SCHED_SIMPLE_PRE_DECISION: u32 = 16384;
pub const STARPU_SCHED_SIMPLE_FIFOS_BELOW_NOLIMIT: u32 = 65536;
pub type starpu_ssize_t = isize;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _starpu_data_state {
    _unused: [u8; 0],
}
pub type starpu_data_handle_t = *mut _starpu_data_state;
pub const STARPU_R: starpu_data_access_mode = 1;
pub const STARPU_W: starpu_data_access_mode = 2;
pub const STARPU_RW: starpu_data_access_mode = 3;
pub const STARPU_SCRATCH: starpu_data_access_mode = 4;
pub const STARPU_REDUX: starpu_data_access_mode = 8;
pub const STARPU_COMMUTE: starpu_data_access_mode = 16;
pub const STARPU_SSEND: starpu_data_access_mode = 32;
pub const STARPU_LOCALITY: starpu_data_access_mode = 64;
pub const STARPU_MPI_REDUX: starpu_data_access_mode = 128;
pub const STARPU_NOPLAN: starpu_data_access_mode = 256;
pub const STARPU_UNMAP: starpu_data_access_mode = 512;
pub const STARPU_NOFOOTPRINT: starpu_data_access_mode = 1024;
pub const STARPU_NONE: starpu_data_access_mode = 2048;
pub const STARPU_ACCESS_MODE_MAX: starpu_data_access_mode = 4096;
pub type starpu_data_access_mode = c_uint;
pub const STARPU_FETCH: starpu_is_prefetch = 0;
pub const STARPU_TASK_PREFETCH: starpu_is_prefetch = 1;
pub const STARPU_PREFETCH: starpu_is_prefetch = 2;
pub const STARPU_IDLEFETCH: starpu_is_prefetch = 3;
pub const STARPU_NFETCH: starpu_is_prefetch = 4;
pub type starpu_is_prefetch = c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_arbiter {
    _unused: [u8; 0],
}
pub type starpu_arbiter_t = *mut starpu_arbiter;
pub type starpu_pthread_t = u64;
pub type starpu_pthread_attr_t = [u64; 7usize];
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_pthread_mutex_t {
    pub _bindgen_opaque_blob: [u64; 16usize],
}
#[repr(C)]
#[repr(align(8))]
#[derive(Copy, Clone)]
pub struct starpu_pthread_mutex_t__bindgen_ty_1 {
    pub _bindgen_opaque_blob: [u64; 16usize],
}
impl Default for starpu_pthread_mutex_t__bindgen_ty_1 {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub type starpu_pthread_mutexattr_t = u32;
pub type starpu_pthread_key_t = u32;
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_pthread_cond_t {
    pub _bindgen_opaque_blob: [u64; 16usize],
}
#[repr(C)]
#[repr(align(8))]
#[derive(Copy, Clone)]
pub struct starpu_pthread_cond_t__bindgen_ty_1 {
    pub _bindgen_opaque_blob: [u64; 16usize],
}
impl Default for starpu_pthread_cond_t__bindgen_ty_1 {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub type starpu_pthread_condattr_t = u32;
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_pthread_rwlock_t {
    pub _bindgen_opaque_blob: [u64; 16usize],
}
#[repr(C)]
#[repr(align(8))]
#[derive(Copy, Clone)]
pub struct starpu_pthread_rwlock_t__bindgen_ty_1 {
    pub _bindgen_opaque_blob: [u64; 16usize],
}
impl Default for starpu_pthread_rwlock_t__bindgen_ty_1 {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub type starpu_pthread_rwlockattr_t = u64;
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_pthread_barrier_t {
    pub _bindgen_opaque_blob: [u64; 16usize],
}
#[repr(C)]
#[repr(align(8))]
#[derive(Copy, Clone)]
pub struct starpu_pthread_barrier_t__bindgen_ty_1 {
    pub _bindgen_opaque_blob: [u64; 16usize],
}
impl Default for starpu_pthread_barrier_t__bindgen_ty_1 {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub type starpu_pthread_barrierattr_t = u32;
#[repr(C)]
#[repr(align(4))]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_pthread_spinlock_t {
    pub _bindgen_opaque_blob: u32,
}
#[repr(C)]
#[repr(align(8))]
pub struct starpu_pthread_wait_t {
    pub _bindgen_opaque_blob: [u64; 33usize],
}
impl Default for starpu_pthread_wait_t {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_pthread_queue_t {
    pub _bindgen_opaque_blob: [u64; 18usize],
}
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_sem_t {
    pub _bindgen_opaque_blob: [u64; 16usize],
}
#[repr(C)]
#[repr(align(8))]
#[derive(Copy, Clone)]
pub struct starpu_sem_t__bindgen_ty_1 {
    pub _bindgen_opaque_blob: [u64; 16usize],
}
impl Default for starpu_sem_t__bindgen_ty_1 {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_tree {
    pub nodes: *mut starpu_tree,
    pub father: *mut starpu_tree,
    pub arity: c_int,
    pub id: c_int,
    pub level: c_int,
    pub is_pu: c_int,
}
impl Default for starpu_tree {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hwloc_bitmap_s {
    _unused: [u8; 0],
}
pub type hwloc_cpuset_t = *mut hwloc_bitmap_s;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hwloc_obj {
    _unused: [u8; 0],
}
pub type hwloc_obj_t = *mut hwloc_obj;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hwloc_topology {
    _unused: [u8; 0],
}
pub type hwloc_topology_t = *mut hwloc_topology;
pub type hwloc_obj_type_t = c_int;
pub const STARPU_UNUSED: starpu_node_kind = 0;
pub const STARPU_CPU_RAM: starpu_node_kind = 1;
pub const STARPU_CUDA_RAM: starpu_node_kind = 2;
pub const STARPU_OPENCL_RAM: starpu_node_kind = 3;
pub const STARPU_MAX_FPGA_RAM: starpu_node_kind = 4;
pub const STARPU_DISK_RAM: starpu_node_kind = 5;
pub const STARPU_MPI_MS_RAM: starpu_node_kind = 6;
pub const STARPU_TCPIP_MS_RAM: starpu_node_kind = 7;
pub const STARPU_HIP_RAM: starpu_node_kind = 8;
pub const STARPU_MAX_RAM: starpu_node_kind = 8;
pub const STARPU_NRAM: starpu_node_kind = 9;
pub type starpu_node_kind = c_uint;
pub const STARPU_CPU_WORKER: starpu_worker_archtype = 0;
pub const STARPU_CUDA_WORKER: starpu_worker_archtype = 1;
pub const STARPU_OPENCL_WORKER: starpu_worker_archtype = 2;
pub const STARPU_MAX_FPGA_WORKER: starpu_worker_archtype = 4;
pub const STARPU_MPI_MS_WORKER: starpu_worker_archtype = 5;
pub const STARPU_TCPIP_MS_WORKER: starpu_worker_archtype = 6;
pub const STARPU_HIP_WORKER: starpu_worker_archtype = 7;
pub const STARPU_NARCH: starpu_worker_archtype = 8;
pub const STARPU_ANY_WORKER: starpu_worker_archtype = 255;
pub type starpu_worker_archtype = c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_sched_ctx_iterator {
    pub cursor: c_int,
    pub value: *mut c_void,
    pub possible_value: *mut c_void,
    pub visited: [c_char; 256usize],
    pub possibly_parallel: c_int,
}
impl Default for starpu_sched_ctx_iterator {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub const STARPU_WORKER_TREE: starpu_worker_collection_type = 0;
pub const STARPU_WORKER_LIST: starpu_worker_collection_type = 1;
pub type starpu_worker_collection_type = c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_worker_collection {
    pub workerids: *mut c_int,
    pub collection_private: *mut c_void,
    pub nworkers: c_uint,
    pub unblocked_workers: *mut c_void,
    pub nunblocked_workers: c_uint,
    pub masters: *mut c_void,
    pub nmasters: c_uint,
    pub present: [c_char; 256usize],
    pub is_unblocked: [c_char; 256usize],
    pub is_master: [c_char; 256usize],
    pub type_: starpu_worker_collection_type,
    pub has_next: Option<unsafe extern "C" fn(arg1: *mut starpu_worker_collection, arg2: *mut starpu_sched_ctx_iterator) -> c_uint>,
    pub get_next: Option<unsafe extern "C" fn(arg1: *mut starpu_worker_collection, arg2: *mut starpu_sched_ctx_iterator) -> c_int>,
    pub add: Option<unsafe extern "C" fn(arg1: *mut starpu_worker_collection, arg2: c_int) -> c_int>,
    pub remove: Option<unsafe extern "C" fn(arg1: *mut starpu_worker_collection, arg2: c_int) -> c_int>,
    pub init: Option<unsafe extern "C" fn(arg1: *mut starpu_worker_collection)>,
    pub deinit: Option<unsafe extern "C" fn(arg1: *mut starpu_worker_collection)>,
    pub init_iterator: Option<unsafe extern "C" fn(arg1: *mut starpu_worker_collection, arg2: *mut starpu_sched_ctx_iterator)>,
    pub init_iterator_for_parallel_tasks: Option<unsafe extern "C" fn(arg1: *mut starpu_worker_collection, arg2: *mut starpu_sched_ctx_iterator, arg3: *mut starpu_task)>,
}
impl Default for starpu_worker_collection {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct orrery_kernel {
    pub symbol: *const c_char,
    pub name: *const c_char,
    pub type_: starpu_worker_archtype,
    pub implementation: c_uint,
    pub footprint: u32,
    pub size: usize,
    pub flops: f64,
    pub n: c_uint,
    pub mean: f64,
    pub deviation: f64,
    pub derived: c_int,
    pub worker: c_int,
}
impl Default for orrery_kernel {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct orrery_rates {
    pub flops32: f64,
    pub flops64: f64,
    pub bytes: f64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct orrery_replay_settings {
    pub machine: *const c_char,
    pub edits: *const c_char,
    pub scheduler: *const c_char,
    pub assume: *const c_char,
    pub noise: *const c_char,
    pub seed: *const c_char,
    pub report: *const c_char,
    pub graph: *const c_char,
    pub trace: *const c_char,
}
impl Default for orrery_replay_settings {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct orrery_drawing {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct orrery_drawn_end {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct orrery_drawn_use {
    pub data: usize,
    pub name: *const c_char,
    pub writes: c_int,
    pub reads: c_int,
}
impl Default for orrery_drawn_use {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct orrery_drawing_look {
    pub deepest: c_int,
    pub times: c_int,
    pub colours: c_int,
    pub nameless: c_int,
    pub copies: c_int,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_bitmap {
    pub bits: [c_ulong; 4usize],
    pub cardinal: c_int,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct CUstream_st {
    _unused: [u8; 0],
}
pub type starpu_cudaStream_t = *mut CUstream_st;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct nvmlDevice_st {
    _unused: [u8; 0],
}
pub type starpu_cudaError_t = c_int;
pub type starpu_cudaMemcpyKind_t = c_int;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cusparseContext {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _cl_event {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ihipStream_t {
    _unused: [u8; 0],
}
pub type starpu_hipStream_t = *mut ihipStream_t;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_data_copy_methods {
    pub can_copy: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint, arg5: c_uint) -> c_int>,
    pub ram_to_ram: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub ram_to_cuda: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub ram_to_hip: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub ram_to_opencl: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub ram_to_max_fpga: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub cuda_to_ram: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub cuda_to_cuda: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub hip_to_ram: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub hip_to_hip: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub opencl_to_ram: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub opencl_to_opencl: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub max_fpga_to_ram: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub ram_to_cuda_async: Option<unsafe extern "C" fn() -> c_int>,
    pub cuda_to_ram_async: Option<unsafe extern "C" fn() -> c_int>,
    pub cuda_to_cuda_async: Option<unsafe extern "C" fn() -> c_int>,
    pub ram_to_hip_async: Option<unsafe extern "C" fn() -> c_int>,
    pub hip_to_ram_async: Option<unsafe extern "C" fn() -> c_int>,
    pub hip_to_hip_async: Option<unsafe extern "C" fn() -> c_int>,
    pub ram_to_opencl_async: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint, arg5: *mut *mut _cl_event) -> c_int>,
    pub opencl_to_ram_async: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint, arg5: *mut *mut _cl_event) -> c_int>,
    pub opencl_to_opencl_async: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint, arg5: *mut *mut _cl_event) -> c_int>,
    pub ram_to_max_fpga_async: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub max_fpga_to_ram_async: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub any_to_any: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint, arg5: *mut c_void) -> c_int>,
}
pub const STARPU_UNKNOWN_INTERFACE_ID: starpu_data_interface_id = - 1;
pub const STARPU_MATRIX_INTERFACE_ID: starpu_data_interface_id = 0;
pub const STARPU_BLOCK_INTERFACE_ID: starpu_data_interface_id = 1;
pub const STARPU_VECTOR_INTERFACE_ID: starpu_data_interface_id = 2;
pub const STARPU_CSR_INTERFACE_ID: starpu_data_interface_id = 3;
pub const STARPU_BCSR_INTERFACE_ID: starpu_data_interface_id = 4;
pub const STARPU_VARIABLE_INTERFACE_ID: starpu_data_interface_id = 5;
pub const STARPU_VOID_INTERFACE_ID: starpu_data_interface_id = 6;
pub const STARPU_MULTIFORMAT_INTERFACE_ID: starpu_data_interface_id = 7;
pub const STARPU_COO_INTERFACE_ID: starpu_data_interface_id = 8;
pub const STARPU_TENSOR_INTERFACE_ID: starpu_data_interface_id = 9;
pub const STARPU_NDIM_INTERFACE_ID: starpu_data_interface_id = 10;
pub const STARPU_MAX_INTERFACE_ID: starpu_data_interface_id = 11;
pub type starpu_data_interface_id = c_int;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_data_interface_ops {
    pub register_data_handle: Option<unsafe extern "C" fn(arg1: starpu_data_handle_t, arg2: c_int, arg3: *mut c_void)>,
    pub unregister_data_handle: Option<unsafe extern "C" fn(arg1: starpu_data_handle_t)>,
    pub allocate_data_on_node: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint) -> starpu_ssize_t>,
    pub free_data_on_node: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint)>,
    pub cache_data_on_node: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: *mut c_void, arg3: c_uint)>,
    pub reuse_data_on_node: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: *const c_void, arg3: c_uint)>,
    pub map_data: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub unmap_data: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub update_map: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint, arg3: *mut c_void, arg4: c_uint) -> c_int>,
    pub init: Option<unsafe extern "C" fn(arg1: *mut c_void)>,
    pub copy_methods: *const starpu_data_copy_methods,
    pub handle_to_pointer: Option<unsafe extern "C" fn(arg1: starpu_data_handle_t, arg2: c_uint) -> *mut c_void>,
    pub to_pointer: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: c_uint) -> *mut c_void>,
    pub get_size: Option<unsafe extern "C" fn(arg1: starpu_data_handle_t) -> usize>,
    pub get_alloc_size: Option<unsafe extern "C" fn(arg1: starpu_data_handle_t) -> usize>,
    pub get_max_size: Option<unsafe extern "C" fn(arg1: starpu_data_handle_t) -> usize>,
    pub footprint: Option<unsafe extern "C" fn(arg1: starpu_data_handle_t) -> u32>,
    pub alloc_footprint: Option<unsafe extern "C" fn(arg1: starpu_data_handle_t) -> u32>,
    pub compare: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: *mut c_void) -> c_int>,
    pub alloc_compare: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: *mut c_void) -> c_int>,
    pub display: Option<unsafe extern "C" fn(arg1: starpu_data_handle_t, arg2: *mut FILE)>,
    pub describe: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: *mut c_char, arg3: usize) -> starpu_ssize_t>,
    pub interfaceid: starpu_data_interface_id,
    pub interface_size: usize,
    pub is_multiformat: c_char,
    pub dontcache: c_char,
    pub get_mf_ops: Option<unsafe extern "C" fn(arg1: *mut c_void) -> *mut starpu_multiformat_data_interface_ops>,
    pub pack_data: Option<unsafe extern "C" fn(arg1: starpu_data_handle_t, arg2: c_uint, arg3: *mut *mut c_void, arg4: *mut starpu_ssize_t) -> c_int>,
    pub peek_data: Option<unsafe extern "C" fn(arg1: starpu_data_handle_t, arg2: c_uint, arg3: *mut c_void, arg4: usize) -> c_int>,
    pub unpack_data: Option<unsafe extern "C" fn(arg1: starpu_data_handle_t, arg2: c_uint, arg3: *mut c_void, arg4: usize) -> c_int>,
    pub pack_meta: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: *mut *mut c_void, arg3: *mut starpu_ssize_t) -> c_int>,
    pub unpack_meta: Option<unsafe extern "C" fn(arg1: *mut *mut c_void, arg2: *mut c_void, arg3: *mut starpu_ssize_t) -> c_int>,
    pub free_meta: Option<unsafe extern "C" fn(arg1: *mut c_void) -> c_int>,
    pub name: *mut c_char,
}
impl Default for starpu_data_interface_ops {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_matrix_interface {
    pub id: starpu_data_interface_id,
    pub ptr: usize,
    pub dev_handle: usize,
    pub offset: usize,
    pub nx: u32,
    pub ny: u32,
    pub ld: u32,
    pub elemsize: usize,
    pub allocsize: usize,
}
impl Default for starpu_matrix_interface {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_coo_interface {
    pub id: starpu_data_interface_id,
    pub columns: *mut u32,
    pub rows: *mut u32,
    pub values: usize,
    pub nx: u32,
    pub ny: u32,
    pub n_values: u32,
    pub elemsize: usize,
}
impl Default for starpu_coo_interface {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_block_interface {
    pub id: starpu_data_interface_id,
    pub ptr: usize,
    pub dev_handle: usize,
    pub offset: usize,
    pub nx: u32,
    pub ny: u32,
    pub nz: u32,
    pub ldy: u32,
    pub ldz: u32,
    pub elemsize: usize,
}
impl Default for starpu_block_interface {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_tensor_interface {
    pub id: starpu_data_interface_id,
    pub ptr: usize,
    pub dev_handle: usize,
    pub offset: usize,
    pub nx: u32,
    pub ny: u32,
    pub nz: u32,
    pub nt: u32,
    pub ldy: u32,
    pub ldz: u32,
    pub ldt: u32,
    pub elemsize: usize,
}
impl Default for starpu_tensor_interface {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_ndim_interface {
    pub id: starpu_data_interface_id,
    pub ptr: usize,
    pub dev_handle: usize,
    pub offset: usize,
    pub allocsize: usize,
    pub nn: *mut u32,
    pub ldn: *mut u32,
    pub ndim: usize,
    pub elemsize: usize,
}
impl Default for starpu_ndim_interface {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_vector_interface {
    pub id: starpu_data_interface_id,
    pub ptr: usize,
    pub dev_handle: usize,
    pub offset: usize,
    pub nx: u32,
    pub elemsize: usize,
    pub slice_base: u32,
    pub allocsize: usize,
}
impl Default for starpu_vector_interface {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_variable_interface {
    pub id: starpu_data_interface_id,
    pub ptr: usize,
    pub dev_handle: usize,
    pub offset: usize,
    pub elemsize: usize,
}
impl Default for starpu_variable_interface {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_csr_interface {
    pub id: starpu_data_interface_id,
    pub nnz: u32,
    pub nrow: u32,
    pub nzval: usize,
    pub colind: *mut u32,
    pub rowptr: *mut u32,
    pub ram_colind: *mut u32,
    pub ram_rowptr: *mut u32,
    pub firstentry: u32,
    pub elemsize: usize,
}
impl Default for starpu_csr_interface {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_bcsr_interface {
    pub id: starpu_data_interface_id,
    pub nnz: u32,
    pub nrow: u32,
    pub nzval: usize,
    pub colind: *mut u32,
    pub rowptr: *mut u32,
    pub ram_colind: *mut u32,
    pub ram_rowptr: *mut u32,
    pub firstentry: u32,
    pub r: u32,
    pub c: u32,
    pub elemsize: usize,
}
impl Default for starpu_bcsr_interface {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_multiformat_data_interface_ops {
    pub cpu_elemsize: usize,
    pub opencl_elemsize: usize,
    pub cpu_to_opencl_cl: *mut starpu_codelet,
    pub opencl_to_cpu_cl: *mut starpu_codelet,
    pub cuda_elemsize: usize,
    pub cpu_to_cuda_cl: *mut starpu_codelet,
    pub cuda_to_cpu_cl: *mut starpu_codelet,
}
impl Default for starpu_multiformat_data_interface_ops {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_multiformat_interface {
    pub id: starpu_data_interface_id,
    pub cpu_ptr: *mut c_void,
    pub cuda_ptr: *mut c_void,
    pub hip_ptr: *mut c_void,
    pub opencl_ptr: *mut c_void,
    pub nx: u32,
    pub ops: *mut starpu_multiformat_data_interface_ops,
}
impl Default for starpu_multiformat_interface {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_data_filter {
    pub filter_func: Option<unsafe extern "C" fn(arg1: *mut c_void, arg2: *mut c_void, arg3: *mut starpu_data_filter, arg4: c_uint, arg5: c_uint)>,
    pub nchildren: c_uint,
    pub get_nchildren: Option<unsafe extern "C" fn(arg1: *mut starpu_data_filter, arg2: starpu_data_handle_t) -> c_uint>,
    pub get_child_ops: Option<unsafe extern "C" fn(arg1: *mut starpu_data_filter, arg2: c_uint) -> *mut starpu_data_interface_ops>,
    pub filter_arg: c_uint,
    pub filter_arg_ptr: *mut c_void,
}
impl Default for starpu_data_filter {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_disk_ops {
    pub plug: Option<unsafe extern "C" fn(parameter: *mut c_void, size: starpu_ssize_t) -> *mut c_void>,
    pub unplug: Option<unsafe extern "C" fn(base: *mut c_void)>,
    pub bandwidth: Option<unsafe extern "C" fn(node: c_uint, base: *mut c_void) -> c_int>,
    pub alloc: Option<unsafe extern "C" fn(base: *mut c_void, size: usize) -> *mut c_void>,
    pub free: Option<unsafe extern "C" fn(base: *mut c_void, obj: *mut c_void, size: usize)>,
    pub open: Option<unsafe extern "C" fn(base: *mut c_void, pos: *mut c_void, size: usize) -> *mut c_void>,
    pub close: Option<unsafe extern "C" fn(base: *mut c_void, obj: *mut c_void, size: usize)>,
    pub read: Option<unsafe extern "C" fn(base: *mut c_void, obj: *mut c_void, buf: *mut c_void, offset: off_t, size: usize) -> c_int>,
    pub write: Option<unsafe extern "C" fn(base: *mut c_void, obj: *mut c_void, buf: *const c_void, offset: off_t, size: usize) -> c_int>,
    pub full_read: Option<unsafe extern "C" fn(base: *mut c_void, obj: *mut c_void, ptr: *mut *mut c_void, size: *mut usize, dst_node: c_uint) -> c_int>,
    pub full_write: Option<unsafe extern "C" fn(base: *mut c_void, obj: *mut c_void, ptr: *mut c_void, size: usize) -> c_int>,
    pub async_write: Option<unsafe extern "C" fn(base: *mut c_void, obj: *mut c_void, buf: *mut c_void, offset: off_t, size: usize) -> *mut c_void>,
    pub async_read: Option<unsafe extern "C" fn(base: *mut c_void, obj: *mut c_void, buf: *mut c_void, offset: off_t, size: usize) -> *mut c_void>,
    pub async_full_read: Option<unsafe extern "C" fn(base: *mut c_void, obj: *mut c_void, ptr: *mut *mut c_void, size: *mut usize, dst_node: c_uint) -> *mut c_void>,
    pub async_full_write: Option<unsafe extern "C" fn(base: *mut c_void, obj: *mut c_void, ptr: *mut c_void, size: usize) -> *mut c_void>,
    pub copy: Option<unsafe extern "C" fn(base_src: *mut c_void, obj_src: *mut c_void, off_src: off_t, base_dst: *mut c_void, obj_dst: *mut c_void, off_dst: off_t, size: usize) -> *mut c_void>,
    pub wait_request: Option<unsafe extern "C" fn(async_channel: *mut c_void)>,
    pub test_request: Option<unsafe extern "C" fn(async_channel: *mut c_void) -> c_int>,
    pub free_request: Option<unsafe extern "C" fn(async_channel: *mut c_void)>,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _cl_device_id {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct starpu_driver {
    pub type_: starpu_worker_archtype,
    pub id: starpu_driver__bindgen_ty_1,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union starpu_driver__bindgen_ty_1 { pub cpu_id: c_uint, pub cuda_id: c_uint, pub hip_id: c_uint, pub opencl_id: *mut _cl_device_id }
impl Default for starpu_driver__bindgen_ty_1 {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
impl Default for starpu_driver {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _starpu_task_bundle {
    _unused: [u8; 0],
}
pub type starpu_task_bundle_t = *mut _starpu_task_bundle;
pub type starpu_tag_t = u64;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_omp_task {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_perf_counter_sample {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_perf_counter_sample_cl_values {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_transaction {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _starpu_trs_epoch {
    _unused: [u8; 0],
}
pub type starpu_trs_epoch_t = *mut _starpu_trs_epoch;
pub const STARPU_CPU: _bindgen_ty_11 = 2;
pub const STARPU_CUDA: _bindgen_ty_11 = 4;
pub const STARPU_HIP: _bindgen_ty_11 = 256;
pub const STARPU_OPENCL: _bindgen_ty_11 = 8;
pub const STARPU_MAX_FPGA: _bindgen_ty_11 = 32;
pub const STARPU_MPI_MS: _bindgen_ty_11 = 64;
pub const STARPU_TCPIP_MS: _bindgen_ty_11 = 128;
pub type _bindgen_ty_11 = c_uint;
pub const STARPU_SEQ: starpu_codelet_type = 0;
pub const STARPU_SPMD: starpu_codelet_type = 1;
pub const STARPU_FORKJOIN: starpu_codelet_type = 2;
pub type starpu_codelet_type = c_uint;
pub const STARPU_TASK_INIT: starpu_task_status = 0;
pub const STARPU_TASK_BLOCKED: starpu_task_status = 1;
pub const STARPU_TASK_READY: starpu_task_status = 2;
pub const STARPU_TASK_RUNNING: starpu_task_status = 3;
pub const STARPU_TASK_FINISHED: starpu_task_status = 4;
pub const STARPU_TASK_BLOCKED_ON_TAG: starpu_task_status = 5;
pub const STARPU_TASK_BLOCKED_ON_TASK: starpu_task_status = 6;
pub const STARPU_TASK_BLOCKED_ON_DATA: starpu_task_status = 7;
pub const STARPU_TASK_STOPPED: starpu_task_status = 8;
pub type starpu_task_status = c_uint;
pub type starpu_cpu_func_t = Option<unsafe extern "C" fn(buffers: *mut *mut c_void, cl_arg: *mut c_void)>;
pub type starpu_cuda_func_t = Option<unsafe extern "C" fn(buffers: *mut *mut c_void, cl_arg: *mut c_void)>;
pub type starpu_hip_func_t = Option<unsafe extern "C" fn(buffers: *mut *mut c_void, cl_arg: *mut c_void)>;
pub type starpu_opencl_func_t = Option<unsafe extern "C" fn(buffers: *mut *mut c_void, cl_arg: *mut c_void)>;
pub type starpu_max_fpga_func_t = Option<unsafe extern "C" fn(buffers: *mut *mut c_void, cl_arg: *mut c_void)>;
pub type starpu_bubble_func_t = Option<unsafe extern "C" fn(task: *mut starpu_task, arg: *mut c_void) -> c_int>;
pub type starpu_bubble_gen_dag_func_t = Option<unsafe extern "C" fn(task: *mut starpu_task, arg: *mut c_void)>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_codelet {
    pub where_: u32,
    pub can_execute: Option<unsafe extern "C" fn(arg1: c_uint, arg2: *mut starpu_task, arg3: c_uint) -> c_int>,
    pub type_: starpu_codelet_type,
    pub max_parallelism: c_int,
    pub cpu_func: starpu_cpu_func_t,
    pub cuda_func: starpu_cuda_func_t,
    pub opencl_func: starpu_opencl_func_t,
    pub cpu_funcs: [starpu_cpu_func_t; 4usize],
    pub cuda_funcs: [starpu_cuda_func_t; 4usize],
    pub cuda_flags: [c_char; 4usize],
    pub hip_funcs: [starpu_hip_func_t; 4usize],
    pub hip_flags: [c_char; 4usize],
    pub opencl_funcs: [starpu_opencl_func_t; 4usize],
    pub opencl_flags: [c_char; 4usize],
    pub max_fpga_funcs: [starpu_max_fpga_func_t; 4usize],
    pub cpu_funcs_name: [*const c_char; 4usize],
    pub bubble_func: starpu_bubble_func_t,
    pub bubble_gen_dag_func: starpu_bubble_gen_dag_func_t,
    pub nbuffers: c_int,
    pub modes: [starpu_data_access_mode; 8usize],
    pub dyn_modes: *mut starpu_data_access_mode,
    pub specific_nodes: c_uint,
    pub nodes: [c_int; 8usize],
    pub dyn_nodes: *mut c_int,
    pub model: *mut starpu_perfmodel,
    pub energy_model: *mut starpu_perfmodel,
    pub per_worker_stats: [c_ulong; 256usize],
    pub name: *const c_char,
    pub color: c_uint,
    pub callback_func: Option<unsafe extern "C" fn(arg1: *mut c_void)>,
    pub flags: c_int,
    pub perf_counter_sample: *mut starpu_perf_counter_sample,
    pub perf_counter_values: *mut starpu_perf_counter_sample_cl_values,
    pub checked: c_int,
}
impl Default for starpu_codelet {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_data_descr {
    pub handle: starpu_data_handle_t,
    pub mode: starpu_data_access_mode,
}
impl Default for starpu_data_descr {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_task {
    pub name: *const c_char,
    pub file: *const c_char,
    pub line: c_int,
    pub cl: *mut starpu_codelet,
    pub where_: i32,
    pub nbuffers: c_int,
    pub dyn_handles: *mut starpu_data_handle_t,
    pub dyn_interfaces: *mut *mut c_void,
    pub dyn_modes: *mut starpu_data_access_mode,
    pub handles: [starpu_data_handle_t; 8usize],
    pub interfaces: [*mut c_void; 8usize],
    pub modes: [starpu_data_access_mode; 8usize],
    pub handles_sequential_consistency: *mut c_uchar,
    pub cl_arg: *mut c_void,
    pub cl_arg_size: usize,
    pub cl_ret: *mut c_void,
    pub cl_ret_size: usize,
    pub epilogue_callback_func: Option<unsafe extern "C" fn(arg1: *mut c_void)>,
    pub epilogue_callback_arg: *mut c_void,
    pub callback_func: Option<unsafe extern "C" fn(arg1: *mut c_void)>,
    pub callback_arg: *mut c_void,
    pub prologue_callback_func: Option<unsafe extern "C" fn(arg1: *mut c_void)>,
    pub prologue_callback_arg: *mut c_void,
    pub prologue_callback_pop_func: Option<unsafe extern "C" fn(arg1: *mut c_void)>,
    pub prologue_callback_pop_arg: *mut c_void,
    pub transaction: *mut starpu_transaction,
    pub trs_epoch: starpu_trs_epoch_t,
    pub tag_id: starpu_tag_t,
    pub _bitfield_align_1: [u8; 0],
    pub _bitfield_1: __BindgenBitfieldUnit<[u8; 2usize]>,
    pub mf_skip: c_uchar,
    pub failed: c_uchar,
    pub scheduled: c_uchar,
    pub prefetched: c_uchar,
    pub workerid: c_uint,
    pub workerorder: c_uint,
    pub workerids: *mut u32,
    pub workerids_len: c_uint,
    pub priority: c_int,
    pub status: starpu_task_status,
    pub magic: c_int,
    pub type_: c_uint,
    pub color: c_uint,
    pub sched_ctx: c_uint,
    pub hypervisor_tag: c_int,
    pub possibly_parallel: c_uint,
    pub bundle: starpu_task_bundle_t,
    pub profiling_info: *mut starpu_profiling_task_info,
    pub flops: f64,
    pub predicted: f64,
    pub predicted_transfer: f64,
    pub predicted_start: f64,
    pub prev: *mut starpu_task,
    pub next: *mut starpu_task,
    pub starpu_private: *mut c_void,
    pub omp_task: *mut c_void,
    pub bubble_parent: c_ulong,
    pub bubble_func: starpu_bubble_func_t,
    pub bubble_func_arg: *mut c_void,
    pub bubble_gen_dag_func: starpu_bubble_gen_dag_func_t,
    pub bubble_gen_dag_func_arg: *mut c_void,
    pub nb_termination_call_required: c_uint,
    pub sched_data: *mut c_void,
}
impl Default for starpu_task {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
impl starpu_task {
    #[inline]
    pub fn cl_arg_free(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(0usize, 1u8) as u32) } }
    #[inline]
    pub fn set_cl_arg_free(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(0usize, 1u8, val as u64) } }
    #[inline]
    pub fn cl_ret_free(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(1usize, 1u8) as u32) } }
    #[inline]
    pub fn set_cl_ret_free(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(1usize, 1u8, val as u64) } }
    #[inline]
    pub fn callback_arg_free(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(2usize, 1u8) as u32) } }
    #[inline]
    pub fn set_callback_arg_free(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(2usize, 1u8, val as u64) } }
    #[inline]
    pub fn epilogue_callback_arg_free(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(3usize, 1u8) as u32) } }
    #[inline]
    pub fn set_epilogue_callback_arg_free(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(3usize, 1u8, val as u64) } }
    #[inline]
    pub fn prologue_callback_arg_free(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(4usize, 1u8) as u32) } }
    #[inline]
    pub fn set_prologue_callback_arg_free(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(4usize, 1u8, val as u64) } }
    #[inline]
    pub fn prologue_callback_pop_arg_free(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(5usize, 1u8) as u32) } }
    #[inline]
    pub fn set_prologue_callback_pop_arg_free(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(5usize, 1u8, val as u64) } }
    #[inline]
    pub fn use_tag(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(6usize, 1u8) as u32) } }
    #[inline]
    pub fn set_use_tag(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(6usize, 1u8, val as u64) } }
    #[inline]
    pub fn sequential_consistency(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(7usize, 1u8) as u32) } }
    #[inline]
    pub fn set_sequential_consistency(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(7usize, 1u8, val as u64) } }
    #[inline]
    pub fn synchronous(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(8usize, 1u8) as u32) } }
    #[inline]
    pub fn set_synchronous(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(8usize, 1u8, val as u64) } }
    #[inline]
    pub fn execute_on_a_specific_worker(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(9usize, 1u8) as u32) } }
    #[inline]
    pub fn set_execute_on_a_specific_worker(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(9usize, 1u8, val as u64) } }
    #[inline]
    pub fn detach(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(10usize, 1u8) as u32) } }
    #[inline]
    pub fn set_detach(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(10usize, 1u8, val as u64) } }
    #[inline]
    pub fn destroy(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(11usize, 1u8) as u32) } }
    #[inline]
    pub fn set_destroy(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(11usize, 1u8, val as u64) } }
    #[inline]
    pub fn regenerate(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(12usize, 1u8) as u32) } }
    #[inline]
    pub fn set_regenerate(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(12usize, 1u8, val as u64) } }
    #[inline]
    pub fn no_submitorder(&self) -> c_uint { unsafe { ::std::mem::transmute(self._bitfield_1.get(13usize, 1u8) as u32) } }
    #[inline]
    pub fn set_no_submitorder(&mut self, val: c_uint) { unsafe { let val: u32 = ::std::mem::transmute(val); self._bitfield_1.set(13usize, 1u8, val as u64) } }
    #[inline]
    pub fn new_bitfield_1(cl_arg_free: c_uint, cl_ret_free: c_uint, callback_arg_free: c_uint, epilogue_callback_arg_free: c_uint, prologue_callback_arg_free: c_uint, prologue_callback_pop_arg_free: c_uint, use_tag: c_uint, sequential_consistency: c_uint, synchronous: c_uint, execute_on_a_specific_worker: c_uint, detach: c_uint, destroy: c_uint, regenerate: c_uint, no_submitorder: c_uint) -> __BindgenBitfieldUnit<[u8; 2usize]> { let mut __bindgen_bitfield_unit: __BindgenBitfieldUnit<[u8; 2usize]> = Default::default(); __bindgen_bitfield_unit.set(0usize, 1u8, { let cl_arg_free: u32 = unsafe { ::std::mem::transmute(cl_arg_free) }; cl_arg_free as u64 }); __bindgen_bitfield_unit.set(1usize, 1u8, { let cl_ret_free: u32 = unsafe { ::std::mem::transmute(cl_ret_free) }; cl_ret_free as u64 }); __bindgen_bitfield_unit.set(2usize, 1u8, { let callback_arg_free: u32 = unsafe { ::std::mem::transmute(callback_arg_free) }; callback_arg_free as u64 }); __bindgen_bitfield_unit.set(3usize, 1u8, { let epilogue_callback_arg_free: u32 = unsafe { ::std::mem::transmute(epilogue_callback_arg_free) }; epilogue_callback_arg_free as u64 }); __bindgen_bitfield_unit.set(4usize, 1u8, { let prologue_callback_arg_free: u32 = unsafe { ::std::mem::transmute(prologue_callback_arg_free) }; prologue_callback_arg_free as u64 }); __bindgen_bitfield_unit.set(5usize, 1u8, { let prologue_callback_pop_arg_free: u32 = unsafe { ::std::mem::transmute(prologue_callback_pop_arg_free) }; prologue_callback_pop_arg_free as u64 }); __bindgen_bitfield_unit.set(6usize, 1u8, { let use_tag: u32 = unsafe { ::std::mem::transmute(use_tag) }; use_tag as u64 }); __bindgen_bitfield_unit.set(7usize, 1u8, { let sequential_consistency: u32 = unsafe { ::std::mem::transmute(sequential_consistency) }; sequential_consistency as u64 }); __bindgen_bitfield_unit.set(8usize, 1u8, { let synchronous: u32 = unsafe { ::std::mem::transmute(synchronous) }; synchronous as u64 }); __bindgen_bitfield_unit.set(9usize, 1u8, { let execute_on_a_specific_worker: u32 = unsafe { ::std::mem::transmute(execute_on_a_specific_worker) }; execute_on_a_specific_worker as u64 }); __bindgen_bitfield_unit.set(10usize, 1u8, { let detach: u32 = unsafe { ::std::mem::transmute(detach) }; detach as u64 }); __bindgen_bitfield_unit.set(11usize, 1u8, { let destroy: u32 = unsafe { ::std::mem::transmute(destroy) }; destroy as u64 }); __bindgen_bitfield_unit.set(12usize, 1u8, { let regenerate: u32 = unsafe { ::std::mem::transmute(regenerate) }; regenerate as u64 }); __bindgen_bitfield_unit.set(13usize, 1u8, { let no_submitorder: u32 = unsafe { ::std::mem::transmute(no_submitorder) }; no_submitorder as u64 }); __bindgen_bitfield_unit }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_perfmodel_device {
    pub type_: starpu_worker_archtype,
    pub devid: c_int,
    pub ncores: c_int,
}
impl Default for starpu_perfmodel_device {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_perfmodel_arch {
    pub ndevices: c_int,
    pub devices: *mut starpu_perfmodel_device,
}
impl Default for starpu_perfmodel_arch {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_perfmodel_history_entry {
    pub mean: f64,
    pub deviation: f64,
    pub sum: f64,
    pub sum2: f64,
    pub nsample: c_uint,
    pub nerror: c_uint,
    pub footprint: u32,
    pub size: usize,
    pub flops: f64,
    pub duration: f64,
    pub tag: starpu_tag_t,
    pub parameters: *mut f64,
}
impl Default for starpu_perfmodel_history_entry {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_perfmodel_history_list {
    pub next: *mut starpu_perfmodel_history_list,
    pub entry: *mut starpu_perfmodel_history_entry,
}
impl Default for starpu_perfmodel_history_list {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_perfmodel_regression_model {
    pub sumlny: f64,
    pub sumlnx: f64,
    pub sumlnx2: f64,
    pub minx: c_ulong,
    pub maxx: c_ulong,
    pub sumlnxlny: f64,
    pub alpha: f64,
    pub beta: f64,
    pub valid: c_uint,
    pub a: f64,
    pub b: f64,
    pub c: f64,
    pub nl_valid: c_uint,
    pub nsample: c_uint,
    pub coeff: *mut f64,
    pub ncoeff: c_uint,
    pub multi_valid: c_uint,
}
impl Default for starpu_perfmodel_regression_model {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_perfmodel_history_table {
    _unused: [u8; 0],
}
pub type starpu_perfmodel_per_arch_cost_function = Option<unsafe extern "C" fn(task: *mut starpu_task, arch: *mut starpu_perfmodel_arch, nimpl: c_uint) -> f64>;
pub type starpu_perfmodel_per_arch_size_base = Option<unsafe extern "C" fn(task: *mut starpu_task, arch: *mut starpu_perfmodel_arch, nimpl: c_uint) -> usize>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_perfmodel_per_arch {
    pub cost_function: starpu_perfmodel_per_arch_cost_function,
    pub size_base: starpu_perfmodel_per_arch_size_base,
    pub history: *mut starpu_perfmodel_history_table,
    pub list: *mut starpu_perfmodel_history_list,
    pub regression: starpu_perfmodel_regression_model,
    pub debug_path: [c_char; 256usize],
}
impl Default for starpu_perfmodel_per_arch {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub const STARPU_PERFMODEL_INVALID: starpu_perfmodel_type = 0;
pub const STARPU_PER_WORKER: starpu_perfmodel_type = 1;
pub const STARPU_PER_ARCH: starpu_perfmodel_type = 2;
pub const STARPU_COMMON: starpu_perfmodel_type = 3;
pub const STARPU_HISTORY_BASED: starpu_perfmodel_type = 4;
pub const STARPU_REGRESSION_BASED: starpu_perfmodel_type = 5;
pub const STARPU_NL_REGRESSION_BASED: starpu_perfmodel_type = 6;
pub const STARPU_MULTIPLE_REGRESSION_BASED: starpu_perfmodel_type = 7;
pub type starpu_perfmodel_type = c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _starpu_perfmodel_state {
    _unused: [u8; 0],
}
pub type starpu_perfmodel_state_t = *mut _starpu_perfmodel_state;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_perfmodel {
    pub type_: starpu_perfmodel_type,
    pub cost_function: Option<unsafe extern "C" fn(arg1: *mut starpu_task, arg2: c_uint) -> f64>,
    pub arch_cost_function: Option<unsafe extern "C" fn(arg1: *mut starpu_task, arg2: *mut starpu_perfmodel_arch, arg3: c_uint) -> f64>,
    pub worker_cost_function: Option<unsafe extern "C" fn(arg1: *mut starpu_task, arg2: c_uint, arg3: c_uint) -> f64>,
    pub size_base: Option<unsafe extern "C" fn(arg1: *mut starpu_task, arg2: c_uint) -> usize>,
    pub footprint: Option<unsafe extern "C" fn(arg1: *mut starpu_task) -> u32>,
    pub symbol: *const c_char,
    pub path: *mut c_char,
    pub is_loaded: c_uint,
    pub benchmarking: c_uint,
    pub is_init: c_uint,
    pub parameters: Option<unsafe extern "C" fn(arg1: *mut starpu_task, arg2: *mut f64)>,
    pub parameters_names: *mut *const c_char,
    pub nparameters: c_uint,
    pub combinations: *mut *mut c_uint,
    pub ncombinations: c_uint,
    pub state: starpu_perfmodel_state_t,
}
impl Default for starpu_perfmodel {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_fxt_codelet_event {
    pub symbol: [c_char; 2048usize],
    pub workerid: c_int,
    pub perfmodel_archname: [c_char; 256usize],
    pub hash: u32,
    pub size: usize,
    pub time: f32,
}
impl Default for starpu_fxt_codelet_event {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_fxt_mpi_offset {
    pub local_time_start: u64,
    pub offset_start: i64,
    pub local_time_end: u64,
    pub offset_end: i64,
    pub nb_barriers: c_int,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_fxt_options {
    pub per_task_colour: c_uint,
    pub no_events: c_uint,
    pub no_counter: c_uint,
    pub no_bus: c_uint,
    pub no_flops: c_uint,
    pub ninputfiles: c_uint,
    pub no_smooth: c_uint,
    pub no_acquire: c_uint,
    pub memory_states: c_uint,
    pub internal: c_uint,
    pub label_deps: c_uint,
    pub use_task_color: c_uint,
    pub filenames: [*mut c_char; 64usize],
    pub out_paje_path: *mut c_char,
    pub distrib_time_path: *mut c_char,
    pub activity_path: *mut c_char,
    pub sched_tasks_path: *mut c_char,
    pub dag_path: *mut c_char,
    pub tasks_path: *mut c_char,
    pub data_path: *mut c_char,
    pub papi_path: *mut c_char,
    pub comms_path: *mut c_char,
    pub number_events_path: *mut c_char,
    pub anim_path: *mut c_char,
    pub states_path: *mut c_char,
    pub dir: *mut c_char,
    pub worker_names: [[c_char; 256usize]; 256usize],
    pub nworkers: c_int,
    pub worker_archtypes: [starpu_perfmodel_arch; 256usize],
    pub file_prefix: *mut c_char,
    pub file_offset: starpu_fxt_mpi_offset,
    pub file_rank: c_int,
    pub dumped_codelets: *mut *mut starpu_fxt_codelet_event,
    pub dumped_codelets_count: c_long,
}
impl Default for starpu_fxt_options {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub type starpu_hipError_t = c_int;
pub type starpu_hipMemcpyKind_t = c_int;
pub type starpu_hipblasHandle_t = *mut c_void;
pub type starpu_hipblasStatus_t = c_int;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _cl_platform_id {
    _unused: [u8; 0],
}
pub type cl_platform_id = *mut _cl_platform_id;
pub type cl_device_id = *mut _cl_device_id;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _cl_context {
    _unused: [u8; 0],
}
pub type cl_context = *mut _cl_context;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _cl_command_queue {
    _unused: [u8; 0],
}
pub type cl_command_queue = *mut _cl_command_queue;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _cl_mem {
    _unused: [u8; 0],
}
pub type cl_mem = *mut _cl_mem;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _cl_program {
    _unused: [u8; 0],
}
pub type cl_program = *mut _cl_program;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _cl_kernel {
    _unused: [u8; 0],
}
pub type cl_kernel = *mut _cl_kernel;
pub type cl_event = *mut _cl_event;
pub type cl_int = i32;
pub type cl_mem_flags = u64;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_opencl_program {
    pub programs: [cl_program; 16usize],
}
impl Default for starpu_opencl_program {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_omp_lock_t {
    pub internal: *mut c_void,
}
impl Default for starpu_omp_lock_t {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_omp_nest_lock_t {
    pub internal: *mut c_void,
}
impl Default for starpu_omp_nest_lock_t {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub const starpu_omp_sched_undefined: starpu_omp_sched_value = 0;
pub const starpu_omp_sched_static: starpu_omp_sched_value = 1;
pub const starpu_omp_sched_dynamic: starpu_omp_sched_value = 2;
pub const starpu_omp_sched_guided: starpu_omp_sched_value = 3;
pub const starpu_omp_sched_auto: starpu_omp_sched_value = 4;
pub const starpu_omp_sched_runtime: starpu_omp_sched_value = 5;
pub type starpu_omp_sched_value = c_uint;
pub const starpu_omp_proc_bind_undefined: starpu_omp_proc_bind_value = - 1;
pub const starpu_omp_proc_bind_false: starpu_omp_proc_bind_value = 0;
pub const starpu_omp_proc_bind_true: starpu_omp_proc_bind_value = 1;
pub const starpu_omp_proc_bind_master: starpu_omp_proc_bind_value = 2;
pub const starpu_omp_proc_bind_close: starpu_omp_proc_bind_value = 3;
pub const starpu_omp_proc_bind_spread: starpu_omp_proc_bind_value = 4;
pub type starpu_omp_proc_bind_value = c_int;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_omp_parallel_region_attr {
    pub cl: starpu_codelet,
    pub handles: *mut starpu_data_handle_t,
    pub cl_arg: *mut c_void,
    pub cl_arg_size: usize,
    pub cl_arg_free: c_uint,
    pub if_clause: c_int,
    pub num_threads: c_int,
}
impl Default for starpu_omp_parallel_region_attr {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_omp_task_region_attr {
    pub cl: starpu_codelet,
    pub handles: *mut starpu_data_handle_t,
    pub cl_arg: *mut c_void,
    pub cl_arg_size: usize,
    pub cl_arg_free: c_uint,
    pub priority: c_int,
    pub if_clause: c_int,
    pub final_clause: c_int,
    pub untied_clause: c_int,
    pub mergeable_clause: c_int,
    pub is_loop: c_int,
    pub nogroup_clause: c_int,
    pub collapse: c_int,
    pub num_tasks: c_int,
    pub nb_iterations: c_ulonglong,
    pub grainsize: c_ulonglong,
    pub begin_i: c_ulonglong,
    pub end_i: c_ulonglong,
    pub chunk: c_ulonglong,
}
impl Default for starpu_omp_task_region_attr {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub const STARPU_PARALLEL_WORKER_OPENMP: starpu_parallel_worker_types = 0;
pub const STARPU_PARALLEL_WORKER_INTEL_OPENMP_MKL: starpu_parallel_worker_types = 1;
pub const STARPU_PARALLEL_WORKER_GNU_OPENMP_MKL: starpu_parallel_worker_types = 2;
pub type starpu_parallel_worker_types = c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_parallel_worker_config {
    _unused: [u8; 0],
}
pub const STARPU_CLUSTER_OPENMP: starpu_cluster_types = 0;
pub const STARPU_CLUSTER_INTEL_OPENMP_MKL: starpu_cluster_types = 1;
pub const STARPU_CLUSTER_GNU_OPENMP_MKL: starpu_cluster_types = 2;
pub type starpu_cluster_types = c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_cluster_machine {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_perf_counter_listener {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_perf_counter_set {
    _unused: [u8; 0],
}
pub const starpu_perf_counter_scope_undefined: starpu_perf_counter_scope = 0;
pub const starpu_perf_counter_scope_global: starpu_perf_counter_scope = 2;
pub const starpu_perf_counter_scope_per_worker: starpu_perf_counter_scope = 4;
pub const starpu_perf_counter_scope_per_codelet: starpu_perf_counter_scope = 6;
pub type starpu_perf_counter_scope = c_uint;
pub const starpu_perf_counter_type_undefined: starpu_perf_counter_type = 0;
pub const starpu_perf_counter_type_int32: starpu_perf_counter_type = 1;
pub const starpu_perf_counter_type_int64: starpu_perf_counter_type = 2;
pub const starpu_perf_counter_type_float: starpu_perf_counter_type = 3;
pub const starpu_perf_counter_type_double: starpu_perf_counter_type = 4;
pub type starpu_perf_counter_type = c_uint;
pub const starpu_perf_knob_scope_undefined: starpu_perf_knob_scope = 0;
pub const starpu_perf_knob_scope_global: starpu_perf_knob_scope = 1;
pub const starpu_perf_knob_scope_per_worker: starpu_perf_knob_scope = 3;
pub const starpu_perf_knob_scope_per_scheduler: starpu_perf_knob_scope = 5;
pub type starpu_perf_knob_scope = c_uint;
pub const starpu_perf_knob_type_undefined: starpu_perf_knob_type = 0;
pub const starpu_perf_knob_type_int32: starpu_perf_knob_type = 1;
pub const starpu_perf_knob_type_int64: starpu_perf_knob_type = 2;
pub const starpu_perf_knob_type_float: starpu_perf_knob_type = 3;
pub const starpu_perf_knob_type_double: starpu_perf_knob_type = 4;
pub type starpu_perf_knob_type = c_uint;
#[repr(C)]
pub struct starpu_profiling_task_info {
    pub submit_time: timespec,
    pub push_start_time: timespec,
    pub push_end_time: timespec,
    pub pop_start_time: timespec,
    pub pop_end_time: timespec,
    pub acquire_data_start_time: timespec,
    pub acquire_data_end_time: timespec,
    pub start_time: timespec,
    pub end_time: timespec,
    pub release_data_start_time: timespec,
    pub release_data_end_time: timespec,
    pub callback_start_time: timespec,
    pub callback_end_time: timespec,
    pub workerid: c_int,
    pub used_cycles: u64,
    pub stall_cycles: u64,
    pub energy_consumed: f64,
}
impl Default for starpu_profiling_task_info {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
pub struct starpu_profiling_worker_info {
    pub start_time: timespec,
    pub total_time: timespec,
    pub executing_time: timespec,
    pub callback_time: timespec,
    pub waiting_time: timespec,
    pub sleeping_time: timespec,
    pub scheduling_time: timespec,
    pub all_executing_time: timespec,
    pub all_callback_time: timespec,
    pub all_waiting_time: timespec,
    pub all_sleeping_time: timespec,
    pub all_scheduling_time: timespec,
    pub executed_tasks: c_int,
    pub used_cycles: u64,
    pub stall_cycles: u64,
    pub energy_consumed: f64,
    pub flops: f64,
}
impl Default for starpu_profiling_worker_info {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
pub struct starpu_profiling_bus_info {
    pub start_time: timespec,
    pub total_time: timespec,
    pub transferred_bytes: c_longlong,
    pub transfer_count: c_int,
}
impl Default for starpu_profiling_bus_info {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub type starpu_drand48_data = drand48_data;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_sched_policy {
    pub init_sched: Option<unsafe extern "C" fn(arg1: c_uint)>,
    pub deinit_sched: Option<unsafe extern "C" fn(arg1: c_uint)>,
    pub push_task: Option<unsafe extern "C" fn(arg1: *mut starpu_task) -> c_int>,
    pub simulate_push_task: Option<unsafe extern "C" fn(arg1: *mut starpu_task) -> f64>,
    pub push_task_notify: Option<unsafe extern "C" fn(arg1: *mut starpu_task, arg2: c_int, arg3: c_int, arg4: c_uint)>,
    pub pop_task: Option<unsafe extern "C" fn(arg1: c_uint) -> *mut starpu_task>,
    pub submit_hook: Option<unsafe extern "C" fn(arg1: *mut starpu_task)>,
    pub pre_exec_hook: Option<unsafe extern "C" fn(arg1: *mut starpu_task, arg2: c_uint)>,
    pub post_exec_hook: Option<unsafe extern "C" fn(arg1: *mut starpu_task, arg2: c_uint)>,
    pub do_schedule: Option<unsafe extern "C" fn(arg1: c_uint)>,
    pub add_workers: Option<unsafe extern "C" fn(arg1: c_uint, arg2: *mut c_int, arg3: c_uint)>,
    pub remove_workers: Option<unsafe extern "C" fn(arg1: c_uint, arg2: *mut c_int, arg3: c_uint)>,
    pub prefetches: c_int,
    pub policy_name: *const c_char,
    pub policy_description: *const c_char,
    pub worker_type: starpu_worker_collection_type,
}
impl Default for starpu_sched_policy {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub type starpu_notify_ready_soon_func = Option<unsafe extern "C" fn(data: *mut c_void, task: *mut starpu_task, delay: f64)>;
pub type starpu_malloc_hook = Option<unsafe extern "C" fn(dst_node: c_uint, A: *mut *mut c_void, dim: usize, flags: c_int) -> c_int>;
pub type starpu_free_hook = Option<unsafe extern "C" fn(dst_node: c_uint, A: *mut c_void, dim: usize, flags: c_int) -> c_int>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_task_list {
    pub head: *mut starpu_task,
    pub tail: *mut starpu_task,
}
impl Default for starpu_task_list {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_codelet_pack_arg_data {
    pub arg_buffer: *mut c_char,
    pub arg_buffer_size: usize,
    pub arg_buffer_used: usize,
    pub current_offset: usize,
    pub nargs: c_int,
}
impl Default for starpu_codelet_pack_arg_data {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_conf {
    pub magic: c_int,
    pub will_use_mpi: c_int,
    pub sched_policy_name: *const c_char,
    pub sched_policy: *mut starpu_sched_policy,
    pub sched_policy_callback: Option<unsafe extern "C" fn(arg1: c_uint)>,
    pub precedence_over_environment_variables: c_int,
    pub ncpus: c_int,
    pub reserve_ncpus: c_int,
    pub ncuda: c_int,
    pub nhip: c_int,
    pub nopencl: c_int,
    pub nmax_fpga: c_int,
    pub nmpi_ms: c_int,
    pub ntcpip_ms: c_int,
    pub use_explicit_workers_bindid: c_uint,
    pub workers_bindid: [c_uint; 256usize],
    pub use_explicit_workers_cuda_gpuid: c_uint,
    pub workers_cuda_gpuid: [c_uint; 256usize],
    pub use_explicit_workers_hip_gpuid: c_uint,
    pub workers_hip_gpuid: [c_uint; 256usize],
    pub use_explicit_workers_opencl_gpuid: c_uint,
    pub workers_opencl_gpuid: [c_uint; 256usize],
    pub use_explicit_workers_max_fpga_deviceid: c_uint,
    pub workers_max_fpga_deviceid: [c_uint; 256usize],
    pub max_fpga_load: *mut c_void,
    pub use_explicit_workers_mpi_ms_deviceid: c_uint,
    pub workers_mpi_ms_deviceid: [c_uint; 256usize],
    pub bus_calibrate: c_int,
    pub calibrate: c_int,
    pub data_locality_enforce: c_int,
    pub single_combined_worker: c_int,
    pub disable_asynchronous_copy: c_int,
    pub disable_asynchronous_cuda_copy: c_int,
    pub disable_asynchronous_hip_copy: c_int,
    pub disable_asynchronous_opencl_copy: c_int,
    pub disable_asynchronous_mpi_ms_copy: c_int,
    pub disable_asynchronous_tcpip_ms_copy: c_int,
    pub disable_asynchronous_max_fpga_copy: c_int,
    pub enable_map: c_int,
    pub cuda_opengl_interoperability: *mut c_uint,
    pub n_cuda_opengl_interoperability: c_uint,
    pub not_launched_drivers: *mut starpu_driver,
    pub n_not_launched_drivers: c_uint,
    pub trace_buffer_size: u64,
    pub global_sched_ctx_min_priority: c_int,
    pub global_sched_ctx_max_priority: c_int,
    pub callback_worker_going_to_sleep: Option<unsafe extern "C" fn(arg1: c_uint)>,
    pub callback_worker_waking_up: Option<unsafe extern "C" fn(arg1: c_uint)>,
    pub catch_signals: c_int,
    pub start_perf_counter_collection: c_uint,
    pub driver_spinning_backoff_min: c_uint,
    pub driver_spinning_backoff_max: c_uint,
    pub cuda_only_fast_alloc_other_memnodes: c_int,
}
impl Default for starpu_conf {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub const STARPU_HETEROPRIO_NOD_TIME_COMBINATION: starpu_autoheteroprio_priority_ordering_policy = 0;
pub const STARPU_HETEROPRIO_BEST_NODS_SCORE: starpu_autoheteroprio_priority_ordering_policy = 1;
pub const STARPU_HETEROPRIO_BEST_NODS: starpu_autoheteroprio_priority_ordering_policy = 2;
pub const STARPU_HETEROPRIO_URT_PURE: starpu_autoheteroprio_priority_ordering_policy = 3;
pub const STARPU_HETEROPRIO_URT: starpu_autoheteroprio_priority_ordering_policy = 4;
pub const STARPU_HETEROPRIO_URT_2: starpu_autoheteroprio_priority_ordering_policy = 5;
pub const STARPU_HETEROPRIO_URT_DOT_DIFF_PURE: starpu_autoheteroprio_priority_ordering_policy = 6;
pub const STARPU_HETEROPRIO_URT_DOT_DIFF_PURE_2: starpu_autoheteroprio_priority_ordering_policy = 7;
pub const STARPU_HETEROPRIO_URT_DOT_REL_DIFF_PURE: starpu_autoheteroprio_priority_ordering_policy = 8;
pub const STARPU_HETEROPRIO_URT_DOT_REL_DIFF_PURE_2: starpu_autoheteroprio_priority_ordering_policy = 9;
pub const STARPU_HETEROPRIO_URT_DOT_DIFF_2: starpu_autoheteroprio_priority_ordering_policy = 10;
pub const STARPU_HETEROPRIO_URT_DOT_DIFF_3: starpu_autoheteroprio_priority_ordering_policy = 11;
pub const STARPU_HETEROPRIO_URT_DOT_DIFF_4: starpu_autoheteroprio_priority_ordering_policy = 12;
pub const STARPU_HETEROPRIO_URT_DOT_DIFF_5: starpu_autoheteroprio_priority_ordering_policy = 13;
pub const STARPU_HETEROPRIO_URT_DOT_DIFF_6: starpu_autoheteroprio_priority_ordering_policy = 14;
pub const STARPU_HETEROPRIO_URT_DOT_DIFF_7: starpu_autoheteroprio_priority_ordering_policy = 15;
pub const STARPU_HETEROPRIO_URT_DOT_DIFF_8: starpu_autoheteroprio_priority_ordering_policy = 16;
pub const STARPU_HETEROPRIO_URT_DOT_DIFF_9: starpu_autoheteroprio_priority_ordering_policy = 17;
pub const STARPU_HETEROPRIO_URT_DOT_DIFF_10: starpu_autoheteroprio_priority_ordering_policy = 18;
pub const STARPU_HETEROPRIO_URT_DOT_DIFF_11: starpu_autoheteroprio_priority_ordering_policy = 19;
pub const STARPU_HETEROPRIO_URTS_PER_SECONDS: starpu_autoheteroprio_priority_ordering_policy = 20;
pub const STARPU_HETEROPRIO_URTS_PER_SECONDS_2: starpu_autoheteroprio_priority_ordering_policy = 21;
pub const STARPU_HETEROPRIO_URTS_PER_SECONDS_DIFF: starpu_autoheteroprio_priority_ordering_policy = 22;
pub const STARPU_HETEROPRIO_URTS_TIME_RELEASED_DIFF: starpu_autoheteroprio_priority_ordering_policy = 23;
pub const STARPU_HETEROPRIO_URTS_TIME_COMBINATION: starpu_autoheteroprio_priority_ordering_policy = 24;
pub const STARPU_HETEROPRIO_NODS_PER_SECOND: starpu_autoheteroprio_priority_ordering_policy = 25;
pub const STARPU_HETEROPRIO_NODS_TIME_RELEASED: starpu_autoheteroprio_priority_ordering_policy = 26;
pub const STARPU_HETEROPRIO_NODS_TIME_RELEASED_DIFF: starpu_autoheteroprio_priority_ordering_policy = 27;
pub type starpu_autoheteroprio_priority_ordering_policy = c_uint;
pub const starpu_prof_tool_event_none: starpu_prof_tool_event = 0;
pub const starpu_prof_tool_event_init: starpu_prof_tool_event = 1;
pub const starpu_prof_tool_event_terminate: starpu_prof_tool_event = 2;
pub const starpu_prof_tool_event_init_begin: starpu_prof_tool_event = 3;
pub const starpu_prof_tool_event_init_end: starpu_prof_tool_event = 4;
pub const starpu_prof_tool_event_driver_init: starpu_prof_tool_event = 5;
pub const starpu_prof_tool_event_driver_deinit: starpu_prof_tool_event = 6;
pub const starpu_prof_tool_event_driver_init_start: starpu_prof_tool_event = 7;
pub const starpu_prof_tool_event_driver_init_end: starpu_prof_tool_event = 8;
pub const starpu_prof_tool_event_start_cpu_exec: starpu_prof_tool_event = 9;
pub const starpu_prof_tool_event_end_cpu_exec: starpu_prof_tool_event = 10;
pub const starpu_prof_tool_event_start_gpu_exec: starpu_prof_tool_event = 11;
pub const starpu_prof_tool_event_end_gpu_exec: starpu_prof_tool_event = 12;
pub const starpu_prof_tool_event_start_transfer: starpu_prof_tool_event = 13;
pub const starpu_prof_tool_event_end_transfer: starpu_prof_tool_event = 14;
pub const starpu_prof_tool_event_user_start: starpu_prof_tool_event = 15;
pub const starpu_prof_tool_event_user_end: starpu_prof_tool_event = 16;
pub type starpu_prof_tool_event = c_uint;
pub const starpu_prof_tool_driver_cpu: starpu_prof_tool_driver_type = 0;
pub const starpu_prof_tool_driver_gpu: starpu_prof_tool_driver_type = 1;
pub const starpu_prof_tool_driver_hip: starpu_prof_tool_driver_type = 2;
pub const starpu_prof_tool_driver_ocl: starpu_prof_tool_driver_type = 3;
pub type starpu_prof_tool_driver_type = c_uint;
pub const starpu_prof_tool_command_reg: starpu_prof_tool_command = 0;
pub const starpu_prof_tool_command_toggle: starpu_prof_tool_command = 1;
pub const starpu_prof_tool_command_toggle_per_thread: starpu_prof_tool_command = 2;
pub type starpu_prof_tool_command = c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_prof_tool_info {
    pub event_type: starpu_prof_tool_event,
    pub starpu_version: [c_uint; 3usize],
    pub thread_id: c_int,
    pub worker_id: c_int,
    pub device_number: c_int,
    pub driver_type: starpu_prof_tool_driver_type,
    pub memnode: c_uint,
    pub bytes_to_transfer: c_uint,
    pub bytes_transfered: c_uint,
    pub fun_ptr: *mut c_void,
    pub conf: *mut starpu_conf,
}
impl Default for starpu_prof_tool_info {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union starpu_prof_tool_event_info { pub event_type: starpu_prof_tool_event }
impl Default for starpu_prof_tool_event_info {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_prof_tool_api_info {
    pub unused: c_char,
}
pub type starpu_prof_tool_cb_func = Option<unsafe extern "C" fn(arg1: *mut starpu_prof_tool_info, arg2: *mut starpu_prof_tool_event_info, arg3: *mut starpu_prof_tool_api_info)>;
pub type starpu_prof_tool_entry_register_func = Option<unsafe extern "C" fn(arg1: starpu_prof_tool_event, arg2: starpu_prof_tool_cb_func, arg3: starpu_prof_tool_command)>;
pub type starpu_prof_tool_entry_func = Option<unsafe extern "C" fn(reg: starpu_prof_tool_entry_register_func, unreg: starpu_prof_tool_entry_register_func)>;
pub const STARPU_SCHED_COMPONENT_HOMOGENEOUS: starpu_sched_component_properties = 1;
pub const STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE: starpu_sched_component_properties = 2;
pub type starpu_sched_component_properties = c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_sched_component {
    pub tree: *mut starpu_sched_tree,
    pub workers: starpu_bitmap,
    pub workers_in_ctx: starpu_bitmap,
    pub data: *mut c_void,
    pub name: *mut c_char,
    pub nchildren: c_uint,
    pub children: *mut *mut starpu_sched_component,
    pub nparents: c_uint,
    pub parents: *mut *mut starpu_sched_component,
    pub add_child: Option<unsafe extern "C" fn(component: *mut starpu_sched_component, child: *mut starpu_sched_component)>,
    pub remove_child: Option<unsafe extern "C" fn(component: *mut starpu_sched_component, child: *mut starpu_sched_component)>,
    pub add_parent: Option<unsafe extern "C" fn(component: *mut starpu_sched_component, parent: *mut starpu_sched_component)>,
    pub remove_parent: Option<unsafe extern "C" fn(component: *mut starpu_sched_component, parent: *mut starpu_sched_component)>,
    pub push_task: Option<unsafe extern "C" fn(component: *mut starpu_sched_component, task: *mut starpu_task) -> c_int>,
    pub pull_task: Option<unsafe extern "C" fn(from: *mut starpu_sched_component, to: *mut starpu_sched_component) -> *mut starpu_task>,
    pub can_push: Option<unsafe extern "C" fn(from: *mut starpu_sched_component, to: *mut starpu_sched_component) -> c_int>,
    pub can_pull: Option<unsafe extern "C" fn(component: *mut starpu_sched_component) -> c_int>,
    pub do_schedule: Option<unsafe extern "C" fn(component: *mut starpu_sched_component)>,
    pub notify: Option<unsafe extern "C" fn(component: *mut starpu_sched_component, message: c_int, arg: *mut c_void) -> c_int>,
    pub estimated_load: Option<unsafe extern "C" fn(component: *mut starpu_sched_component) -> f64>,
    pub estimated_end: Option<unsafe extern "C" fn(component: *mut starpu_sched_component) -> f64>,
    pub deinit_data: Option<unsafe extern "C" fn(component: *mut starpu_sched_component)>,
    pub notify_change_workers: Option<unsafe extern "C" fn(component: *mut starpu_sched_component)>,
    pub properties: c_int,
    pub obj: hwloc_obj_t,
}
impl Default for starpu_sched_component {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_sched_tree {
    pub root: *mut starpu_sched_component,
    pub workers: starpu_bitmap,
    pub sched_ctx_id: c_uint,
    pub lock: starpu_pthread_mutex_t,
}
impl Default for starpu_sched_tree {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub type starpu_sched_component_create_t = Option<unsafe extern "C" fn(tree: *mut starpu_sched_tree, data: *mut c_void) -> *mut starpu_sched_component>;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_sched_component_fifo_data {
    pub ntasks_threshold: c_uint,
    pub exp_len_threshold: f64,
    pub ready: c_int,
    pub exp: c_int,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_sched_component_prio_data {
    pub ntasks_threshold: c_uint,
    pub exp_len_threshold: f64,
    pub ready: c_int,
    pub exp: c_int,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct starpu_sched_component_mct_data {
    pub alpha: f64,
    pub beta: f64,
    pub _gamma: f64,
    pub idle_power: f64,
    pub nolock: c_int,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_sched_component_heteroprio_data {
    pub mct: *mut starpu_sched_component_mct_data,
    pub batch: c_uint,
}
impl Default for starpu_sched_component_heteroprio_data {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_sched_component_perfmodel_select_data {
    pub calibrator_component: *mut starpu_sched_component,
    pub no_perfmodel_component: *mut starpu_sched_component,
    pub perfmodel_component: *mut starpu_sched_component,
}
impl Default for starpu_sched_component_perfmodel_select_data {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_sched_component_composed_recipe {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_sched_component_specs {
    pub hwloc_machine_composed_sched_component: *mut starpu_sched_component_composed_recipe,
    pub hwloc_component_composed_sched_component: *mut starpu_sched_component_composed_recipe,
    pub hwloc_socket_composed_sched_component: *mut starpu_sched_component_composed_recipe,
    pub hwloc_cache_composed_sched_component: *mut starpu_sched_component_composed_recipe,
    pub worker_composed_sched_component: Option<unsafe extern "C" fn(archtype: starpu_worker_archtype) -> *mut starpu_sched_component_composed_recipe>,
    pub mix_heterogeneous_workers: c_int,
}
impl Default for starpu_sched_component_specs {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_st_fifo_taskq {
    _unused: [u8; 0],
}
pub type starpu_st_fifo_taskq_t = *mut starpu_st_fifo_taskq;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct starpu_st_prio_deque {
    pub list: starpu_task_list,
    pub ntasks: c_uint,
}
impl Default for starpu_st_prio_deque {
    fn default() -> Self { let mut s = ::std::mem::MaybeUninit::<Self>::uninit(); unsafe { ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1); s.assume_init() } }
}
pub type starpu_st_prio_deque_t = *mut starpu_st_prio_deque;
extern "C" {
    pub static mut starpu_worker_list: starpu_worker_collection;
    pub static mut starpu_worker_tree: starpu_worker_collection;
    pub static mut starpu_interface_matrix_ops: starpu_data_interface_ops;
    pub static mut starpu_interface_coo_ops: starpu_data_interface_ops;
    pub static mut starpu_interface_block_ops: starpu_data_interface_ops;
    pub static mut starpu_interface_tensor_ops: starpu_data_interface_ops;
    pub static mut starpu_interface_ndim_ops: starpu_data_interface_ops;
    pub static mut starpu_interface_vector_ops: starpu_data_interface_ops;
    pub static mut starpu_interface_variable_ops: starpu_data_interface_ops;
    pub static mut starpu_interface_void_ops: starpu_data_interface_ops;
    pub static mut starpu_interface_csr_ops: starpu_data_interface_ops;
    pub static mut starpu_interface_bcsr_ops: starpu_data_interface_ops;
    pub static mut starpu_disk_stdio_ops: starpu_disk_ops;
    pub static mut starpu_disk_unistd_ops: starpu_disk_ops;
    pub static mut starpu_disk_unistd_o_direct_ops: starpu_disk_ops;
    pub static mut starpu_disk_hdf5_ops: starpu_disk_ops;
    pub static mut starpu_disk_leveldb_ops: starpu_disk_ops;
    pub static mut starpu_disk_swap_node: c_int;
    pub static mut starpu_codelet_nop: starpu_codelet;
    pub static mut starpu_perfmodel_nop: starpu_perfmodel;
    pub static mut starpu_autoheteroprio_priority_ordering_policy_names: [[c_char; 64usize]; 28usize];
    pub fn starpu_atomic_add(ptr: *mut c_uint, value: c_uint) -> c_uint;
    pub fn starpu_atomic_addl(ptr: *mut c_ulong, value: c_ulong) -> c_ulong;
    pub fn starpu_atomic_add64(ptr: *mut u64, value: u64) -> u64;
    pub fn starpu_atomic_or(ptr: *mut c_uint, value: c_uint) -> c_uint;
    pub fn starpu_atomic_orl(ptr: *mut c_ulong, value: c_ulong) -> c_ulong;
    pub fn starpu_atomic_or64(ptr: *mut u64, value: u64) -> u64;
    pub fn starpu_data_set_name(handle: starpu_data_handle_t, name: *const c_char);
    pub fn starpu_data_set_coordinates_array(handle: starpu_data_handle_t, dimensions: c_uint, dims: *mut c_int);
    pub fn starpu_data_set_coordinates(handle: starpu_data_handle_t, dimensions: c_uint, ...);
    pub fn starpu_data_get_coordinates_array(handle: starpu_data_handle_t, dimensions: c_uint, dims: *mut c_int) -> c_uint;
    pub fn starpu_data_unregister(handle: starpu_data_handle_t);
    pub fn starpu_data_unregister_no_coherency(handle: starpu_data_handle_t);
    pub fn starpu_data_unregister_submit(handle: starpu_data_handle_t);
    pub fn starpu_data_invalidate(handle: starpu_data_handle_t);
    pub fn starpu_data_invalidate_submit(handle: starpu_data_handle_t);
    pub fn starpu_data_deinitialize(handle: starpu_data_handle_t);
    pub fn starpu_data_deinitialize_submit(handle: starpu_data_handle_t);
    pub fn starpu_data_acquire(handle: starpu_data_handle_t, mode: starpu_data_access_mode) -> c_int;
    pub fn starpu_data_acquire_on_node(handle: starpu_data_handle_t, node: c_int, mode: starpu_data_access_mode) -> c_int;
    pub fn starpu_data_acquire_cb(handle: starpu_data_handle_t, mode: starpu_data_access_mode, callback: Option<unsafe extern "C" fn(arg1: *mut c_void)>, arg: *mut c_void) -> c_int;
    pub fn starpu_data_acquire_on_node_cb(handle: starpu_data_handle_t, node: c_int, mode: starpu_data_access_mode, callback: Option<unsafe extern "C" fn(arg1: *mut c_void)>, arg: *mut c_void) -> c_int;
    pub fn starpu_data_acquire_cb_sequential_consistency(handle: starpu_data_handle_t, mode: starpu_data_access_mode, callback: Option<unsafe extern "C" fn(arg1: *mut c_void)>, arg: *mut c_void, sequential_consistency: c_int) -> c_int;
    pub fn starpu_data_acquire_on_node_cb_sequential_consistency(handle: starpu_data_handle_t, node: c_int, mode: starpu_data_access_mode, callback: Option<unsafe extern "C" fn(arg1: *mut c_void)>, arg: *mut c_void, sequential_consistency: c_int) -> c_int;
    pub fn starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(handle: starpu_data_handle_t, node: c_int, mode: starpu_data_access_mode, callback_acquired: Option<unsafe extern "C" fn(arg: *mut c_void, node: *mut c_int, mode: starpu_data_access_mode)>, callback: Option<unsafe extern "C" fn(arg: *mut c_void)>, arg: *mut c_void, sequential_consistency: c_int, quick: c_int, pre_sync_jobid: *mut c_long, post_sync_jobid: *mut c_long, prio: c_int) -> c_int;
    pub fn starpu_data_acquire_try(handle: starpu_data_handle_t, mode: starpu_data_access_mode) -> c_int;
    pub fn starpu_data_acquire_on_node_try(handle: starpu_data_handle_t, node: c_int, mode: starpu_data_access_mode) -> c_int;
    pub fn starpu_data_release(handle: starpu_data_handle_t);
    pub fn starpu_data_release_on_node(handle: starpu_data_handle_t, node: c_int);
    pub fn starpu_data_release_to(handle: starpu_data_handle_t, down_to_mode: starpu_data_access_mode);
    pub fn starpu_data_release_to_on_node(handle: starpu_data_handle_t, down_to_mode: starpu_data_access_mode, node: c_int);
    pub fn starpu_data_fetch_on_node(handle: starpu_data_handle_t, node: c_uint, async_: c_uint) -> c_int;
    pub fn starpu_data_prefetch_on_node(handle: starpu_data_handle_t, node: c_uint, async_: c_uint) -> c_int;
    pub fn starpu_data_prefetch_on_node_prio(handle: starpu_data_handle_t, node: c_uint, async_: c_uint, prio: c_int) -> c_int;
    pub fn starpu_data_idle_prefetch_on_node(handle: starpu_data_handle_t, node: c_uint, async_: c_uint) -> c_int;
    pub fn starpu_data_idle_prefetch_on_node_prio(handle: starpu_data_handle_t, node: c_uint, async_: c_uint, prio: c_int) -> c_int;
    pub fn starpu_data_request_allocation(handle: starpu_data_handle_t, node: c_uint) -> c_int;
    pub fn starpu_data_is_on_node(handle: starpu_data_handle_t, node: c_uint) -> c_uint;
    pub fn starpu_data_wont_use(handle: starpu_data_handle_t);
    pub fn starpu_data_evict_from_node(handle: starpu_data_handle_t, node: c_uint) -> c_int;
    pub fn starpu_memchunk_tidy(memory_node: c_uint);
    pub fn starpu_data_set_wt_mask(handle: starpu_data_handle_t, wt_mask: u32);
    pub fn starpu_data_advise_as_important(handle: starpu_data_handle_t, is_important: c_uint);
    pub fn starpu_data_query_status2(handle: starpu_data_handle_t, memory_node: c_int, is_allocated: *mut c_int, is_valid: *mut c_int, is_loading: *mut c_int, is_requested: *mut c_int);
    pub fn starpu_data_query_status(handle: starpu_data_handle_t, memory_node: c_int, is_allocated: *mut c_int, is_valid: *mut c_int, is_requested: *mut c_int);
    pub fn starpu_data_test_if_allocated_on_node(handle: starpu_data_handle_t, memory_node: c_uint) -> c_uint;
    pub fn starpu_data_test_if_mapped_on_node(handle: starpu_data_handle_t, memory_node: c_uint) -> c_uint;
    pub fn starpu_data_set_sequential_consistency_flag(handle: starpu_data_handle_t, flag: c_uint);
    pub fn starpu_data_get_sequential_consistency_flag(handle: starpu_data_handle_t) -> c_uint;
    pub fn starpu_data_get_default_sequential_consistency_flag() -> c_uint;
    pub fn starpu_data_set_default_sequential_consistency_flag(flag: c_uint);
    pub fn starpu_data_set_ooc_flag(handle: starpu_data_handle_t, flag: c_uint);
    pub fn starpu_data_get_ooc_flag(handle: starpu_data_handle_t) -> c_uint;
    pub fn starpu_data_set_user_data(handle: starpu_data_handle_t, user_data: *mut c_void);
    pub fn starpu_data_get_user_data(handle: starpu_data_handle_t) -> *mut c_void;
    pub fn starpu_data_set_sched_data(handle: starpu_data_handle_t, sched_data: *mut c_void);
    pub fn starpu_data_get_sched_data(handle: starpu_data_handle_t) -> *mut c_void;
    pub fn starpu_data_get_interface_ops(handle: starpu_data_handle_t) -> *mut starpu_data_interface_ops;
    pub fn starpu_data_can_evict(handle: starpu_data_handle_t, node: c_uint, is_prefetch: starpu_is_prefetch) -> c_int;
    pub fn starpu_data_set_reduction_methods(handle: starpu_data_handle_t, redux_cl: *mut starpu_codelet, init_cl: *mut starpu_codelet);
    pub fn starpu_data_set_reduction_methods_with_args(handle: starpu_data_handle_t, redux_cl: *mut starpu_codelet, redux_cl_arg: *mut c_void, init_cl: *mut starpu_codelet, init_cl_arg: *mut c_void);
    pub fn starpu_arbiter_create() -> starpu_arbiter_t;
    pub fn starpu_data_assign_arbiter(handle: starpu_data_handle_t, arbiter: starpu_arbiter_t);
    pub fn starpu_arbiter_destroy(arbiter: starpu_arbiter_t);
    pub fn starpu_pthread_equal(t1: starpu_pthread_t, t2: starpu_pthread_t) -> c_int;
    pub fn starpu_pthread_self() -> starpu_pthread_t;
    pub fn starpu_pthread_create(thread: *mut starpu_pthread_t, attr: *const starpu_pthread_attr_t, start_routine: Option<unsafe extern "C" fn(arg1: *mut c_void) -> *mut c_void>, arg: *mut c_void) -> c_int;
    pub fn starpu_pthread_join(thread: starpu_pthread_t, retval: *mut *mut c_void) -> c_int;
    pub fn starpu_pthread_detach(thread: starpu_pthread_t) -> c_int;
    pub fn starpu_pthread_exit(retval: *mut c_void);
    pub fn starpu_pthread_attr_init(attr: *mut starpu_pthread_attr_t) -> c_int;
    pub fn starpu_pthread_attr_destroy(attr: *mut starpu_pthread_attr_t) -> c_int;
    pub fn starpu_pthread_attr_setdetachstate(attr: *mut starpu_pthread_attr_t, detachstate: c_int) -> c_int;
    pub fn starpu_pthread_attr_setstacksize(attr: *mut starpu_pthread_attr_t, stacksize: usize) -> c_int;
    pub fn starpu_pthread_setname(name: *const c_char) -> c_int;
    pub fn starpu_pthread_mutex_init(mutex: *mut starpu_pthread_mutex_t, mutexattr: *const starpu_pthread_mutexattr_t) -> c_int;
    pub fn starpu_pthread_mutex_destroy(mutex: *mut starpu_pthread_mutex_t) -> c_int;
    pub fn starpu_pthread_mutex_lock(mutex: *mut starpu_pthread_mutex_t) -> c_int;
    pub fn starpu_pthread_mutex_unlock(mutex: *mut starpu_pthread_mutex_t) -> c_int;
    pub fn starpu_pthread_mutex_trylock(mutex: *mut starpu_pthread_mutex_t) -> c_int;
    pub fn starpu_pthread_mutexattr_gettype(attr: *const starpu_pthread_mutexattr_t, type_: *mut c_int) -> c_int;
    pub fn starpu_pthread_mutexattr_settype(attr: *mut starpu_pthread_mutexattr_t, type_: c_int) -> c_int;
    pub fn starpu_pthread_mutexattr_destroy(attr: *mut starpu_pthread_mutexattr_t) -> c_int;
    pub fn starpu_pthread_mutexattr_init(attr: *mut starpu_pthread_mutexattr_t) -> c_int;
    pub fn starpu_pthread_mutex_lock_sched(mutex: *mut starpu_pthread_mutex_t) -> c_int;
    pub fn starpu_pthread_mutex_unlock_sched(mutex: *mut starpu_pthread_mutex_t) -> c_int;
    pub fn starpu_pthread_mutex_trylock_sched(mutex: *mut starpu_pthread_mutex_t) -> c_int;
    pub fn starpu_pthread_mutex_check_sched(mutex: *mut starpu_pthread_mutex_t, file: *mut c_char, line: c_int);
    pub fn starpu_pthread_key_create(key: *mut starpu_pthread_key_t, destr_function: Option<unsafe extern "C" fn(arg1: *mut c_void)>) -> c_int;
    pub fn starpu_pthread_key_delete(key: starpu_pthread_key_t) -> c_int;
    pub fn starpu_pthread_setspecific(key: starpu_pthread_key_t, pointer: *const c_void) -> c_int;
    pub fn starpu_pthread_getspecific(key: starpu_pthread_key_t) -> *mut c_void;
    pub fn starpu_pthread_cond_init(cond: *mut starpu_pthread_cond_t, cond_attr: *mut starpu_pthread_condattr_t) -> c_int;
    pub fn starpu_pthread_cond_signal(cond: *mut starpu_pthread_cond_t) -> c_int;
    pub fn starpu_pthread_cond_broadcast(cond: *mut starpu_pthread_cond_t) -> c_int;
    pub fn starpu_pthread_cond_wait(cond: *mut starpu_pthread_cond_t, mutex: *mut starpu_pthread_mutex_t) -> c_int;
    pub fn starpu_pthread_cond_timedwait(cond: *mut starpu_pthread_cond_t, mutex: *mut starpu_pthread_mutex_t, abstime: *const timespec) -> c_int;
    pub fn starpu_pthread_cond_destroy(cond: *mut starpu_pthread_cond_t) -> c_int;
    pub fn starpu_pthread_rwlock_init(rwlock: *mut starpu_pthread_rwlock_t, attr: *const starpu_pthread_rwlockattr_t) -> c_int;
    pub fn starpu_pthread_rwlock_destroy(rwlock: *mut starpu_pthread_rwlock_t) -> c_int;
    pub fn starpu_pthread_rwlock_rdlock(rwlock: *mut starpu_pthread_rwlock_t) -> c_int;
    pub fn starpu_pthread_rwlock_tryrdlock(rwlock: *mut starpu_pthread_rwlock_t) -> c_int;
    pub fn starpu_pthread_rwlock_wrlock(rwlock: *mut starpu_pthread_rwlock_t) -> c_int;
    pub fn starpu_pthread_rwlock_trywrlock(rwlock: *mut starpu_pthread_rwlock_t) -> c_int;
    pub fn starpu_pthread_rwlock_unlock(rwlock: *mut starpu_pthread_rwlock_t) -> c_int;
    pub fn starpu_pthread_barrier_init(barrier: *mut starpu_pthread_barrier_t, attr: *const starpu_pthread_barrierattr_t, count: c_uint) -> c_int;
    pub fn starpu_pthread_barrier_destroy(barrier: *mut starpu_pthread_barrier_t) -> c_int;
    pub fn starpu_pthread_barrier_wait(barrier: *mut starpu_pthread_barrier_t) -> c_int;
    pub fn starpu_pthread_spin_init(lock: *mut starpu_pthread_spinlock_t, pshared: c_int) -> c_int;
    pub fn starpu_pthread_spin_destroy(lock: *mut starpu_pthread_spinlock_t) -> c_int;
    pub fn starpu_pthread_spin_lock(lock: *mut starpu_pthread_spinlock_t) -> c_int;
    pub fn starpu_pthread_spin_trylock(lock: *mut starpu_pthread_spinlock_t) -> c_int;
    pub fn starpu_pthread_spin_unlock(lock: *mut starpu_pthread_spinlock_t) -> c_int;
    pub fn starpu_pthread_queue_init(q: *mut starpu_pthread_queue_t) -> c_int;
    pub fn starpu_pthread_queue_signal(q: *mut starpu_pthread_queue_t) -> c_int;
    pub fn starpu_pthread_queue_broadcast(q: *mut starpu_pthread_queue_t) -> c_int;
    pub fn starpu_pthread_queue_destroy(q: *mut starpu_pthread_queue_t) -> c_int;
    pub fn starpu_pthread_wait_init(w: *mut starpu_pthread_wait_t) -> c_int;
    pub fn starpu_pthread_queue_register(w: *mut starpu_pthread_wait_t, q: *mut starpu_pthread_queue_t) -> c_int;
    pub fn starpu_pthread_queue_unregister(w: *mut starpu_pthread_wait_t, q: *mut starpu_pthread_queue_t) -> c_int;
    pub fn starpu_pthread_wait_reset(w: *mut starpu_pthread_wait_t) -> c_int;
    pub fn starpu_pthread_wait_wait(w: *mut starpu_pthread_wait_t) -> c_int;
    pub fn starpu_pthread_wait_timedwait(w: *mut starpu_pthread_wait_t, abstime: *const timespec) -> c_int;
    pub fn starpu_pthread_wait_destroy(w: *mut starpu_pthread_wait_t) -> c_int;
    pub fn starpu_sem_destroy(sem: *mut starpu_sem_t) -> c_int;
    pub fn starpu_sem_getvalue(sem: *mut starpu_sem_t, retval: *mut c_int) -> c_int;
    pub fn starpu_sem_init(sem: *mut starpu_sem_t, pshared: c_int, value: c_uint) -> c_int;
    pub fn starpu_sem_post(sem: *mut starpu_sem_t) -> c_int;
    pub fn starpu_sem_trywait(sem: *mut starpu_sem_t) -> c_int;
    pub fn starpu_sem_wait(sem: *mut starpu_sem_t) -> c_int;
    pub fn starpu_tree_prepare_children(arity: c_uint, father: *mut starpu_tree);
    pub fn starpu_tree_insert(tree: *mut starpu_tree, id: c_int, level: c_int, is_pu: c_int, arity: c_int, father: *mut starpu_tree);
    pub fn starpu_tree_get(tree: *mut starpu_tree, id: c_int) -> *mut starpu_tree;
    pub fn starpu_tree_get_neighbour(tree: *mut starpu_tree, node: *mut starpu_tree, visited: *mut c_char, present: *mut c_char) -> *mut starpu_tree;
    pub fn starpu_tree_reset_visited(tree: *mut starpu_tree, visited: *mut c_char);
    pub fn starpu_tree_free(tree: *mut starpu_tree);
    pub fn starpu_worker_set_going_to_sleep_callback(callback: Option<unsafe extern "C" fn(arg1: c_uint)>);
    pub fn starpu_worker_set_waking_up_callback(callback: Option<unsafe extern "C" fn(arg1: c_uint)>);
    pub fn starpu_worker_wait_for_initialisation();
    pub fn starpu_worker_archtype_is_valid(type_: starpu_worker_archtype) -> c_uint;
    pub fn starpu_arch_mask_to_worker_archtype(mask: c_uint) -> starpu_worker_archtype;
    pub fn starpu_worker_get_count() -> c_uint;
    pub fn starpu_cpu_worker_get_count() -> c_uint;
    pub fn starpu_cuda_worker_get_count() -> c_uint;
    pub fn starpu_hip_worker_get_count() -> c_uint;
    pub fn starpu_opencl_worker_get_count() -> c_uint;
    pub fn starpu_mpi_ms_worker_get_count() -> c_uint;
    pub fn starpu_tcpip_ms_worker_get_count() -> c_uint;
    pub fn starpu_worker_get_count_by_type(type_: starpu_worker_archtype) -> c_int;
    pub fn starpu_worker_get_id() -> c_int;
    pub fn _starpu_worker_get_id_check(f: *const c_char, l: c_int) -> c_uint;
    pub fn starpu_worker_get_id_check() -> c_uint;
    pub fn starpu_worker_get_current_task_exp_end(workerid: c_uint, date: *mut timespec);
    pub fn starpu_worker_get_type(id: c_int) -> starpu_worker_archtype;
    pub fn starpu_worker_get_devid(id: c_int) -> c_int;
    pub fn starpu_worker_get_devnum(id: c_int) -> c_int;
    pub fn starpu_worker_get_subworkerid(id: c_int) -> c_int;
    pub fn starpu_worker_get_bindid(workerid: c_int) -> c_int;
    pub fn starpu_worker_get_name(id: c_int, dst: *mut c_char, maxlen: usize);
    pub fn starpu_worker_get_ids_by_type(type_: starpu_worker_archtype, workerids: *mut c_int, maxsize: c_uint) -> c_uint;
    pub fn starpu_worker_get_by_type(type_: starpu_worker_archtype, num: c_int) -> c_int;
    pub fn starpu_worker_get_by_devid(type_: starpu_worker_archtype, devid: c_int) -> c_int;
    pub fn starpu_worker_get_stream_workerids(devid: c_uint, workerids: *mut c_int, type_: starpu_worker_archtype) -> c_int;
    pub fn starpu_worker_get_devids(type_: starpu_worker_archtype, devids: *mut c_int, num: c_int) -> c_int;
    pub fn starpu_worker_type_can_execute_task(worker_type: starpu_worker_archtype, task: *const starpu_task) -> c_uint;
    pub fn starpu_worker_get_type_as_string(type_: starpu_worker_archtype) -> *const c_char;
    pub fn starpu_worker_get_type_from_string(type_: *const c_char) -> starpu_worker_archtype;
    pub fn starpu_worker_get_type_as_env_var(type_: starpu_worker_archtype) -> *const c_char;
    pub fn starpu_worker_display_all(output: *mut FILE);
    pub fn starpu_worker_display_names(output: *mut FILE, type_: starpu_worker_archtype);
    pub fn starpu_worker_display_count(output: *mut FILE, type_: starpu_worker_archtype);
    pub fn starpu_bindid_get_workerids(bindid: c_int, workerids: *mut *mut c_int) -> c_int;
    pub fn starpu_workers_get_tree() -> *mut starpu_tree;
    pub fn starpu_worker_get_hwloc_cpuset(workerid: c_int) -> hwloc_cpuset_t;
    pub fn starpu_worker_get_hwloc_obj(workerid: c_int) -> hwloc_obj_t;
    pub fn starpu_worker_get_memory_node(workerid: c_uint) -> c_uint;
    pub fn starpu_worker_get_local_memory_node() -> c_uint;
    pub fn starpu_memory_nodes_get_count() -> c_uint;
    pub fn starpu_memory_nodes_get_count_by_kind(kind: starpu_node_kind) -> c_uint;
    pub fn starpu_memory_nodes_get_numa_count() -> c_uint;
    pub fn starpu_memory_nodes_numa_id_to_devid(osid: c_int) -> c_int;
    pub fn starpu_memory_nodes_numa_devid_to_id(id: c_uint) -> c_int;
    pub fn starpu_memory_node_get_ids_by_type(kind: starpu_node_kind, memory_nodes_ids: *mut c_uint, maxsize: c_uint) -> c_uint;
    pub fn starpu_memory_node_get_name(node: c_uint, name: *mut c_char, size: usize) -> c_int;
    pub fn starpu_memory_node_get_devid(node: c_uint) -> c_int;
    pub fn starpu_node_get_kind(node: c_uint) -> starpu_node_kind;
    pub fn starpu_memory_node_get_worker_archtype(node_kind: starpu_node_kind) -> starpu_worker_archtype;
    pub fn starpu_worker_get_memory_node_kind(type_: starpu_worker_archtype) -> starpu_node_kind;
    pub fn starpu_worker_relax_on();
    pub fn starpu_worker_relax_off();
    pub fn starpu_worker_get_relax_state() -> c_int;
    pub fn starpu_worker_sched_op_pending() -> c_int;
    pub fn starpu_worker_lock(workerid: c_int);
    pub fn starpu_worker_trylock(workerid: c_int) -> c_int;
    pub fn starpu_worker_unlock(workerid: c_int);
    pub fn starpu_worker_lock_self();
    pub fn starpu_worker_unlock_self();
    pub fn starpu_worker_get_sched_ctx_list(worker: c_int, sched_ctx: *mut *mut c_uint) -> c_uint;
    pub fn starpu_worker_is_blocked_in_parallel(workerid: c_int) -> c_uint;
    pub fn starpu_worker_is_slave_somewhere(workerid: c_int) -> c_uint;
    pub fn starpu_combined_worker_get_count() -> c_uint;
    pub fn starpu_worker_is_combined_worker(id: c_int) -> c_uint;
    pub fn starpu_combined_worker_assign_workerid(nworkers: c_int, workerid_array: *mut c_int) -> c_int;
    pub fn starpu_combined_worker_get_description(workerid: c_int, worker_size: *mut c_int, combined_workerid: *mut *mut c_int) -> c_int;
    pub fn starpu_combined_worker_can_execute_task(workerid: c_uint, task: *mut starpu_task, nimpl: c_uint) -> c_int;
    pub fn starpu_sched_find_all_worker_combinations();
    pub fn starpu_combined_worker_get_id() -> c_int;
    pub fn starpu_combined_worker_get_size() -> c_int;
    pub fn starpu_combined_worker_get_rank() -> c_int;
    pub fn starpu_parallel_task_barrier_init(task: *mut starpu_task, workerid: c_int);
    pub fn starpu_parallel_task_barrier_init_n(task: *mut starpu_task, worker_size: c_int);
    pub fn orrery_version() -> *const c_char;
    pub fn orrery_is_simulated() -> c_int;
    pub fn orrery_machine_name() -> *const c_char;
    pub fn orrery_runs_kernels() -> c_int;
    pub fn orrery_asks_for_lines() -> c_int;
    pub fn orrery_call_on_thread_stack(function: Option<unsafe extern "C" fn(argument: *mut c_void)>, argument: *mut c_void);
    pub fn orrery_thread_takes_part() -> c_int;
    pub fn orrery_knows_kernel(name: *const c_char, symbol: *const c_char) -> c_int;
    pub fn orrery_task_length(task: *mut starpu_task, workerid: c_uint, nimpl: c_uint) -> f64;
    pub fn orrery_takes_times_of(host: *const c_char) -> c_int;
    pub fn orrery_teach_kernel(kernel: *const orrery_kernel) -> c_int;
    pub fn orrery_worker_rates(worker: c_int, ret: *mut orrery_rates) -> c_int;
    pub fn orrery_set_kernel_times(us: Option<unsafe extern "C" fn(task: *mut starpu_task, type_: starpu_worker_archtype, implementation: c_uint) -> f64>);
    pub fn orrery_set_costs_in_times();
    pub fn orrery_task_submit_and_call(task: *mut starpu_task) -> c_int;
    pub fn orrery_task_submit_in_graph(task: *mut starpu_task, again: c_int) -> c_int;
    pub fn orrery_task_submit_on_host(task: *mut starpu_task, ncores: c_uint, memory: usize) -> c_int;
    pub fn orrery_graph_launch();
    pub fn orrery_worker_queue(worker: c_int) -> *mut c_void;
    pub fn orrery_queue_after(later: *mut c_void, later_worker: c_int, earlier: *mut c_void, earlier_worker: c_int) -> c_int;
    pub fn orrery_sem_wait_until(sem: *mut starpu_sem_t, date: f64) -> c_int;
    pub fn orrery_replay(path: *const c_char, settings: *const orrery_replay_settings) -> c_int;
    pub fn orrery_replay_stop();
    pub fn orrery_data_acquire_to_copy(handle: starpu_data_handle_t, node: c_int, mode: starpu_data_access_mode, bytes: usize, callback: Option<unsafe extern "C" fn(argument: *mut c_void)>, argument: *mut c_void) -> c_int;
    pub fn orrery_data_acquire_to_copy_new(handle: starpu_data_handle_t, node: c_int, mode: starpu_data_access_mode, bytes: usize, first_used: usize, callback: Option<unsafe extern "C" fn(argument: *mut c_void)>, argument: *mut c_void) -> c_int;
    pub fn orrery_data_acquire_for_task(task: *mut starpu_task, handle: starpu_data_handle_t, node: c_int, mode: starpu_data_access_mode, bytes: usize, first_used: usize, callback: Option<unsafe extern "C" fn(argument: *mut c_void)>, argument: *mut c_void) -> c_int;
    pub fn orrery_data_untouched(handle: starpu_data_handle_t);
    pub fn orrery_task_await(task: *mut starpu_task) -> c_int;
    pub fn orrery_own_wait_begin(what: *const c_void);
    pub fn orrery_own_wait_end(what: *const c_void);
    pub fn orrery_usleep(microseconds: f64);
    pub fn orrery_drawing_new(look: *const orrery_drawing_look) -> *mut orrery_drawing;
    pub fn orrery_drawing_free(drawing: *mut orrery_drawing);
    pub fn orrery_drawing_begin_section(drawing: *mut orrery_drawing, name: *const c_char);
    pub fn orrery_drawing_end_section(drawing: *mut orrery_drawing);
    pub fn orrery_drawing_watch(drawing: *mut orrery_drawing, task: *mut starpu_task) -> *mut orrery_drawn_end;
    pub fn orrery_drawing_forget(end: *mut orrery_drawn_end);
    pub fn orrery_drawing_add(drawing: *mut orrery_drawing, name: *const c_char, uses: *const orrery_drawn_use, n: c_uint, end: *mut orrery_drawn_end);
    pub fn orrery_drawing_write(drawing: *mut orrery_drawing, path: *const c_char) -> c_int;
    pub fn starpu_bitmap_create() -> *mut starpu_bitmap;
    pub fn starpu_bitmap_init(b: *mut starpu_bitmap);
    pub fn starpu_bitmap_destroy(b: *mut starpu_bitmap);
    pub fn starpu_bitmap_get(b: *mut starpu_bitmap, e: c_int) -> c_int;
    pub fn starpu_bitmap_set(b: *mut starpu_bitmap, e: c_int);
    pub fn starpu_bitmap_unset(b: *mut starpu_bitmap, e: c_int);
    pub fn starpu_bitmap_unset_all(b: *mut starpu_bitmap);
    pub fn starpu_bitmap_unset_and(a: *mut starpu_bitmap, b: *mut starpu_bitmap, c: *mut starpu_bitmap);
    pub fn starpu_bitmap_or(a: *mut starpu_bitmap, b: *mut starpu_bitmap);
    pub fn starpu_bitmap_and_get(b1: *mut starpu_bitmap, b2: *mut starpu_bitmap, e: c_int) -> c_int;
    pub fn starpu_bitmap_cardinal(b: *mut starpu_bitmap) -> c_int;
    pub fn starpu_bitmap_next(b: *mut starpu_bitmap, e: c_int) -> c_int;
    pub fn starpu_bitmap_first(b: *mut starpu_bitmap) -> c_int;
    pub fn starpu_bitmap_has_next(b: *mut starpu_bitmap, e: c_int) -> c_int;
    pub fn starpu_bitmap_last(b: *mut starpu_bitmap) -> c_int;
    pub fn starpu_bound_start(deps: c_int, prio: c_int);
    pub fn starpu_bound_stop();
    pub fn starpu_bound_print_dot(output: *mut FILE);
    pub fn starpu_bound_print_lp(output: *mut FILE);
    pub fn starpu_bound_print_mps(output: *mut FILE);
    pub fn starpu_bound_compute(res: *mut f64, integer_res: *mut f64, integer: c_int);
    pub fn starpu_bound_print(output: *mut FILE, integer: c_int);
    pub fn starpu_cublas_init();
    pub fn starpu_cublas_shutdown();
    pub fn starpu_cublas_set_stream();
    pub fn starpu_cuda_get_local_stream() -> starpu_cudaStream_t;
    pub fn starpu_cuda_set_device(devid: c_uint);
    pub fn starpu_cuda_get_nvmldev(devid: c_uint) -> *mut nvmlDevice_st;
    pub fn starpu_cuda_copy_async_sync(src_ptr: *mut c_void, src_node: c_uint, dst_ptr: *mut c_void, dst_node: c_uint, ssize: usize, stream: starpu_cudaStream_t, kind: starpu_cudaMemcpyKind_t) -> c_int;
    pub fn starpu_cuda_copy2d_async_sync(src_ptr: *mut c_void, src_node: c_uint, dst_ptr: *mut c_void, dst_node: c_uint, blocksize: usize, numblocks: usize, ld_src: usize, ld_dst: usize, stream: starpu_cudaStream_t, kind: starpu_cudaMemcpyKind_t) -> c_int;
    pub fn starpu_cuda_copy3d_async_sync(src_ptr: *mut c_void, src_node: c_uint, dst_ptr: *mut c_void, dst_node: c_uint, blocksize: usize, numblocks_1: usize, ld1_src: usize, ld1_dst: usize, numblocks_2: usize, ld2_src: usize, ld2_dst: usize, stream: starpu_cudaStream_t, kind: starpu_cudaMemcpyKind_t) -> c_int;
    pub fn starpu_cuda_report_error(func: *const c_char, file: *const c_char, line: c_int, status: starpu_cudaError_t);
    pub fn starpu_cublas_report_error(func: *const c_char, file: *const c_char, line: c_int, status: c_int);
    pub fn starpu_cusparse_init();
    pub fn starpu_cusparse_shutdown();
    pub fn starpu_cusparse_get_local_handle() -> *mut cusparseContext;
    pub fn starpu_data_register(handleptr: *mut starpu_data_handle_t, home_node: c_int, data_interface: *mut c_void, ops: *mut starpu_data_interface_ops);
    pub fn starpu_data_ptr_register(handle: starpu_data_handle_t, node: c_uint);
    pub fn starpu_data_register_same(handledst: *mut starpu_data_handle_t, handlesrc: starpu_data_handle_t);
    pub fn starpu_data_handle_to_pointer(handle: starpu_data_handle_t, node: c_uint) -> *mut c_void;
    pub fn starpu_data_get_local_ptr(handle: starpu_data_handle_t) -> *mut c_void;
    pub fn starpu_data_get_interface_on_node(handle: starpu_data_handle_t, memory_node: c_uint) -> *mut c_void;
    pub fn starpu_data_get_interface_id(handle: starpu_data_handle_t) -> starpu_data_interface_id;
    pub fn starpu_data_get_size(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_data_get_alloc_size(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_data_get_max_size(handle: starpu_data_handle_t) -> starpu_ssize_t;
    pub fn starpu_data_get_home_node(handle: starpu_data_handle_t) -> c_int;
    pub fn starpu_data_interface_get_next_id() -> c_int;
    pub fn starpu_data_register_ops(ops: *mut starpu_data_interface_ops);
    pub fn starpu_data_print(handle: starpu_data_handle_t, node: c_uint, stream: *mut FILE);
    pub fn starpu_data_pack_node(handle: starpu_data_handle_t, node: c_uint, ptr: *mut *mut c_void, count: *mut starpu_ssize_t) -> c_int;
    pub fn starpu_data_pack(handle: starpu_data_handle_t, ptr: *mut *mut c_void, count: *mut starpu_ssize_t) -> c_int;
    pub fn starpu_data_peek_node(handle: starpu_data_handle_t, node: c_uint, ptr: *mut c_void, count: usize) -> c_int;
    pub fn starpu_data_peek(handle: starpu_data_handle_t, ptr: *mut c_void, count: usize) -> c_int;
    pub fn starpu_data_unpack_node(handle: starpu_data_handle_t, node: c_uint, ptr: *mut c_void, count: usize) -> c_int;
    pub fn starpu_data_unpack(handle: starpu_data_handle_t, ptr: *mut c_void, count: usize) -> c_int;
    pub fn starpu_interface_copy(src: usize, src_offset: usize, src_node: c_uint, dst: usize, dst_offset: usize, dst_node: c_uint, size: usize, async_data: *mut c_void) -> c_int;
    pub fn starpu_interface_copy2d(src: usize, src_offset: usize, src_node: c_uint, dst: usize, dst_offset: usize, dst_node: c_uint, blocksize: usize, numblocks: usize, ld_src: usize, ld_dst: usize, async_data: *mut c_void) -> c_int;
    pub fn starpu_interface_copy3d(src: usize, src_offset: usize, src_node: c_uint, dst: usize, dst_offset: usize, dst_node: c_uint, blocksize: usize, numblocks1: usize, ld1_src: usize, ld1_dst: usize, numblocks2: usize, ld2_src: usize, ld2_dst: usize, async_data: *mut c_void) -> c_int;
    pub fn starpu_interface_copy4d(src: usize, src_offset: usize, src_node: c_uint, dst: usize, dst_offset: usize, dst_node: c_uint, blocksize: usize, numblocks1: usize, ld1_src: usize, ld1_dst: usize, numblocks2: usize, ld2_src: usize, ld2_dst: usize, numblocks3: usize, ld3_src: usize, ld3_dst: usize, async_data: *mut c_void) -> c_int;
    pub fn starpu_interface_copynd(src: usize, src_offset: usize, src_node: c_uint, dst: usize, dst_offset: usize, dst_node: c_uint, elemsize: usize, ndim: usize, nn: *mut u32, ldn_src: *mut u32, ldn_dst: *mut u32, async_data: *mut c_void) -> c_int;
    pub fn starpu_interface_data_copy(src_node: c_uint, dst_node: c_uint, size: usize);
    pub fn starpu_interface_start_driver_copy_async(src_node: c_uint, dst_node: c_uint, start: *mut f64);
    pub fn starpu_interface_end_driver_copy_async(src_node: c_uint, dst_node: c_uint, start: f64);
    pub fn starpu_interface_map(src: usize, src_offset: usize, src_node: c_uint, dst_node: c_uint, size: usize, ret: *mut c_int) -> usize;
    pub fn starpu_interface_unmap(src: usize, src_offset: usize, src_node: c_uint, dst: usize, dst_node: c_uint, size: usize) -> c_int;
    pub fn starpu_interface_update_map(src: usize, src_offset: usize, src_node: c_uint, dst: usize, dst_offset: usize, dst_node: c_uint, size: usize) -> c_int;
    pub fn starpu_malloc_on_node_flags(dst_node: c_uint, size: usize, flags: c_int) -> usize;
    pub fn starpu_malloc_on_node(dst_node: c_uint, size: usize) -> usize;
    pub fn starpu_free_on_node_flags(dst_node: c_uint, addr: usize, size: usize, flags: c_int);
    pub fn starpu_free_on_node(dst_node: c_uint, addr: usize, size: usize);
    pub fn starpu_malloc_on_node_set_default_flags(node: c_uint, flags: c_int);
    pub fn starpu_matrix_data_register(handle: *mut starpu_data_handle_t, home_node: c_int, ptr: usize, ld: u32, nx: u32, ny: u32, elemsize: usize);
    pub fn starpu_matrix_data_register_allocsize(handle: *mut starpu_data_handle_t, home_node: c_int, ptr: usize, ld: u32, nx: u32, ny: u32, elemsize: usize, allocsize: usize);
    pub fn starpu_matrix_ptr_register(handle: starpu_data_handle_t, node: c_uint, ptr: usize, dev_handle: usize, offset: usize, ld: u32);
    pub fn starpu_matrix_get_nx(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_matrix_get_ny(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_matrix_get_local_ld(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_matrix_get_local_ptr(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_matrix_get_elemsize(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_matrix_get_allocsize(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_coo_data_register(handleptr: *mut starpu_data_handle_t, home_node: c_int, nx: u32, ny: u32, n_values: u32, columns: *mut u32, rows: *mut u32, values: usize, elemsize: usize);
    pub fn starpu_block_data_register(handle: *mut starpu_data_handle_t, home_node: c_int, ptr: usize, ldy: u32, ldz: u32, nx: u32, ny: u32, nz: u32, elemsize: usize);
    pub fn starpu_block_ptr_register(handle: starpu_data_handle_t, node: c_uint, ptr: usize, dev_handle: usize, offset: usize, ldy: u32, ldz: u32);
    pub fn starpu_block_get_nx(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_block_get_ny(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_block_get_nz(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_block_get_local_ldy(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_block_get_local_ldz(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_block_get_local_ptr(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_block_get_elemsize(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_tensor_data_register(handle: *mut starpu_data_handle_t, home_node: c_int, ptr: usize, ldy: u32, ldz: u32, ldt: u32, nx: u32, ny: u32, nz: u32, nt: u32, elemsize: usize);
    pub fn starpu_tensor_ptr_register(handle: starpu_data_handle_t, node: c_uint, ptr: usize, dev_handle: usize, offset: usize, ldy: u32, ldz: u32, ldt: u32);
    pub fn starpu_tensor_get_nx(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_tensor_get_ny(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_tensor_get_nz(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_tensor_get_nt(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_tensor_get_local_ldy(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_tensor_get_local_ldz(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_tensor_get_local_ldt(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_tensor_get_local_ptr(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_tensor_get_elemsize(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_ndim_data_register(handleptr: *mut starpu_data_handle_t, home_node: c_int, ptr: usize, ldn: *mut u32, nn: *mut u32, ndim: usize, elemsize: usize);
    pub fn starpu_ndim_ptr_register(handle: starpu_data_handle_t, node: c_uint, ptr: usize, dev_handle: usize, offset: usize, ldn: *mut u32);
    pub fn starpu_ndim_get_nn(handle: starpu_data_handle_t) -> *mut u32;
    pub fn starpu_ndim_get_ni(handle: starpu_data_handle_t, i: usize) -> u32;
    pub fn starpu_ndim_get_local_ldn(handle: starpu_data_handle_t) -> *mut u32;
    pub fn starpu_ndim_get_local_ldi(handle: starpu_data_handle_t, i: usize) -> u32;
    pub fn starpu_ndim_get_local_ptr(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_ndim_get_ndim(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_ndim_get_elemsize(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_vector_data_register(handle: *mut starpu_data_handle_t, home_node: c_int, ptr: usize, nx: u32, elemsize: usize);
    pub fn starpu_vector_data_register_allocsize(handle: *mut starpu_data_handle_t, home_node: c_int, ptr: usize, nx: u32, elemsize: usize, allocsize: usize);
    pub fn starpu_vector_ptr_register(handle: starpu_data_handle_t, node: c_uint, ptr: usize, dev_handle: usize, offset: usize);
    pub fn starpu_vector_get_nx(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_vector_get_elemsize(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_vector_get_allocsize(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_vector_get_local_ptr(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_variable_data_register(handle: *mut starpu_data_handle_t, home_node: c_int, ptr: usize, size: usize);
    pub fn starpu_variable_ptr_register(handle: starpu_data_handle_t, node: c_uint, ptr: usize, dev_handle: usize, offset: usize);
    pub fn starpu_variable_get_elemsize(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_variable_get_local_ptr(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_void_data_register(handle: *mut starpu_data_handle_t);
    pub fn starpu_csr_data_register(handle: *mut starpu_data_handle_t, home_node: c_int, nnz: u32, nrow: u32, nzval: usize, colind: *mut u32, rowptr: *mut u32, firstentry: u32, elemsize: usize);
    pub fn starpu_csr_get_nnz(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_csr_get_nrow(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_csr_get_firstentry(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_csr_get_local_nzval(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_csr_get_local_colind(handle: starpu_data_handle_t) -> *mut u32;
    pub fn starpu_csr_get_local_rowptr(handle: starpu_data_handle_t) -> *mut u32;
    pub fn starpu_csr_get_elemsize(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_bcsr_data_register(handle: *mut starpu_data_handle_t, home_node: c_int, nnz: u32, nrow: u32, nzval: usize, colind: *mut u32, rowptr: *mut u32, firstentry: u32, r: u32, c: u32, elemsize: usize);
    pub fn starpu_bcsr_get_nnz(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_bcsr_get_nrow(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_bcsr_get_firstentry(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_bcsr_get_local_nzval(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_bcsr_get_local_colind(handle: starpu_data_handle_t) -> *mut u32;
    pub fn starpu_bcsr_get_local_rowptr(handle: starpu_data_handle_t) -> *mut u32;
    pub fn starpu_bcsr_get_elemsize(handle: starpu_data_handle_t) -> usize;
    pub fn starpu_bcsr_get_r(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_bcsr_get_c(handle: starpu_data_handle_t) -> u32;
    pub fn starpu_multiformat_data_register(handle: *mut starpu_data_handle_t, home_node: c_int, ptr: *mut c_void, nobjects: u32, format_ops: *mut starpu_multiformat_data_interface_ops);
    pub fn starpu_data_partition(initial_handle: starpu_data_handle_t, f: *mut starpu_data_filter);
    pub fn starpu_data_unpartition(root_data: starpu_data_handle_t, gathering_node: c_uint);
    pub fn starpu_data_get_child(handle: starpu_data_handle_t, i: c_uint) -> starpu_data_handle_t;
    pub fn starpu_data_get_nb_children(handle: starpu_data_handle_t) -> c_int;
    pub fn starpu_data_get_sub_data(root_data: starpu_data_handle_t, depth: c_uint, ...) -> starpu_data_handle_t;
    pub fn starpu_data_map_filters(root_data: starpu_data_handle_t, nfilters: c_uint, ...);
    pub fn starpu_data_map_filters_parray(root_handle: starpu_data_handle_t, nfilters: c_int, filters: *mut *mut starpu_data_filter);
    pub fn starpu_data_map_filters_array(root_handle: starpu_data_handle_t, nfilters: c_int, filters: *mut starpu_data_filter);
    pub fn starpu_data_partition_plan(initial_handle: starpu_data_handle_t, f: *mut starpu_data_filter, children: *mut starpu_data_handle_t);
    pub fn starpu_data_partition_clean(root_data: starpu_data_handle_t, nparts: c_uint, children: *mut starpu_data_handle_t);
    pub fn starpu_data_partition_clean_node(root_data: starpu_data_handle_t, nparts: c_uint, children: *mut starpu_data_handle_t, gather_node: c_int);
    pub fn starpu_data_partition_submit(initial_handle: starpu_data_handle_t, nparts: c_uint, children: *mut starpu_data_handle_t);
    pub fn starpu_data_partition_readonly_submit(initial_handle: starpu_data_handle_t, nparts: c_uint, children: *mut starpu_data_handle_t);
    pub fn starpu_data_partition_readwrite_upgrade_submit(initial_handle: starpu_data_handle_t, nparts: c_uint, children: *mut starpu_data_handle_t);
    pub fn starpu_data_partition_readonly_downgrade_submit(initial_handle: starpu_data_handle_t, nparts: c_uint, children: *mut starpu_data_handle_t);
    pub fn starpu_data_unpartition_submit(initial_handle: starpu_data_handle_t, nparts: c_uint, children: *mut starpu_data_handle_t, gathering_node: c_int);
    pub fn starpu_data_unpartition_readonly_submit(initial_handle: starpu_data_handle_t, nparts: c_uint, children: *mut starpu_data_handle_t, gathering_node: c_int);
    pub fn starpu_data_partition_submit_sequential_consistency(initial_handle: starpu_data_handle_t, nparts: c_uint, children: *mut starpu_data_handle_t, sequential_consistency: c_int);
    pub fn starpu_data_partition_readonly_submit_sequential_consistency(initial_handle: starpu_data_handle_t, nparts: c_uint, children: *mut starpu_data_handle_t, sequential_consistency: c_int);
    pub fn starpu_data_unpartition_submit_sequential_consistency(initial_handle: starpu_data_handle_t, nparts: c_uint, children: *mut starpu_data_handle_t, gathering_node: c_int, sequential_consistency: c_int);
    pub fn starpu_data_unpartition_submit_sequential_consistency_cb(initial_handle: starpu_data_handle_t, nparts: c_uint, children: *mut starpu_data_handle_t, gather_node: c_int, sequential_consistency: c_int, callback_func: Option<unsafe extern "C" fn(arg1: *mut c_void)>, callback_arg: *mut c_void);
    pub fn starpu_filter_nparts_compute_chunk_size_and_offset(n: c_uint, nparts: c_uint, elemsize: usize, id: c_uint, blocksize: c_uint, chunk_size: *mut c_uint, offset: *mut usize);
    pub fn starpu_matrix_filter_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_matrix_filter_block_shadow(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_matrix_filter_vertical_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_matrix_filter_vertical_block_shadow(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_matrix_filter_pick_vector_y(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_matrix_filter_pick_vector_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_matrix_filter_pick_variable(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_matrix_filter_pick_variable_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_vector_filter_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_vector_filter_block_shadow(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_vector_filter_list_long(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_vector_filter_list(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_vector_filter_divide_in_2(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_vector_filter_pick_variable(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_vector_filter_pick_variable_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_block_filter_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_block_filter_block_shadow(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_block_filter_vertical_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_block_filter_vertical_block_shadow(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_block_filter_depth_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_block_filter_depth_block_shadow(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_block_filter_pick_matrix_z(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_block_filter_pick_matrix_y(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_block_filter_pick_matrix_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_block_filter_pick_variable(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_block_filter_pick_variable_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_tensor_filter_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_tensor_filter_block_shadow(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_tensor_filter_vertical_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_tensor_filter_vertical_block_shadow(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_tensor_filter_depth_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_tensor_filter_depth_block_shadow(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_tensor_filter_time_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_tensor_filter_time_block_shadow(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_tensor_filter_pick_block_t(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_tensor_filter_pick_block_z(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_tensor_filter_pick_block_y(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_tensor_filter_pick_block_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_tensor_filter_pick_variable(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_tensor_filter_pick_variable_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_ndim_filter_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_block_shadow(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_to_tensor(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_to_tensor_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_ndim_filter_to_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_to_block_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_ndim_filter_to_matrix(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_to_matrix_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_ndim_filter_to_vector(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_to_vector_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_ndim_filter_to_variable(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_to_variable_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_ndim_filter_pick_ndim(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_5d_pick_tensor(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_4d_pick_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_3d_pick_matrix(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_2d_pick_vector(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_1d_pick_variable(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_pick_variable(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_ndim_filter_pick_tensor_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_ndim_filter_pick_block_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_ndim_filter_pick_matrix_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_ndim_filter_pick_vector_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_ndim_filter_pick_variable_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_csr_filter_vertical_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_bcsr_filter_vertical_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_bcsr_filter_canonical_block(father_interface: *mut c_void, child_interface: *mut c_void, f: *mut starpu_data_filter, id: c_uint, nparts: c_uint);
    pub fn starpu_bcsr_filter_canonical_block_get_nchildren(f: *mut starpu_data_filter, handle: starpu_data_handle_t) -> c_uint;
    pub fn starpu_bcsr_filter_canonical_block_child_ops(f: *mut starpu_data_filter, child: c_uint) -> *mut starpu_data_interface_ops;
    pub fn starpu_disk_register(func: *mut starpu_disk_ops, parameter: *mut c_void, size: starpu_ssize_t) -> c_int;
    pub fn starpu_disk_open(node: c_uint, pos: *mut c_void, size: usize) -> *mut c_void;
    pub fn starpu_disk_close(node: c_uint, obj: *mut c_void, size: usize);
    pub fn starpu_driver_run(d: *mut starpu_driver) -> c_int;
    pub fn starpu_driver_init(d: *mut starpu_driver) -> c_int;
    pub fn starpu_driver_run_once(d: *mut starpu_driver) -> c_int;
    pub fn starpu_driver_deinit(d: *mut starpu_driver) -> c_int;
    pub fn starpu_drivers_preinit();
    pub fn starpu_drivers_request_termination();
    pub fn starpu_wake_all_blocked_workers();
    pub fn starpu_progression_hook_register(func: Option<unsafe extern "C" fn(arg: *mut c_void) -> c_uint>, arg: *mut c_void) -> c_int;
    pub fn starpu_progression_hook_deregister(hook_id: c_int);
    pub fn starpu_idle_hook_register(func: Option<unsafe extern "C" fn(arg: *mut c_void) -> c_uint>, arg: *mut c_void) -> c_int;
    pub fn starpu_idle_hook_deregister(hook_id: c_int);
    pub fn starpu_task_bundle_create(bundle: *mut starpu_task_bundle_t);
    pub fn starpu_task_bundle_insert(bundle: starpu_task_bundle_t, task: *mut starpu_task) -> c_int;
    pub fn starpu_task_bundle_remove(bundle: starpu_task_bundle_t, task: *mut starpu_task) -> c_int;
    pub fn starpu_task_bundle_close(bundle: starpu_task_bundle_t);
    pub fn starpu_task_bundle_expected_length(bundle: starpu_task_bundle_t, arch: *mut starpu_perfmodel_arch, nimpl: c_uint) -> f64;
    pub fn starpu_task_bundle_expected_energy(bundle: starpu_task_bundle_t, arch: *mut starpu_perfmodel_arch, nimpl: c_uint) -> f64;
    pub fn starpu_task_bundle_expected_data_transfer_time(bundle: starpu_task_bundle_t, memory_node: c_uint) -> f64;
    pub fn starpu_task_declare_deps_array(task: *mut starpu_task, ndeps: c_uint, task_array: *mut *mut starpu_task);
    pub fn starpu_task_declare_deps(task: *mut starpu_task, ndeps: c_uint, ...);
    pub fn starpu_task_declare_end_deps_array(task: *mut starpu_task, ndeps: c_uint, task_array: *mut *mut starpu_task);
    pub fn starpu_task_declare_end_deps(task: *mut starpu_task, ndeps: c_uint, ...);
    pub fn starpu_task_get_task_succs(task: *mut starpu_task, ndeps: c_uint, task_array: *mut *mut starpu_task) -> c_int;
    pub fn starpu_task_get_task_scheduled_succs(task: *mut starpu_task, ndeps: c_uint, task_array: *mut *mut starpu_task) -> c_int;
    pub fn starpu_task_end_dep_add(t: *mut starpu_task, nb_deps: c_int);
    pub fn starpu_task_end_dep_release(t: *mut starpu_task);
    pub fn starpu_tag_declare_deps(id: starpu_tag_t, ndeps: c_uint, ...);
    pub fn starpu_tag_declare_deps_array(id: starpu_tag_t, ndeps: c_uint, array: *mut starpu_tag_t);
    pub fn starpu_tag_wait(id: starpu_tag_t) -> c_int;
    pub fn starpu_tag_wait_array(ntags: c_uint, id: *mut starpu_tag_t) -> c_int;
    pub fn starpu_tag_restart(id: starpu_tag_t);
    pub fn starpu_tag_remove(id: starpu_tag_t);
    pub fn starpu_tag_clear();
    pub fn starpu_tag_notify_from_apps(id: starpu_tag_t);
    pub fn starpu_tag_notify_restart_from_apps(id: starpu_tag_t);
    pub fn starpu_tag_get_task(id: starpu_tag_t) -> *mut starpu_task;
    pub fn starpu_task_init(task: *mut starpu_task);
    pub fn starpu_task_clean(task: *mut starpu_task);
    pub fn starpu_task_create() -> *mut starpu_task;
    pub fn starpu_task_create_sync(handle: starpu_data_handle_t, mode: starpu_data_access_mode) -> *mut starpu_task;
    pub fn starpu_task_destroy(task: *mut starpu_task);
    pub fn starpu_task_dup(task: *mut starpu_task) -> *mut starpu_task;
    pub fn starpu_task_set_destroy(task: *mut starpu_task);
    pub fn starpu_task_submit(task: *mut starpu_task) -> c_int;
    pub fn starpu_task_submit_nodeps(task: *mut starpu_task) -> c_int;
    pub fn starpu_task_submit_to_ctx(task: *mut starpu_task, sched_ctx_id: c_uint) -> c_int;
    pub fn starpu_task_submit_line(task: *mut starpu_task, file: *const c_char, line: c_int) -> c_int;
    pub fn starpu_task_wait(task: *mut starpu_task) -> c_int;
    pub fn starpu_task_wait_array(tasks: *mut *mut starpu_task, nb_tasks: c_uint) -> c_int;
    pub fn starpu_task_wait_for_all() -> c_int;
    pub fn starpu_task_wait_for_n_submitted(n: c_uint) -> c_int;
    pub fn starpu_task_wait_for_all_in_ctx(sched_ctx_id: c_uint) -> c_int;
    pub fn starpu_task_wait_for_n_submitted_in_ctx(sched_ctx_id: c_uint, n: c_uint) -> c_int;
    pub fn starpu_task_wait_for_no_ready() -> c_int;
    pub fn starpu_task_finished(task: *mut starpu_task) -> c_int;
    pub fn starpu_set_limit_min_submitted_tasks(limit_min: c_int);
    pub fn starpu_set_limit_max_submitted_tasks(limit_max: c_int);
    pub fn starpu_do_schedule();
    pub fn starpu_task_nready() -> c_int;
    pub fn starpu_task_nsubmitted() -> c_int;
    pub fn starpu_iteration_push(iteration: c_ulong);
    pub fn starpu_iteration_pop();
    pub fn starpu_codelet_init(cl: *mut starpu_codelet);
    pub fn starpu_codelet_display_stats(cl: *mut starpu_codelet);
    pub fn starpu_task_watchdog_set_hook(hook: Option<unsafe extern "C" fn(arg1: *mut c_void)>, hook_arg: *mut c_void);
    pub fn starpu_task_get_current() -> *mut starpu_task;
    pub fn starpu_task_get_current_data_node(i: c_uint) -> c_int;
    pub fn starpu_task_get_model_name(task: *mut starpu_task) -> *const c_char;
    pub fn starpu_task_get_name(task: *mut starpu_task) -> *const c_char;
    pub fn starpu_task_status_get_as_string(status: starpu_task_status) -> *mut c_char;
    pub fn starpu_task_set_implementation(task: *mut starpu_task, impl_: c_uint);
    pub fn starpu_task_get_implementation(task: *mut starpu_task) -> c_uint;
    pub fn starpu_create_sync_task(sync_tag: starpu_tag_t, ndeps: c_uint, deps: *mut starpu_tag_t, callback: Option<unsafe extern "C" fn(arg1: *mut c_void)>, callback_arg: *mut c_void);
    pub fn starpu_task_ft_prologue(check_ft: *mut c_void);
    pub fn starpu_task_ft_create_retry(meta_task: *const starpu_task, template_task: *const starpu_task, check_ft: Option<unsafe extern "C" fn(arg1: *mut c_void)>) -> *mut starpu_task;
    pub fn starpu_task_ft_failed(task: *mut starpu_task);
    pub fn starpu_task_ft_success(meta_task: *mut starpu_task);
    pub fn starpu_transaction_open(do_start_func: Option<unsafe extern "C" fn(buffer: *mut c_void, arg: *mut c_void) -> c_int>, do_start_arg: *mut c_void) -> *mut starpu_transaction;
    pub fn starpu_transaction_next_epoch(p_trs: *mut starpu_transaction, do_start_arg: *mut c_void);
    pub fn starpu_transaction_close(p_trs: *mut starpu_transaction);
    pub fn starpu_create_callback_task(callback: Option<unsafe extern "C" fn(arg1: *mut c_void)>, callback_arg: *mut c_void);
    pub fn starpu_perfmodel_initialize();
    pub fn starpu_perfmodel_init(model: *mut starpu_perfmodel);
    pub fn starpu_perfmodel_deinit(model: *mut starpu_perfmodel) -> c_int;
    pub fn starpu_perfmodel_load_file(filename: *const c_char, model: *mut starpu_perfmodel) -> c_int;
    pub fn starpu_perfmodel_load_symbol(symbol: *const c_char, model: *mut starpu_perfmodel) -> c_int;
    pub fn starpu_perfmodel_unload_model(model: *mut starpu_perfmodel) -> c_int;
    pub fn starpu_save_history_based_model(model: *mut starpu_perfmodel);
    pub fn starpu_perfmodel_get_model_path(symbol: *const c_char, path: *mut c_char, maxlen: usize);
    pub fn starpu_perfmodel_debugfilepath(model: *mut starpu_perfmodel, arch: *mut starpu_perfmodel_arch, path: *mut c_char, maxlen: usize, nimpl: c_uint);
    pub fn starpu_perfmodel_free_sampling();
    pub fn starpu_worker_get_perf_archtype(workerid: c_int, sched_ctx_id: c_uint) -> *mut starpu_perfmodel_arch;
    pub fn starpu_perfmodel_get_narch_combs() -> c_int;
    pub fn starpu_perfmodel_arch_comb_add(ndevices: c_int, devices: *mut starpu_perfmodel_device) -> c_int;
    pub fn starpu_perfmodel_arch_comb_get(ndevices: c_int, devices: *mut starpu_perfmodel_device) -> c_int;
    pub fn starpu_perfmodel_arch_comb_fetch(comb: c_int) -> *mut starpu_perfmodel_arch;
    pub fn starpu_perfmodel_get_archtype_name(archtype: starpu_worker_archtype) -> *const c_char;
    pub fn starpu_perfmodel_get_arch_name(arch: *mut starpu_perfmodel_arch, archname: *mut c_char, maxlen: usize, nimpl: c_uint);
    pub fn starpu_perfmodel_get_model_per_arch(model: *mut starpu_perfmodel, arch: *mut starpu_perfmodel_arch, impl_: c_uint) -> *mut starpu_perfmodel_per_arch;
    pub fn starpu_perfmodel_get_model_per_devices(model: *mut starpu_perfmodel, impl_: c_int, ...) -> *mut starpu_perfmodel_per_arch;
    pub fn starpu_perfmodel_set_per_devices_cost_function(model: *mut starpu_perfmodel, impl_: c_int, func: starpu_perfmodel_per_arch_cost_function, ...) -> c_int;
    pub fn starpu_perfmodel_set_per_devices_size_base(model: *mut starpu_perfmodel, impl_: c_int, func: starpu_perfmodel_per_arch_size_base, ...) -> c_int;
    pub fn starpu_perfmodel_history_based_expected_perf(model: *mut starpu_perfmodel, arch: *mut starpu_perfmodel_arch, footprint: u32) -> f64;
    pub fn starpu_perfmodel_update_history(model: *mut starpu_perfmodel, task: *mut starpu_task, arch: *mut starpu_perfmodel_arch, cpuid: c_uint, nimpl: c_uint, measured: f64);
    pub fn starpu_perfmodel_update_history_n(model: *mut starpu_perfmodel, task: *mut starpu_task, arch: *mut starpu_perfmodel_arch, cpuid: c_uint, nimpl: c_uint, average_measured: f64, number: c_uint);
    pub fn starpu_energy_start(workerid: c_int, archi: starpu_worker_archtype) -> c_int;
    pub fn starpu_energy_stop(model: *mut starpu_perfmodel, task: *mut starpu_task, nimpl: c_uint, ntasks: c_uint, workerid: c_int, archi: starpu_worker_archtype) -> c_int;
    pub fn starpu_perfmodel_list(output: *mut FILE) -> c_int;
    pub fn starpu_perfmodel_print(model: *mut starpu_perfmodel, arch: *mut starpu_perfmodel_arch, nimpl: c_uint, parameter: *mut c_char, footprint: *mut u32, output: *mut FILE);
    pub fn starpu_perfmodel_print_all(model: *mut starpu_perfmodel, arch: *mut c_char, parameter: *mut c_char, footprint: *mut u32, output: *mut FILE) -> c_int;
    pub fn starpu_perfmodel_dump_xml(output: *mut FILE, model: *mut starpu_perfmodel);
    pub fn starpu_perfmodel_print_estimations(model: *mut starpu_perfmodel, footprint: u32, output: *mut FILE) -> c_int;
    pub fn starpu_perfmodel_list_combs(output: *mut FILE, model: *mut starpu_perfmodel) -> c_int;
    pub fn starpu_perfmodel_directory(output: *mut FILE);
    pub fn starpu_bus_print_bandwidth(f: *mut FILE);
    pub fn starpu_bus_print_affinity(f: *mut FILE);
    pub fn starpu_bus_print_filenames(f: *mut FILE);
    pub fn starpu_transfer_bandwidth(src_node: c_uint, dst_node: c_uint) -> f64;
    pub fn starpu_transfer_latency(src_node: c_uint, dst_node: c_uint) -> f64;
    pub fn starpu_transfer_predict(src_node: c_uint, dst_node: c_uint, size: usize) -> f64;
    pub fn starpu_fxt_is_enabled() -> c_int;
    pub fn starpu_fxt_autostart_profiling(autostart: c_int);
    pub fn starpu_fxt_start_profiling();
    pub fn starpu_fxt_stop_profiling();
    pub fn starpu_fxt_trace_user_event(code: c_ulong);
    pub fn starpu_fxt_trace_user_event_string(s: *const c_char);
    pub fn starpu_fxt_trace_user_meta_string(s: *const c_char);
    pub fn starpu_hash_crc32c_be_n(input: *const c_void, n: usize, inputcrc: u32) -> u32;
    pub fn starpu_hash_crc32c_be_ptr(input: *mut c_void, inputcrc: u32) -> u32;
    pub fn starpu_hash_crc32c_be(input: u32, inputcrc: u32) -> u32;
    pub fn starpu_hash_crc32c_string(str_: *const c_char, inputcrc: u32) -> u32;
    pub fn starpu_getenv(str_: *const c_char) -> *mut c_char;
    pub fn starpu_get_env_string_var_default(str_: *const c_char, strings: *mut *const c_char, defvalue: c_int) -> c_int;
    pub fn starpu_get_env_size_default(str_: *const c_char, defval: c_int) -> c_int;
    pub fn starpu_get_env_number_default(str_: *const c_char, defval: c_int) -> c_int;
    pub fn starpu_get_env_number(str_: *const c_char) -> c_int;
    pub fn starpu_get_env_float_default(str_: *const c_char, defval: f32) -> f32;
    pub fn starpu_timing_now() -> f64;
    pub fn starpu_execute_on_each_worker(func: Option<unsafe extern "C" fn(arg1: *mut c_void)>, arg: *mut c_void, where_: u32);
    pub fn starpu_execute_on_each_worker_ex(func: Option<unsafe extern "C" fn(arg1: *mut c_void)>, arg: *mut c_void, where_: u32, name: *const c_char);
    pub fn starpu_execute_on_specific_workers(func: Option<unsafe extern "C" fn(arg1: *mut c_void)>, arg: *mut c_void, num_workers: c_uint, workers: *mut c_uint, name: *const c_char);
    pub fn starpu_data_cpy(dst_handle: starpu_data_handle_t, src_handle: starpu_data_handle_t, asynchronous: c_int, callback_func: Option<unsafe extern "C" fn(arg1: *mut c_void)>, callback_arg: *mut c_void) -> c_int;
    pub fn starpu_data_cpy_priority(dst_handle: starpu_data_handle_t, src_handle: starpu_data_handle_t, asynchronous: c_int, callback_func: Option<unsafe extern "C" fn(arg1: *mut c_void)>, callback_arg: *mut c_void, priority: c_int) -> c_int;
    pub fn starpu_data_dup_ro(dst_handle: *mut starpu_data_handle_t, src_handle: starpu_data_handle_t, asynchronous: c_int) -> c_int;
    pub fn starpu_get_pu_os_index(logical_index: c_uint) -> c_int;
    pub fn starpu_get_memory_location_bitmap(ptr: *mut c_void, size: usize) -> c_long;
    pub fn starpu_get_hwloc_topology() -> hwloc_topology_t;
    pub fn starpu_display_bindings();
    pub fn starpu_hip_get_local_stream() -> starpu_hipStream_t;
    pub fn starpu_hip_set_device(devid: c_int);
    pub fn starpu_hip_copy_async_sync(src_ptr: *mut c_void, src_node: c_uint, dst_ptr: *mut c_void, dst_node: c_uint, ssize: usize, stream: starpu_hipStream_t, kind: starpu_hipMemcpyKind_t) -> c_int;
    pub fn starpu_hip_copy2d_async_sync(src_ptr: *mut c_void, src_node: c_uint, dst_ptr: *mut c_void, dst_node: c_uint, blocksize: usize, numblocks: usize, ld_src: usize, ld_dst: usize, stream: starpu_hipStream_t, kind: starpu_hipMemcpyKind_t) -> c_int;
    pub fn starpu_hip_copy3d_async_sync(src_ptr: *mut c_void, src_node: c_uint, dst_ptr: *mut c_void, dst_node: c_uint, blocksize: usize, numblocks_1: usize, ld1_src: usize, ld1_dst: usize, numblocks_2: usize, ld2_src: usize, ld2_dst: usize, stream: starpu_hipStream_t, kind: starpu_hipMemcpyKind_t) -> c_int;
    pub fn starpu_hip_report_error(func: *const c_char, file: *const c_char, line: c_int, status: starpu_hipError_t);
    pub fn starpu_hipblas_init();
    pub fn starpu_hipblas_shutdown();
    pub fn starpu_hipblas_get_local_handle() -> starpu_hipblasHandle_t;
    pub fn starpu_hipblas_report_error(func: *const c_char, file: *const c_char, line: c_int, error: starpu_hipError_t);
    pub fn starpu_hipblas_report_status(func: *const c_char, file: *const c_char, line: c_int, status: starpu_hipblasStatus_t);
    pub fn starpu_opencl_get_context(devid: c_int, context: *mut cl_context);
    pub fn starpu_opencl_get_device(devid: c_int, device: *mut cl_device_id);
    pub fn starpu_opencl_get_queue(devid: c_int, queue: *mut cl_command_queue);
    pub fn starpu_opencl_get_current_context(context: *mut cl_context);
    pub fn starpu_opencl_get_current_queue(queue: *mut cl_command_queue);
    pub fn starpu_opencl_load_program_source(source_file_name: *const c_char, located_file_name: *mut c_char, located_dir_name: *mut c_char, opencl_program_source: *mut c_char);
    pub fn starpu_opencl_load_program_source_malloc(source_file_name: *const c_char, located_file_name: *mut *mut c_char, located_dir_name: *mut *mut c_char, opencl_program_source: *mut *mut c_char);
    pub fn starpu_opencl_load_opencl_from_file(source_file_name: *const c_char, opencl_programs: *mut starpu_opencl_program, build_options: *const c_char) -> c_int;
    pub fn starpu_opencl_load_opencl_from_string(opencl_program_source: *const c_char, opencl_programs: *mut starpu_opencl_program, build_options: *const c_char) -> c_int;
    pub fn starpu_opencl_compile_opencl_from_file(source_file_name: *const c_char, build_options: *const c_char) -> c_int;
    pub fn starpu_opencl_compile_opencl_from_string(opencl_program_source: *const c_char, file_name: *const c_char, build_options: *const c_char) -> c_int;
    pub fn starpu_opencl_load_binary_opencl(kernel_id: *const c_char, opencl_programs: *mut starpu_opencl_program) -> c_int;
    pub fn starpu_opencl_unload_opencl(opencl_programs: *mut starpu_opencl_program) -> c_int;
    pub fn starpu_opencl_load_kernel(kernel: *mut cl_kernel, queue: *mut cl_command_queue, opencl_programs: *mut starpu_opencl_program, kernel_name: *const c_char, devid: c_int) -> c_int;
    pub fn starpu_opencl_release_kernel(kernel: cl_kernel) -> c_int;
    pub fn starpu_opencl_set_kernel_args(err: *mut cl_int, kernel: *mut cl_kernel, ...) -> c_int;
    pub fn starpu_opencl_collect_stats(event: cl_event) -> c_int;
    pub fn starpu_opencl_allocate_memory(devid: c_int, addr: *mut cl_mem, size: usize, flags: cl_mem_flags) -> cl_int;
    pub fn starpu_opencl_copy_ram_to_opencl(ptr: *mut c_void, src_node: c_uint, buffer: cl_mem, dst_node: c_uint, size: usize, offset: usize, event: *mut cl_event, ret: *mut c_int) -> cl_int;
    pub fn starpu_opencl_copy_opencl_to_ram(buffer: cl_mem, src_node: c_uint, ptr: *mut c_void, dst_node: c_uint, size: usize, offset: usize, event: *mut cl_event, ret: *mut c_int) -> cl_int;
    pub fn starpu_opencl_copy_opencl_to_opencl(src: cl_mem, src_node: c_uint, src_offset: usize, dst: cl_mem, dst_node: c_uint, dst_offset: usize, size: usize, event: *mut cl_event, ret: *mut c_int) -> cl_int;
    pub fn starpu_opencl_copy_async_sync(src: usize, src_offset: usize, src_node: c_uint, dst: usize, dst_offset: usize, dst_node: c_uint, size: usize, event: *mut cl_event) -> cl_int;
    pub fn starpu_opencl_error_string(status: cl_int) -> *const c_char;
    pub fn starpu_opencl_display_error(func: *const c_char, file: *const c_char, line: c_int, msg: *const c_char, status: cl_int);
    pub fn starpu_opencl_report_error(func: *const c_char, file: *const c_char, line: c_int, msg: *const c_char, status: cl_int);
    pub fn starpu_omp_init() -> c_int;
    pub fn starpu_omp_shutdown();
    pub fn starpu_omp_parallel_region(attr: *const starpu_omp_parallel_region_attr);
    pub fn starpu_omp_master(f: Option<unsafe extern "C" fn(arg: *mut c_void)>, arg: *mut c_void);
    pub fn starpu_omp_master_inline() -> c_int;
    pub fn starpu_omp_barrier();
    pub fn starpu_omp_critical(f: Option<unsafe extern "C" fn(arg: *mut c_void)>, arg: *mut c_void, name: *const c_char);
    pub fn starpu_omp_critical_inline_begin(name: *const c_char);
    pub fn starpu_omp_critical_inline_end(name: *const c_char);
    pub fn starpu_omp_single(f: Option<unsafe extern "C" fn(arg: *mut c_void)>, arg: *mut c_void, nowait: c_int);
    pub fn starpu_omp_single_inline() -> c_int;
    pub fn starpu_omp_single_copyprivate(f: Option<unsafe extern "C" fn(arg: *mut c_void, data: *mut c_void, data_size: c_ulonglong)>, arg: *mut c_void, data: *mut c_void, data_size: c_ulonglong);
    pub fn starpu_omp_single_copyprivate_inline_begin(data: *mut c_void) -> *mut c_void;
    pub fn starpu_omp_single_copyprivate_inline_end();
    pub fn starpu_omp_for(f: Option<unsafe extern "C" fn(_first_i: c_ulonglong, _nb_i: c_ulonglong, arg: *mut c_void)>, arg: *mut c_void, nb_iterations: c_ulonglong, chunk: c_ulonglong, schedule: c_int, ordered: c_int, nowait: c_int);
    pub fn starpu_omp_for_alt(f: Option<unsafe extern "C" fn(_begin_i: c_ulonglong, _end_i: c_ulonglong, arg: *mut c_void)>, arg: *mut c_void, nb_iterations: c_ulonglong, chunk: c_ulonglong, schedule: c_int, ordered: c_int, nowait: c_int);
    pub fn starpu_omp_for_inline_first(nb_iterations: c_ulonglong, chunk: c_ulonglong, schedule: c_int, ordered: c_int, _first_i: *mut c_ulonglong, _nb_i: *mut c_ulonglong) -> c_int;
    pub fn starpu_omp_for_inline_next(nb_iterations: c_ulonglong, chunk: c_ulonglong, schedule: c_int, ordered: c_int, _first_i: *mut c_ulonglong, _nb_i: *mut c_ulonglong) -> c_int;
    pub fn starpu_omp_for_inline_first_alt(nb_iterations: c_ulonglong, chunk: c_ulonglong, schedule: c_int, ordered: c_int, _begin_i: *mut c_ulonglong, _end_i: *mut c_ulonglong) -> c_int;
    pub fn starpu_omp_for_inline_next_alt(nb_iterations: c_ulonglong, chunk: c_ulonglong, schedule: c_int, ordered: c_int, _begin_i: *mut c_ulonglong, _end_i: *mut c_ulonglong) -> c_int;
    pub fn starpu_omp_ordered(f: Option<unsafe extern "C" fn(arg: *mut c_void)>, arg: *mut c_void);
    pub fn starpu_omp_ordered_inline_begin();
    pub fn starpu_omp_ordered_inline_end();
    pub fn starpu_omp_sections(nb_sections: c_ulonglong, section_f: *mut Option<unsafe extern "C" fn(arg: *mut c_void)>, section_arg: *mut *mut c_void, nowait: c_int);
    pub fn starpu_omp_sections_combined(nb_sections: c_ulonglong, section_f: Option<unsafe extern "C" fn(section_num: c_ulonglong, arg: *mut c_void)>, section_arg: *mut c_void, nowait: c_int);
    pub fn starpu_omp_task_region(attr: *const starpu_omp_task_region_attr);
    pub fn starpu_omp_taskwait();
    pub fn starpu_omp_taskgroup(f: Option<unsafe extern "C" fn(arg: *mut c_void)>, arg: *mut c_void);
    pub fn starpu_omp_taskgroup_inline_begin();
    pub fn starpu_omp_taskgroup_inline_end();
    pub fn starpu_omp_taskloop_inline_begin(attr: *mut starpu_omp_task_region_attr);
    pub fn starpu_omp_taskloop_inline_end(attr: *const starpu_omp_task_region_attr);
    pub fn starpu_omp_set_num_threads(threads: c_int);
    pub fn starpu_omp_get_num_threads() -> c_int;
    pub fn starpu_omp_get_thread_num() -> c_int;
    pub fn starpu_omp_get_max_threads() -> c_int;
    pub fn starpu_omp_get_num_procs() -> c_int;
    pub fn starpu_omp_in_parallel() -> c_int;
    pub fn starpu_omp_set_dynamic(dynamic_threads: c_int);
    pub fn starpu_omp_get_dynamic() -> c_int;
    pub fn starpu_omp_set_nested(nested: c_int);
    pub fn starpu_omp_get_nested() -> c_int;
    pub fn starpu_omp_get_cancellation() -> c_int;
    pub fn starpu_omp_set_schedule(kind: starpu_omp_sched_value, modifier: c_int);
    pub fn starpu_omp_get_schedule(kind: *mut starpu_omp_sched_value, modifier: *mut c_int);
    pub fn starpu_omp_get_thread_limit() -> c_int;
    pub fn starpu_omp_set_max_active_levels(max_levels: c_int);
    pub fn starpu_omp_get_max_active_levels() -> c_int;
    pub fn starpu_omp_get_level() -> c_int;
    pub fn starpu_omp_get_ancestor_thread_num(level: c_int) -> c_int;
    pub fn starpu_omp_get_team_size(level: c_int) -> c_int;
    pub fn starpu_omp_get_active_level() -> c_int;
    pub fn starpu_omp_in_final() -> c_int;
    pub fn starpu_omp_get_proc_bind() -> starpu_omp_proc_bind_value;
    pub fn starpu_omp_get_num_places() -> c_int;
    pub fn starpu_omp_get_place_num_procs(place_num: c_int) -> c_int;
    pub fn starpu_omp_get_place_proc_ids(place_num: c_int, ids: *mut c_int);
    pub fn starpu_omp_get_place_num() -> c_int;
    pub fn starpu_omp_get_partition_num_places() -> c_int;
    pub fn starpu_omp_get_partition_place_nums(place_nums: *mut c_int);
    pub fn starpu_omp_set_default_device(device_num: c_int);
    pub fn starpu_omp_get_default_device() -> c_int;
    pub fn starpu_omp_get_num_devices() -> c_int;
    pub fn starpu_omp_get_num_teams() -> c_int;
    pub fn starpu_omp_get_team_num() -> c_int;
    pub fn starpu_omp_is_initial_device() -> c_int;
    pub fn starpu_omp_get_initial_device() -> c_int;
    pub fn starpu_omp_get_max_task_priority() -> c_int;
    pub fn starpu_omp_get_wtime() -> f64;
    pub fn starpu_omp_get_wtick() -> f64;
    pub fn starpu_omp_init_lock(lock: *mut starpu_omp_lock_t);
    pub fn starpu_omp_destroy_lock(lock: *mut starpu_omp_lock_t);
    pub fn starpu_omp_set_lock(lock: *mut starpu_omp_lock_t);
    pub fn starpu_omp_unset_lock(lock: *mut starpu_omp_lock_t);
    pub fn starpu_omp_test_lock(lock: *mut starpu_omp_lock_t) -> c_int;
    pub fn starpu_omp_init_nest_lock(lock: *mut starpu_omp_nest_lock_t);
    pub fn starpu_omp_destroy_nest_lock(lock: *mut starpu_omp_nest_lock_t);
    pub fn starpu_omp_set_nest_lock(lock: *mut starpu_omp_nest_lock_t);
    pub fn starpu_omp_unset_nest_lock(lock: *mut starpu_omp_nest_lock_t);
    pub fn starpu_omp_test_nest_lock(lock: *mut starpu_omp_nest_lock_t) -> c_int;
    pub fn starpu_omp_atomic_fallback_inline_begin();
    pub fn starpu_omp_atomic_fallback_inline_end();
    pub fn starpu_omp_handle_register(handle: starpu_data_handle_t);
    pub fn starpu_omp_handle_unregister(handle: starpu_data_handle_t);
    pub fn starpu_omp_data_lookup(ptr: *const c_void) -> starpu_data_handle_t;
    pub fn starpu_omp_vector_annotate(handle: starpu_data_handle_t, slice_base: u32);
    pub fn starpu_omp_get_default_arbiter() -> *mut starpu_arbiter;
    pub fn starpu_parallel_worker_init(parallel_worker_level: hwloc_obj_type_t, ...) -> *mut starpu_parallel_worker_config;
    pub fn starpu_parallel_worker_shutdown(parallel_workers: *mut starpu_parallel_worker_config) -> c_int;
    pub fn starpu_parallel_worker_print(parallel_workers: *mut starpu_parallel_worker_config) -> c_int;
    pub fn starpu_parallel_worker_openmp_prologue(arg: *mut c_void);
    pub fn starpu_parallel_worker_gnu_openmp_mkl_prologue(arg: *mut c_void);
    pub fn starpu_cluster_machine(cluster_level: hwloc_obj_type_t, ...) -> *mut starpu_cluster_machine;
    pub fn starpu_uncluster_machine(clusters: *mut starpu_cluster_machine) -> c_int;
    pub fn starpu_cluster_print(clusters: *mut starpu_cluster_machine) -> c_int;
    pub fn starpu_perf_counter_collection_start();
    pub fn starpu_perf_counter_collection_stop();
    pub fn starpu_perf_counter_scope_name_to_id(name: *const c_char) -> c_int;
    pub fn starpu_perf_counter_scope_id_to_name(scope: starpu_perf_counter_scope) -> *const c_char;
    pub fn starpu_perf_counter_type_name_to_id(name: *const c_char) -> c_int;
    pub fn starpu_perf_counter_type_id_to_name(type_: starpu_perf_counter_type) -> *const c_char;
    pub fn starpu_perf_counter_nb(scope: starpu_perf_counter_scope) -> c_int;
    pub fn starpu_perf_counter_nth_to_id(scope: starpu_perf_counter_scope, nth: c_int) -> c_int;
    pub fn starpu_perf_counter_name_to_id(scope: starpu_perf_counter_scope, name: *const c_char) -> c_int;
    pub fn starpu_perf_counter_id_to_name(id: c_int) -> *const c_char;
    pub fn starpu_perf_counter_get_type_id(id: c_int) -> c_int;
    pub fn starpu_perf_counter_get_help_string(id: c_int) -> *const c_char;
    pub fn starpu_perf_counter_list_avail(scope: starpu_perf_counter_scope);
    pub fn starpu_perf_counter_list_all_avail();
    pub fn starpu_perf_counter_set_alloc(scope: starpu_perf_counter_scope) -> *mut starpu_perf_counter_set;
    pub fn starpu_perf_counter_set_free(set: *mut starpu_perf_counter_set);
    pub fn starpu_perf_counter_set_enable_id(set: *mut starpu_perf_counter_set, id: c_int);
    pub fn starpu_perf_counter_set_disable_id(set: *mut starpu_perf_counter_set, id: c_int);
    pub fn starpu_perf_counter_listener_init(set: *mut starpu_perf_counter_set, callback: Option<unsafe extern "C" fn(listener: *mut starpu_perf_counter_listener, sample: *mut starpu_perf_counter_sample, context: *mut c_void)>, user_arg: *mut c_void) -> *mut starpu_perf_counter_listener;
    pub fn starpu_perf_counter_listener_exit(listener: *mut starpu_perf_counter_listener);
    pub fn starpu_perf_counter_set_global_listener(listener: *mut starpu_perf_counter_listener);
    pub fn starpu_perf_counter_unset_global_listener();
    pub fn starpu_perf_counter_set_per_worker_listener(workerid: c_uint, listener: *mut starpu_perf_counter_listener);
    pub fn starpu_perf_counter_unset_per_worker_listener(workerid: c_uint);
    pub fn starpu_perf_counter_set_all_per_worker_listeners(listener: *mut starpu_perf_counter_listener);
    pub fn starpu_perf_counter_unset_all_per_worker_listeners();
    pub fn starpu_perf_counter_set_per_codelet_listener(cl: *mut starpu_codelet, listener: *mut starpu_perf_counter_listener);
    pub fn starpu_perf_counter_unset_per_codelet_listener(cl: *mut starpu_codelet);
    pub fn starpu_perf_counter_sample_get_int32_value(sample: *mut starpu_perf_counter_sample, counter_id: c_int) -> i32;
    pub fn starpu_perf_counter_sample_get_int64_value(sample: *mut starpu_perf_counter_sample, counter_id: c_int) -> i64;
    pub fn starpu_perf_counter_sample_get_float_value(sample: *mut starpu_perf_counter_sample, counter_id: c_int) -> f32;
    pub fn starpu_perf_counter_sample_get_double_value(sample: *mut starpu_perf_counter_sample, counter_id: c_int) -> f64;
    pub fn starpu_perf_knob_scope_name_to_id(name: *const c_char) -> c_int;
    pub fn starpu_perf_knob_scope_id_to_name(scope: starpu_perf_knob_scope) -> *const c_char;
    pub fn starpu_perf_knob_type_name_to_id(name: *const c_char) -> c_int;
    pub fn starpu_perf_knob_type_id_to_name(type_: starpu_perf_knob_type) -> *const c_char;
    pub fn starpu_perf_knob_nb(scope: starpu_perf_knob_scope) -> c_int;
    pub fn starpu_perf_knob_nth_to_id(scope: starpu_perf_knob_scope, nth: c_int) -> c_int;
    pub fn starpu_perf_knob_name_to_id(scope: starpu_perf_knob_scope, name: *const c_char) -> c_int;
    pub fn starpu_perf_knob_id_to_name(id: c_int) -> *const c_char;
    pub fn starpu_perf_knob_get_type_id(id: c_int) -> c_int;
    pub fn starpu_perf_knob_get_help_string(id: c_int) -> *const c_char;
    pub fn starpu_perf_knob_list_avail(scope: starpu_perf_knob_scope);
    pub fn starpu_perf_knob_list_all_avail();
    pub fn starpu_perf_knob_get_global_int32_value(knob_id: c_int) -> i32;
    pub fn starpu_perf_knob_get_global_int64_value(knob_id: c_int) -> i64;
    pub fn starpu_perf_knob_get_global_float_value(knob_id: c_int) -> f32;
    pub fn starpu_perf_knob_get_global_double_value(knob_id: c_int) -> f64;
    pub fn starpu_perf_knob_set_global_int32_value(knob_id: c_int, new_value: i32);
    pub fn starpu_perf_knob_set_global_int64_value(knob_id: c_int, new_value: i64);
    pub fn starpu_perf_knob_set_global_float_value(knob_id: c_int, new_value: f32);
    pub fn starpu_perf_knob_set_global_double_value(knob_id: c_int, new_value: f64);
    pub fn starpu_perf_knob_get_per_worker_int32_value(knob_id: c_int, workerid: c_uint) -> i32;
    pub fn starpu_perf_knob_get_per_worker_int64_value(knob_id: c_int, workerid: c_uint) -> i64;
    pub fn starpu_perf_knob_get_per_worker_float_value(knob_id: c_int, workerid: c_uint) -> f32;
    pub fn starpu_perf_knob_get_per_worker_double_value(knob_id: c_int, workerid: c_uint) -> f64;
    pub fn starpu_perf_knob_set_per_worker_int32_value(knob_id: c_int, workerid: c_uint, new_value: i32);
    pub fn starpu_perf_knob_set_per_worker_int64_value(knob_id: c_int, workerid: c_uint, new_value: i64);
    pub fn starpu_perf_knob_set_per_worker_float_value(knob_id: c_int, workerid: c_uint, new_value: f32);
    pub fn starpu_perf_knob_set_per_worker_double_value(knob_id: c_int, workerid: c_uint, new_value: f64);
    pub fn starpu_perf_knob_get_per_scheduler_int32_value(knob_id: c_int, sched_policy_name: *const c_char) -> i32;
    pub fn starpu_perf_knob_get_per_scheduler_int64_value(knob_id: c_int, sched_policy_name: *const c_char) -> i64;
    pub fn starpu_perf_knob_get_per_scheduler_float_value(knob_id: c_int, sched_policy_name: *const c_char) -> f32;
    pub fn starpu_perf_knob_get_per_scheduler_double_value(knob_id: c_int, sched_policy_name: *const c_char) -> f64;
    pub fn starpu_perf_knob_set_per_scheduler_int32_value(knob_id: c_int, sched_policy_name: *const c_char, new_value: i32);
    pub fn starpu_perf_knob_set_per_scheduler_int64_value(knob_id: c_int, sched_policy_name: *const c_char, new_value: i64);
    pub fn starpu_perf_knob_set_per_scheduler_float_value(knob_id: c_int, sched_policy_name: *const c_char, new_value: f32);
    pub fn starpu_perf_knob_set_per_scheduler_double_value(knob_id: c_int, sched_policy_name: *const c_char, new_value: f64);
    pub fn starpu_profiling_status_set(status: c_int) -> c_int;
    pub fn starpu_profiling_status_get() -> c_int;
    pub fn starpu_profiling_init();
    pub fn starpu_profiling_set_id(new_id: c_int);
    pub fn starpu_profiling_worker_get_info(workerid: c_int, worker_info: *mut starpu_profiling_worker_info) -> c_int;
    pub fn starpu_profiling_worker_helper_display_summary();
    pub fn starpu_data_display_memory_stats();
    pub fn starpu_timing_timespec_to_us(ts: *mut timespec) -> f64;
    pub fn starpu_timing_timespec_delay_us(start: *mut timespec, end: *mut timespec) -> f64;
    pub fn starpu_bus_get_count() -> c_int;
    pub fn starpu_bus_get_id(src: c_int, dst: c_int) -> c_int;
    pub fn starpu_bus_get_src(busid: c_int) -> c_int;
    pub fn starpu_bus_get_dst(busid: c_int) -> c_int;
    pub fn starpu_bus_set_direct(busid: c_int, direct: c_int);
    pub fn starpu_bus_get_direct(busid: c_int) -> c_int;
    pub fn starpu_bus_set_ngpus(busid: c_int, ngpus: c_int);
    pub fn starpu_bus_get_ngpus(busid: c_int) -> c_int;
    pub fn starpu_bus_get_profiling_info(busid: c_int, bus_info: *mut starpu_profiling_bus_info) -> c_int;
    pub fn starpu_profiling_bus_helper_display_summary();
    pub fn starpu_timespec_clear(tsp: *mut timespec);
    pub fn starpu_timespec_add(a: *mut timespec, b: *mut timespec, result: *mut timespec);
    pub fn starpu_timespec_accumulate(result: *mut timespec, a: *mut timespec);
    pub fn starpu_timespec_sub(a: *const timespec, b: *const timespec, result: *mut timespec);
    pub fn starpu_sched_ctx_create(workerids_ctx: *mut c_int, nworkers_ctx: c_int, sched_ctx_name: *const c_char, ...) -> c_uint;
    pub fn starpu_sched_ctx_create_inside_interval(policy_name: *const c_char, sched_ctx_name: *const c_char, min_ncpus: c_int, max_ncpus: c_int, min_ngpus: c_int, max_ngpus: c_int, allow_overlap: c_uint) -> c_uint;
    pub fn starpu_sched_ctx_delete(sched_ctx_id: c_uint);
    pub fn starpu_sched_ctx_set_inheritor(sched_ctx_id: c_uint, inheritor: c_uint);
    pub fn starpu_sched_ctx_get_inheritor(sched_ctx_id: c_uint) -> c_uint;
    pub fn starpu_sched_ctx_finished_submit(sched_ctx_id: c_uint);
    pub fn starpu_sched_ctx_register_close_callback(sched_ctx_id: c_uint, close_callback: Option<unsafe extern "C" fn(arg1: c_uint, arg2: *mut c_void)>, args: *mut c_void);
    pub fn starpu_sched_ctx_stop_task_submission();
    pub fn starpu_sched_ctx_add_workers(workerids_ctx: *mut c_int, nworkers_ctx: c_uint, sched_ctx_id: c_uint);
    pub fn starpu_sched_ctx_remove_workers(workerids_ctx: *mut c_int, nworkers_ctx: c_uint, sched_ctx_id: c_uint);
    pub fn starpu_sched_ctx_get_nworkers(sched_ctx_id: c_uint) -> c_uint;
    pub fn starpu_sched_ctx_get_workers_list(sched_ctx_id: c_uint, workerids: *mut *mut c_int) -> c_uint;
    pub fn starpu_sched_ctx_get_workers_list_raw(sched_ctx_id: c_uint, workerids: *mut *mut c_int) -> c_uint;
    pub fn starpu_sched_ctx_get_nshared_workers(sched_ctx_id: c_uint, sched_ctx_id2: c_uint) -> c_uint;
    pub fn starpu_sched_ctx_contains_worker(workerid: c_int, sched_ctx_id: c_uint) -> c_uint;
    pub fn starpu_sched_ctx_contains_type_of_worker(arch: starpu_worker_archtype, sched_ctx_id: c_uint) -> c_uint;
    pub fn starpu_sched_ctx_worker_get_id(sched_ctx_id: c_uint) -> c_uint;
    pub fn starpu_sched_ctx_overlapping_ctxs_on_worker(workerid: c_int) -> c_uint;
    pub fn starpu_sched_ctx_display_workers(sched_ctx_id: c_uint, f: *mut FILE);
    pub fn starpu_sched_ctx_set_priority(workers: *mut c_int, nworkers: c_int, sched_ctx_id: c_uint, priority: c_uint);
    pub fn starpu_sched_ctx_get_priority(worker: c_int, sched_ctx_id: c_uint) -> c_uint;
    pub fn starpu_sched_ctx_create_worker_collection(sched_ctx_id: c_uint, type_: starpu_worker_collection_type) -> *mut starpu_worker_collection;
    pub fn starpu_sched_ctx_delete_worker_collection(sched_ctx_id: c_uint);
    pub fn starpu_sched_ctx_get_worker_collection(sched_ctx_id: c_uint) -> *mut starpu_worker_collection;
    pub fn starpu_sched_ctx_set_context(sched_ctx_id: *mut c_uint);
    pub fn starpu_sched_ctx_get_context() -> c_uint;
    pub fn starpu_sched_ctx_get_ctx_for_task(task: *mut starpu_task) -> c_uint;
    pub fn starpu_sched_ctx_get_nready_tasks(sched_ctx_id: c_uint) -> c_int;
    pub fn starpu_sched_ctx_get_nready_flops(sched_ctx_id: c_uint) -> f64;
    pub fn starpu_sched_ctx_move_task_to_ctx_locked(task: *mut starpu_task, sched_ctx: c_uint, with_repush: c_uint);
    pub fn starpu_sched_ctx_revert_task_counters_ctx_locked(sched_ctx_id: c_uint, flops: f64);
    pub fn starpu_sched_ctx_list_task_counters_increment(sched_ctx_id: c_uint, workerid: c_int);
    pub fn starpu_sched_ctx_list_task_counters_decrement(sched_ctx_id: c_uint, workerid: c_int);
    pub fn starpu_sched_ctx_list_task_counters_reset(sched_ctx_id: c_uint, workerid: c_int);
    pub fn starpu_sched_ctx_list_task_counters_increment_all_ctx_locked(task: *mut starpu_task, sched_ctx_id: c_uint);
    pub fn starpu_sched_ctx_list_task_counters_decrement_all_ctx_locked(task: *mut starpu_task, sched_ctx_id: c_uint);
    pub fn starpu_sched_ctx_list_task_counters_reset_all(task: *mut starpu_task, sched_ctx_id: c_uint);
    pub fn starpu_sched_ctx_get_sched_policy(sched_ctx_id: c_uint) -> *mut starpu_sched_policy;
    pub fn starpu_sched_ctx_has_starpu_scheduler(sched_ctx_id: c_uint, awake_workers: *mut c_uint) -> c_uint;
    pub fn starpu_sched_ctx_set_policy_data(sched_ctx_id: c_uint, policy_data: *mut c_void);
    pub fn starpu_sched_ctx_get_policy_data(sched_ctx_id: c_uint) -> *mut c_void;
    pub fn starpu_sched_ctx_get_sched_policy_callback(sched_ctx_id: c_uint) -> Option<unsafe extern "C" fn(sched_ctx_id: c_uint)>;
    pub fn starpu_sched_ctx_get_user_data(sched_ctx_id: c_uint) -> *mut c_void;
    pub fn starpu_sched_ctx_set_user_data(sched_ctx_id: c_uint, user_data: *mut c_void);
    pub fn starpu_sched_ctx_get_hierarchy_level(sched_ctx_id: c_uint) -> c_uint;
    pub fn starpu_sched_ctx_get_min_priority(sched_ctx_id: c_uint) -> c_int;
    pub fn starpu_sched_ctx_get_max_priority(sched_ctx_id: c_uint) -> c_int;
    pub fn starpu_sched_ctx_set_min_priority(sched_ctx_id: c_uint, min_prio: c_int) -> c_int;
    pub fn starpu_sched_ctx_set_max_priority(sched_ctx_id: c_uint, max_prio: c_int) -> c_int;
    pub fn starpu_sched_ctx_min_priority_is_set(sched_ctx_id: c_uint) -> c_int;
    pub fn starpu_sched_ctx_max_priority_is_set(sched_ctx_id: c_uint) -> c_int;
    pub fn starpu_sched_ctx_exec_parallel_code(func: Option<unsafe extern "C" fn(arg1: *mut c_void) -> *mut c_void>, param: *mut c_void, sched_ctx_id: c_uint) -> *mut c_void;
    pub fn starpu_sched_ctx_book_workers_for_task(sched_ctx_id: c_uint, workerids: *mut c_int, nworkers: c_int) -> c_int;
    pub fn starpu_sched_ctx_unbook_workers_for_task(sched_ctx_id: c_uint, master: c_int);
    pub fn starpu_sched_ctx_get_available_cpuids(sched_ctx_id: c_uint, cpuids: *mut *mut c_int, ncpuids: *mut c_int);
    pub fn starpu_sched_ctx_bind_current_thread_to_cpuid(cpuid: c_uint);
    pub fn starpu_sched_ctx_get_worker_rank(sched_ctx_id: c_uint) -> c_int;
    pub fn starpu_sched_ctx_master_get_context(masterid: c_int) -> c_uint;
    pub fn starpu_sched_ctx_worker_is_master_for_child_ctx(workerid: c_int, sched_ctx_id: c_uint) -> c_uint;
    pub fn starpu_sched_ctx_get_stream_worker(sub_ctx: c_uint) -> c_int;
    pub fn starpu_sched_ctx_get_nsms(sched_ctx: c_uint) -> c_int;
    pub fn starpu_sched_ctx_get_sms_interval(stream_workerid: c_int, start: *mut c_int, end: *mut c_int);
    pub fn starpu_worker_get_sched_ctx_id_stream(stream_workerid: c_uint) -> c_uint;
    pub fn starpu_sched_get_predefined_policies() -> *mut *mut starpu_sched_policy;
    pub fn starpu_sched_get_sched_policy_in_ctx(sched_ctx_id: c_uint) -> *mut starpu_sched_policy;
    pub fn starpu_sched_get_sched_policy() -> *mut starpu_sched_policy;
    pub fn starpu_get_sched_lib_policy(name: *const c_char) -> *mut starpu_sched_policy;
    pub fn starpu_get_sched_lib_policies() -> *mut *mut starpu_sched_policy;
    pub fn starpu_worker_get_sched_condition(workerid: c_int, sched_mutex: *mut *mut starpu_pthread_mutex_t, sched_cond: *mut *mut starpu_pthread_cond_t);
    pub fn starpu_task_get_job_id(task: *mut starpu_task) -> c_ulong;
    pub fn starpu_sched_get_min_priority() -> c_int;
    pub fn starpu_sched_get_max_priority() -> c_int;
    pub fn starpu_sched_set_min_priority(min_prio: c_int) -> c_int;
    pub fn starpu_sched_set_max_priority(max_prio: c_int) -> c_int;
    pub fn starpu_worker_can_execute_task(workerid: c_uint, task: *mut starpu_task, nimpl: c_uint) -> c_int;
    pub fn starpu_worker_can_execute_task_impl(workerid: c_uint, task: *mut starpu_task, impl_mask: *mut c_uint) -> c_int;
    pub fn starpu_worker_can_execute_task_first_impl(workerid: c_uint, task: *mut starpu_task, nimpl: *mut c_uint) -> c_int;
    pub fn starpu_push_local_task(workerid: c_int, task: *mut starpu_task, back: c_int) -> c_int;
    pub fn starpu_push_task_end(task: *mut starpu_task) -> c_int;
    pub fn starpu_get_prefetch_flag() -> c_int;
    pub fn starpu_prefetch_task_input_on_node_prio(task: *mut starpu_task, node: c_uint, prio: c_int) -> c_int;
    pub fn starpu_prefetch_task_input_on_node(task: *mut starpu_task, node: c_uint) -> c_int;
    pub fn starpu_idle_prefetch_task_input_on_node_prio(task: *mut starpu_task, node: c_uint, prio: c_int) -> c_int;
    pub fn starpu_idle_prefetch_task_input_on_node(task: *mut starpu_task, node: c_uint) -> c_int;
    pub fn starpu_prefetch_task_input_for_prio(task: *mut starpu_task, worker: c_uint, prio: c_int) -> c_int;
    pub fn starpu_prefetch_task_input_for(task: *mut starpu_task, worker: c_uint) -> c_int;
    pub fn starpu_idle_prefetch_task_input_for_prio(task: *mut starpu_task, worker: c_uint, prio: c_int) -> c_int;
    pub fn starpu_idle_prefetch_task_input_for(task: *mut starpu_task, worker: c_uint) -> c_int;
    pub fn starpu_task_footprint(model: *mut starpu_perfmodel, task: *mut starpu_task, arch: *mut starpu_perfmodel_arch, nimpl: c_uint) -> u32;
    pub fn starpu_task_data_footprint(task: *mut starpu_task) -> u32;
    pub fn starpu_task_expected_length(task: *mut starpu_task, arch: *mut starpu_perfmodel_arch, nimpl: c_uint) -> f64;
    pub fn starpu_task_worker_expected_length(task: *mut starpu_task, workerid: c_uint, sched_ctx_id: c_uint, nimpl: c_uint) -> f64;
    pub fn starpu_task_expected_length_average(task: *mut starpu_task, sched_ctx_id: c_uint) -> f64;
    pub fn starpu_worker_get_relative_speedup(perf_arch: *mut starpu_perfmodel_arch) -> f64;
    pub fn starpu_task_expected_data_transfer_time(memory_node: c_uint, task: *mut starpu_task) -> f64;
    pub fn starpu_task_expected_data_transfer_time_for(task: *mut starpu_task, worker: c_uint) -> f64;
    pub fn starpu_data_expected_transfer_time(handle: starpu_data_handle_t, memory_node: c_uint, mode: starpu_data_access_mode) -> f64;
    pub fn starpu_task_expected_energy(task: *mut starpu_task, arch: *mut starpu_perfmodel_arch, nimpl: c_uint) -> f64;
    pub fn starpu_task_worker_expected_energy(task: *mut starpu_task, workerid: c_uint, sched_ctx_id: c_uint, nimpl: c_uint) -> f64;
    pub fn starpu_task_expected_energy_average(task: *mut starpu_task, sched_ctx_id: c_uint) -> f64;
    pub fn starpu_task_expected_conversion_time(task: *mut starpu_task, arch: *mut starpu_perfmodel_arch, nimpl: c_uint) -> f64;
    pub fn starpu_task_notify_ready_soon_register(f: starpu_notify_ready_soon_func, data: *mut c_void);
    pub fn starpu_sched_task_break(task: *mut starpu_task);
    pub fn starpu_wake_worker_relax(workerid: c_int) -> c_int;
    pub fn starpu_wake_worker_no_relax(workerid: c_int) -> c_int;
    pub fn starpu_wake_worker_locked(workerid: c_int) -> c_int;
    pub fn starpu_wake_worker_relax_light(workerid: c_int) -> c_int;
    pub fn starpu_sched_ctx_worker_shares_tasks_lists(workerid: c_int, sched_ctx_id: c_int);
    pub fn starpu_malloc_set_align(align: usize);
    pub fn starpu_malloc(A: *mut *mut c_void, dim: usize) -> c_int;
    pub fn starpu_free(A: *mut c_void) -> c_int;
    pub fn starpu_malloc_flags(A: *mut *mut c_void, dim: usize, flags: c_int) -> c_int;
    pub fn starpu_free_flags(A: *mut c_void, dim: usize, flags: c_int) -> c_int;
    pub fn starpu_free_noflag(A: *mut c_void, dim: usize) -> c_int;
    pub fn starpu_malloc_set_hooks(malloc_hook: starpu_malloc_hook, free_hook: starpu_free_hook);
    pub fn starpu_memory_pin(addr: *mut c_void, size: usize) -> c_int;
    pub fn starpu_memory_unpin(addr: *mut c_void, size: usize) -> c_int;
    pub fn starpu_memory_get_total(node: c_uint) -> starpu_ssize_t;
    pub fn starpu_memory_get_available(node: c_uint) -> starpu_ssize_t;
    pub fn starpu_memory_get_used(node: c_uint) -> usize;
    pub fn starpu_memory_get_total_all_nodes() -> starpu_ssize_t;
    pub fn starpu_memory_get_available_all_nodes() -> starpu_ssize_t;
    pub fn starpu_memory_get_used_all_nodes() -> usize;
    pub fn starpu_memory_allocate(node: c_uint, size: usize, flags: c_int) -> c_int;
    pub fn starpu_memory_deallocate(node: c_uint, size: usize);
    pub fn starpu_memory_wait_available(node: c_uint, size: usize);
    pub fn starpu_energy_use(joules: f32);
    pub fn starpu_energy_used() -> f64;
    pub fn starpu_sleep(nb_sec: f32);
    pub fn starpu_usleep(nb_micro_sec: f32);
    pub fn starpu_task_list_init(list: *mut starpu_task_list);
    pub fn starpu_task_list_push_front(list: *mut starpu_task_list, task: *mut starpu_task);
    pub fn starpu_task_list_push_back(list: *mut starpu_task_list, task: *mut starpu_task);
    pub fn starpu_task_list_front(list: *const starpu_task_list) -> *mut starpu_task;
    pub fn starpu_task_list_back(list: *const starpu_task_list) -> *mut starpu_task;
    pub fn starpu_task_list_empty(list: *const starpu_task_list) -> c_int;
    pub fn starpu_task_list_erase(list: *mut starpu_task_list, task: *mut starpu_task);
    pub fn starpu_task_list_pop_front(list: *mut starpu_task_list) -> *mut starpu_task;
    pub fn starpu_task_list_pop_back(list: *mut starpu_task_list) -> *mut starpu_task;
    pub fn starpu_task_list_begin(list: *const starpu_task_list) -> *mut starpu_task;
    pub fn starpu_task_list_end(list: *const starpu_task_list) -> *mut starpu_task;
    pub fn starpu_task_list_next(task: *const starpu_task) -> *mut starpu_task;
    pub fn starpu_task_list_ismember(list: *const starpu_task_list, look: *const starpu_task) -> c_int;
    pub fn starpu_task_list_move(ldst: *mut starpu_task_list, lsrc: *mut starpu_task_list);
    pub fn starpu_task_set(task: *mut starpu_task, cl: *mut starpu_codelet, ...) -> c_int;
    pub fn starpu_task_build(cl: *mut starpu_codelet, ...) -> *mut starpu_task;
    pub fn starpu_task_insert(cl: *mut starpu_codelet, ...) -> c_int;
    pub fn starpu_insert_task(cl: *mut starpu_codelet, ...) -> c_int;
    pub fn starpu_task_insert_data_make_room(cl: *mut starpu_codelet, task: *mut starpu_task, allocated_buffers: *mut c_int, current_buffer: c_int, room: c_int);
    pub fn starpu_task_insert_data_process_arg(cl: *mut starpu_codelet, task: *mut starpu_task, allocated_buffers: *mut c_int, current_buffer: *mut c_int, arg_type: c_int, handle: starpu_data_handle_t);
    pub fn starpu_task_insert_data_process_array_arg(cl: *mut starpu_codelet, task: *mut starpu_task, allocated_buffers: *mut c_int, current_buffer: *mut c_int, nb_handles: c_int, handles: *mut starpu_data_handle_t);
    pub fn starpu_task_insert_data_process_mode_array_arg(cl: *mut starpu_codelet, task: *mut starpu_task, allocated_buffers: *mut c_int, current_buffer: *mut c_int, nb_descrs: c_int, descrs: *mut starpu_data_descr);
    pub fn starpu_codelet_pack_args(arg_buffer: *mut *mut c_void, arg_buffer_size: *mut usize, ...);
    pub fn starpu_codelet_pack_arg_init(state: *mut starpu_codelet_pack_arg_data);
    pub fn starpu_codelet_pack_arg(state: *mut starpu_codelet_pack_arg_data, ptr: *const c_void, ptr_size: usize);
    pub fn starpu_codelet_pack_arg_fini(state: *mut starpu_codelet_pack_arg_data, cl_arg: *mut *mut c_void, cl_arg_size: *mut usize);
    pub fn starpu_codelet_unpack_args(cl_arg: *mut c_void, ...);
    pub fn starpu_codelet_unpack_args_and_copyleft(cl_arg: *mut c_void, buffer: *mut c_void, buffer_size: usize, ...);
    pub fn starpu_codelet_unpack_arg_init(state: *mut starpu_codelet_pack_arg_data, cl_arg: *mut c_void, cl_arg_size: usize);
    pub fn starpu_codelet_unpack_arg(state: *mut starpu_codelet_pack_arg_data, ptr: *mut c_void, size: usize);
    pub fn starpu_codelet_dup_arg(state: *mut starpu_codelet_pack_arg_data, ptr: *mut *mut c_void, size: *mut usize);
    pub fn starpu_codelet_pick_arg(state: *mut starpu_codelet_pack_arg_data, ptr: *mut *mut c_void, size: *mut usize);
    pub fn starpu_codelet_unpack_discard_arg(state: *mut starpu_codelet_pack_arg_data);
    pub fn starpu_codelet_unpack_arg_fini(state: *mut starpu_codelet_pack_arg_data);
    pub fn starpu_conf_init(conf: *mut starpu_conf) -> c_int;
    pub fn starpu_conf_noworker(conf: *mut starpu_conf) -> c_int;
    pub fn starpu_init(conf: *mut starpu_conf) -> c_int;
    pub fn starpu_initialize(user_conf: *mut starpu_conf, argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int;
    pub fn starpu_is_initialized() -> c_int;
    pub fn starpu_shutdown();
    pub fn starpu_wait_initialized();
    pub fn starpu_pause();
    pub fn starpu_resume();
    pub fn starpu_is_paused() -> c_int;
    pub fn starpu_topology_print(f: *mut FILE);
    pub fn starpu_asynchronous_copy_disabled() -> c_int;
    pub fn starpu_asynchronous_cuda_copy_disabled() -> c_int;
    pub fn starpu_asynchronous_hip_copy_disabled() -> c_int;
    pub fn starpu_asynchronous_opencl_copy_disabled() -> c_int;
    pub fn starpu_asynchronous_max_fpga_copy_disabled() -> c_int;
    pub fn starpu_asynchronous_mpi_ms_copy_disabled() -> c_int;
    pub fn starpu_asynchronous_tcpip_ms_copy_disabled() -> c_int;
    pub fn starpu_asynchronous_copy_disabled_for(kind: starpu_node_kind) -> c_int;
    pub fn starpu_map_enabled() -> c_int;
    pub fn starpu_display_stats();
    pub fn starpu_get_version(major: *mut c_int, minor: *mut c_int, release: *mut c_int);
    pub fn starpu_get_next_bindid(flags: c_uint, preferred: *mut c_uint, npreferred: c_uint) -> c_uint;
    pub fn starpu_bind_thread_on(cpuid: c_int, flags: c_uint, name: *const c_char) -> c_int;
    pub fn starpu_bind_thread_on_cpu(cpuid: c_int);
    pub fn starpu_bind_thread_on_worker(workerid: c_uint);
    pub fn starpu_bind_thread_on_main();
    pub fn starpu_cpu_os_index(cpuid: c_int) -> c_int;
    pub fn starpu_heteroprio_set_nb_prios(sched_ctx_id: c_uint, arch: starpu_worker_archtype, max_prio: c_uint);
    pub fn starpu_heteroprio_set_mapping(sched_ctx_id: c_uint, arch: starpu_worker_archtype, source_prio: c_uint, dest_bucket_id: c_uint);
    pub fn starpu_heteroprio_set_faster_arch(sched_ctx_id: c_uint, arch: starpu_worker_archtype, bucket_id: c_uint);
    pub fn starpu_heteroprio_set_arch_slow_factor(sched_ctx_id: c_uint, arch: starpu_worker_archtype, bucket_id: c_uint, slow_factor: f32);
    pub fn starpu_heteroprio_set_use_locality(sched_ctx_id: c_uint, use_locality: c_uint);
    pub fn starpu_heteroprio_map_wgroup_memory_nodes(sched_ctx_id: c_uint);
    pub fn starpu_heteroprio_print_wgroups(stream: *mut FILE, sched_ctx_id: c_uint);
    pub fn starpu_sched_tree_create(sched_ctx_id: c_uint) -> *mut starpu_sched_tree;
    pub fn starpu_sched_tree_destroy(tree: *mut starpu_sched_tree);
    pub fn starpu_sched_tree_deinitialize(sched_ctx_id: c_uint);
    pub fn starpu_sched_tree_get(sched_ctx_id: c_uint) -> *mut starpu_sched_tree;
    pub fn starpu_sched_tree_update_workers(t: *mut starpu_sched_tree);
    pub fn starpu_sched_tree_update_workers_in_ctx(t: *mut starpu_sched_tree);
    pub fn starpu_sched_tree_push_task(task: *mut starpu_task) -> c_int;
    pub fn starpu_sched_tree_pop_task(sched_ctx: c_uint) -> *mut starpu_task;
    pub fn starpu_sched_tree_add_workers(sched_ctx_id: c_uint, workerids: *mut c_int, nworkers: c_uint);
    pub fn starpu_sched_tree_remove_workers(sched_ctx_id: c_uint, workerids: *mut c_int, nworkers: c_uint);
    pub fn starpu_sched_tree_do_schedule(sched_ctx_id: c_uint);
    pub fn starpu_sched_tree_work_stealing_push_task(task: *mut starpu_task) -> c_int;
    pub fn starpu_sched_component_worker_pre_exec_hook(task: *mut starpu_task, sched_ctx_id: c_uint);
    pub fn starpu_sched_component_worker_post_exec_hook(task: *mut starpu_task, sched_ctx_id: c_uint);
    pub fn starpu_sched_component_create(tree: *mut starpu_sched_tree, name: *const c_char) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_destroy(component: *mut starpu_sched_component);
    pub fn starpu_sched_component_destroy_rec(component: *mut starpu_sched_component);
    pub fn starpu_sched_component_add_child(component: *mut starpu_sched_component, child: *mut starpu_sched_component);
    pub fn starpu_sched_component_connect(parent: *mut starpu_sched_component, child: *mut starpu_sched_component);
    pub fn starpu_sched_component_push_task(from: *mut starpu_sched_component, to: *mut starpu_sched_component, task: *mut starpu_task) -> c_int;
    pub fn starpu_sched_component_pull_task(from: *mut starpu_sched_component, to: *mut starpu_sched_component) -> *mut starpu_task;
    pub fn starpu_sched_component_pump_to(component: *mut starpu_sched_component, to: *mut starpu_sched_component, success: *mut c_int) -> *mut starpu_task;
    pub fn starpu_sched_component_pump_downstream(component: *mut starpu_sched_component, success: *mut c_int) -> *mut starpu_task;
    pub fn starpu_sched_component_send_can_push_to_parents(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_can_execute_task(component: *mut starpu_sched_component, task: *mut starpu_task) -> c_int;
    pub fn starpu_sched_component_execute_preds(component: *mut starpu_sched_component, task: *mut starpu_task, length: *mut f64) -> c_int;
    pub fn starpu_sched_component_transfer_length(component: *mut starpu_sched_component, task: *mut starpu_task) -> f64;
    pub fn starpu_sched_component_prefetch_on_node(component: *mut starpu_sched_component, task: *mut starpu_task);
    pub fn starpu_sched_component_parents_pull_task(component: *mut starpu_sched_component, to: *mut starpu_sched_component) -> *mut starpu_task;
    pub fn starpu_sched_component_can_push(component: *mut starpu_sched_component, to: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_can_pull(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_can_pull_all(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_estimated_load(component: *mut starpu_sched_component) -> f64;
    pub fn starpu_sched_component_estimated_end_min(component: *mut starpu_sched_component) -> f64;
    pub fn starpu_sched_component_estimated_end_min_add(component: *mut starpu_sched_component, exp_len: f64) -> f64;
    pub fn starpu_sched_component_estimated_end_average(component: *mut starpu_sched_component) -> f64;
    pub fn starpu_sched_component_worker_get(sched_ctx: c_uint, workerid: c_int) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_worker_new(sched_ctx: c_uint, workerid: c_int) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_parallel_worker_create(tree: *mut starpu_sched_tree, nworkers: c_uint, workers: *mut c_uint) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_worker_get_workerid(worker_component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_is_worker(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_is_simple_worker(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_is_combined_worker(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_fifo_create(tree: *mut starpu_sched_tree, fifo_data: *mut starpu_sched_component_fifo_data) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_fifo(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_prio_create(tree: *mut starpu_sched_tree, prio_data: *mut starpu_sched_component_prio_data) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_prio(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_work_stealing_create(tree: *mut starpu_sched_tree, arg: *mut c_void) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_work_stealing(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_random_create(tree: *mut starpu_sched_tree, arg: *mut c_void) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_random(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_eager_create(tree: *mut starpu_sched_tree, arg: *mut c_void) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_eager(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_eager_prio_create(tree: *mut starpu_sched_tree, arg: *mut c_void) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_eager_prio(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_eager_calibration_create(tree: *mut starpu_sched_tree, arg: *mut c_void) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_eager_calibration(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_mct_create(tree: *mut starpu_sched_tree, mct_data: *mut starpu_sched_component_mct_data) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_mct(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_heft_create(tree: *mut starpu_sched_tree, mct_data: *mut starpu_sched_component_mct_data) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_heft(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_heteroprio_create(tree: *mut starpu_sched_tree, params: *mut starpu_sched_component_heteroprio_data) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_heteroprio(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_best_implementation_create(tree: *mut starpu_sched_tree, arg: *mut c_void) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_perfmodel_select_create(tree: *mut starpu_sched_tree, perfmodel_select_data: *mut starpu_sched_component_perfmodel_select_data) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_perfmodel_select(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_stage_create(tree: *mut starpu_sched_tree, arg: *mut c_void) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_stage(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_userchoice_create(tree: *mut starpu_sched_tree, arg: *mut c_void) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_is_userchoice(component: *mut starpu_sched_component) -> c_int;
    pub fn starpu_sched_component_composed_recipe_create() -> *mut starpu_sched_component_composed_recipe;
    pub fn starpu_sched_component_composed_recipe_create_singleton(create_component: Option<unsafe extern "C" fn(tree: *mut starpu_sched_tree, arg: *mut c_void) -> *mut starpu_sched_component>, arg: *mut c_void) -> *mut starpu_sched_component_composed_recipe;
    pub fn starpu_sched_component_composed_recipe_add(recipe: *mut starpu_sched_component_composed_recipe, create_component: Option<unsafe extern "C" fn(tree: *mut starpu_sched_tree, arg: *mut c_void) -> *mut starpu_sched_component>, arg: *mut c_void);
    pub fn starpu_sched_component_composed_recipe_destroy(recipe: *mut starpu_sched_component_composed_recipe);
    pub fn starpu_sched_component_composed_component_create(tree: *mut starpu_sched_tree, recipe: *mut starpu_sched_component_composed_recipe) -> *mut starpu_sched_component;
    pub fn starpu_sched_component_make_scheduler(sched_ctx_id: c_uint, s: starpu_sched_component_specs) -> *mut starpu_sched_tree;
    pub fn starpu_sched_component_initialize_simple_scheduler(create_decision_component: starpu_sched_component_create_t, data: *mut c_void, flags: c_uint, sched_ctx_id: c_uint);
    pub fn starpu_sched_component_initialize_simple_schedulers(sched_ctx_id: c_uint, ndecisions: c_uint, ...);
    pub fn starpu_st_fifo_taskq_create() -> starpu_st_fifo_taskq_t;
    pub fn starpu_st_fifo_taskq_destroy(fifo: starpu_st_fifo_taskq_t);
    pub fn starpu_st_fifo_taskq_init(fifo: starpu_st_fifo_taskq_t);
    pub fn starpu_st_fifo_taskq_empty(fifo: starpu_st_fifo_taskq_t) -> c_int;
    pub fn starpu_st_fifo_ntasks_get(fifo: starpu_st_fifo_taskq_t) -> c_uint;
    pub fn starpu_st_fifo_ntasks_inc(fifo: starpu_st_fifo_taskq_t, n: c_int);
    pub fn starpu_st_fifo_nprocessed_get(fifo: starpu_st_fifo_taskq_t) -> c_uint;
    pub fn starpu_st_fifo_nprocessed_inc(fifo: starpu_st_fifo_taskq_t, n: c_int);
    pub fn starpu_st_fifo_exp_start_get(fifo: starpu_st_fifo_taskq_t) -> f64;
    pub fn starpu_st_fifo_exp_start_set(fifo: starpu_st_fifo_taskq_t, exp_start: f64);
    pub fn starpu_st_fifo_exp_end_get(fifo: starpu_st_fifo_taskq_t) -> f64;
    pub fn starpu_st_fifo_exp_end_set(fifo: starpu_st_fifo_taskq_t, exp_end: f64);
    pub fn starpu_st_fifo_exp_len_get(fifo: starpu_st_fifo_taskq_t) -> f64;
    pub fn starpu_st_fifo_exp_len_set(fifo: starpu_st_fifo_taskq_t, exp_len: f64);
    pub fn starpu_st_fifo_exp_len_inc(fifo: starpu_st_fifo_taskq_t, exp_len: f64);
    pub fn starpu_st_fifo_pipeline_len_get(fifo: starpu_st_fifo_taskq_t) -> f64;
    pub fn starpu_st_fifo_pipeline_len_set(fifo: starpu_st_fifo_taskq_t, pipeline_len: f64);
    pub fn starpu_st_fifo_pipeline_len_inc(fifo: starpu_st_fifo_taskq_t, pipeline_len: f64);
    pub fn starpu_st_fifo_ntasks_per_priority_get(fifo: starpu_st_fifo_taskq_t) -> *mut c_uint;
    pub fn starpu_st_fifo_exp_len_per_priority_get(fifo: starpu_st_fifo_taskq_t) -> *mut f64;
    pub fn starpu_st_fifo_taskq_push_sorted_task(fifo_queue: starpu_st_fifo_taskq_t, task: *mut starpu_task) -> c_int;
    pub fn starpu_st_fifo_taskq_push_task(fifo: starpu_st_fifo_taskq_t, task: *mut starpu_task) -> c_int;
    pub fn starpu_st_fifo_taskq_push_back_task(fifo_queue: starpu_st_fifo_taskq_t, task: *mut starpu_task) -> c_int;
    pub fn starpu_st_fifo_taskq_pop_this_task(fifo_queue: starpu_st_fifo_taskq_t, workerid: c_int, task: *mut starpu_task) -> c_int;
    pub fn starpu_st_fifo_taskq_pop_task(fifo: starpu_st_fifo_taskq_t, workerid: c_int) -> *mut starpu_task;
    pub fn starpu_st_fifo_taskq_pop_local_task(fifo: starpu_st_fifo_taskq_t) -> *mut starpu_task;
    pub fn starpu_st_fifo_taskq_pop_first_ready_task(fifo_queue: starpu_st_fifo_taskq_t, workerid: c_uint, num_priorities: c_int) -> *mut starpu_task;
    pub fn starpu_st_fifo_taskq_get_exp_len_prev_task_list(fifo_queue: starpu_st_fifo_taskq_t, task: *mut starpu_task, workerid: c_int, nimpl: c_int, fifo_ntasks: *mut c_int) -> f64;
    pub fn starpu_st_prio_deque_init(pdeque: starpu_st_prio_deque_t);
    pub fn starpu_st_prio_deque_destroy(pdeque: starpu_st_prio_deque_t);
    pub fn starpu_st_prio_deque_is_empty(pdeque: starpu_st_prio_deque_t) -> c_int;
    pub fn starpu_st_prio_deque_push_back_task(pdeque: starpu_st_prio_deque_t, task: *mut starpu_task) -> c_int;
    pub fn starpu_st_prio_deque_push_front_task(pdeque: starpu_st_prio_deque_t, task: *mut starpu_task) -> c_int;
    pub fn starpu_st_prio_deque_highest_task(pdeque: starpu_st_prio_deque_t) -> *mut starpu_task;
    pub fn starpu_st_prio_deque_pop_task(pdeque: starpu_st_prio_deque_t) -> *mut starpu_task;
    pub fn starpu_st_prio_deque_pop_back_task(pdeque: starpu_st_prio_deque_t) -> *mut starpu_task;
    pub fn starpu_st_prio_deque_pop_task_for_worker(pdeque: starpu_st_prio_deque_t, workerid: c_int, skipped: *mut *mut starpu_task) -> *mut starpu_task;
    pub fn starpu_st_prio_deque_deque_task_for_worker(pdeque: starpu_st_prio_deque_t, workerid: c_int, skipped: *mut *mut starpu_task) -> *mut starpu_task;
    pub fn starpu_st_prio_deque_deque_first_ready_task(pdeque: starpu_st_prio_deque_t, workerid: c_uint) -> *mut starpu_task;
    pub fn starpu_st_prio_deque_pop_this_task(pdeque: starpu_st_prio_deque_t, workerid: c_int, task: *mut starpu_task) -> c_int;
    pub fn starpu_st_prio_deque_erase(pdeque: starpu_st_prio_deque_t, task: *mut starpu_task);
    pub fn starpu_st_normalize_prio(priority: c_int, num_priorities: c_int, sched_ctx_id: c_uint) -> c_int;
    pub fn starpu_st_non_ready_buffers_count(task: *mut starpu_task, worker: c_uint) -> c_int;
    pub fn starpu_st_non_ready_buffers_size(task: *mut starpu_task, worker: c_uint, non_readyp: *mut usize, non_loadingp: *mut usize, non_allocatedp: *mut usize);
}
