// SPDX-License-Identifier: LGPL-2.1-or-later
//! What the bindings name that is not ours: types of the C library on 64-bit Linux, opaque,
//! with their sizes, and fields of bits.
use std::os::raw::{c_int, c_long, c_uint, c_ulong};

pub type off_t = i64;
pub type pthread_t = c_ulong;
pub type pthread_key_t = c_uint;

/// A stream of the C library: only ever behind a pointer.
#[repr(C)]
#[derive(Debug)]
pub struct FILE {
    _opaque: [u8; 0],
}

#[repr(C)]
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct timespec {
    pub tv_sec: c_long,
    pub tv_nsec: c_long,
}

macro_rules! opaque {
    ($($name:ident: [$word:ty; $n:literal])*) => { $(
        /// The C library's own, zero when it is new.
        #[repr(C)]
        #[derive(Copy, Clone, Debug, Default)]
        pub struct $name {
            _opaque: [$word; $n],
        }
    )* };
}
opaque! {
    drand48_data: [u64; 3]
    pthread_attr_t: [u64; 7]
    pthread_barrier_t: [u64; 4]
    pthread_barrierattr_t: [c_int; 1]
    pthread_cond_t: [u64; 6]
    pthread_condattr_t: [c_int; 1]
    pthread_mutex_t: [u64; 5]
    pthread_mutexattr_t: [c_int; 1]
    pthread_rwlock_t: [u64; 7]
    pthread_rwlockattr_t: [u64; 1]
    sem_t: [u64; 4]
}

/// Fields of bits, as bindgen's accessors ask for them: the first bit is the least
/// significant one of the first byte.
#[repr(C)]
#[derive(Copy, Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct __BindgenBitfieldUnit<Storage> {
    storage: Storage,
}

impl<Storage: AsRef<[u8]> + AsMut<[u8]>> __BindgenBitfieldUnit<Storage> {
    #[inline]
    pub const fn new(storage: Storage) -> Self {
        Self { storage }
    }

    #[inline]
    pub fn get(&self, offset: usize, width: u8) -> u64 {
        let bytes = self.storage.as_ref();
        let bit = |i: usize| u64::from(bytes[i / 8] >> (i % 8) & 1);
        (0..usize::from(width)).fold(0, |value, i| value | bit(offset + i) << i)
    }

    #[inline]
    pub fn set(&mut self, offset: usize, width: u8, value: u64) {
        let bytes = self.storage.as_mut();
        for i in 0..usize::from(width) {
            let at = offset + i;
            let mask = 1 << (at % 8);
            if value >> i & 1 == 1 {
                bytes[at / 8] |= mask;
            } else {
                bytes[at / 8] &= !mask;
            }
        }
    }
}
