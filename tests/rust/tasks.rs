// SPDX-License-Identifier: LGPL-2.1-or-later
//! What tasks are told, how they are awaited, and what becomes of panics.
use orrery::*;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::exit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// One panics of a thousand: the others run, and there is one error.
fn panics(rt: &Runtime) -> Result<()> {
    let ran = Arc::new(AtomicUsize::new(0));
    let x = rt.vector(vec![0u32; 8])?;
    for i in 0..1000 {
        let ran = ran.clone();
        rt.task("some").run((x.rw(),), move |(x,)| {
            ran.fetch_add(1, Ordering::Relaxed);
            assert!(i != 500, "number {i} is bad");
            x[i % 8] += 1;
        })?;
    }
    let (first, second) = (rt.wait_all(), rt.wait_all());
    if rt.runs_kernels() {
        assert_eq!(first, Err(Error::Panicked("some".into(), "number 500 is bad".into())));
        assert_eq!(ran.load(Ordering::Relaxed), 1000);
        assert_eq!(x.with(|x| x.iter().sum::<u32>())?, 999);
    }
    // What functions have captured is gone either way.
    assert_eq!(Arc::strong_count(&ran), 1);
    println!("{second:?}");
    Ok(())
}

fn awaited(rt: &Runtime) -> Result<()> {
    let y = rt.vector(vec![0f64; 10])?;
    let result = rt.block_on(async {
        rt.task("one").run((y.rw(),), |(y,)| y[0] = 1.)?.await?;
        let two = rt.task("two").run((y.rw(),), |(y,)| y[0] += 1.)?;
        let three = rt.task("three").label("third").run((y.rw(),), |_| panic!("no good"))?;
        two.await?;
        three.await
    });
    println!("{:?} {}", result.is_err() || !rt.runs_kernels(), y.with(|y| y[0])?);
    assert_eq!(rt.wait_all().is_err(), rt.runs_kernels());
    // A payload that is no text, and one that panics when it is dropped.
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("again");
        }
    }
    rt.task("odd").run((y.rw(),), |_| std::panic::panic_any(7))?;
    assert_eq!(rt.wait_all().is_err(), rt.runs_kernels());
    rt.task("worse").run((y.rw(),), |_| std::panic::panic_any(Bad))?;
    assert_eq!(rt.wait_all().is_err(), rt.runs_kernels());
    // What a function has captured may panic when it goes.
    struct Worse(bool);
    impl Drop for Worse {
        fn drop(&mut self) {
            assert!(self.0, "captured");
        }
    }
    let captured = Worse(false);
    rt.task("captures").run((y.rw(),), move |_| drop(captured))?;
    println!("captured: {}", rt.wait_all().is_err());
    Ok(())
}

/// A scope waits for its tasks when its function panics.
fn unwinding(rt: &Runtime) -> Result<()> {
    let mut v = vec![0u8; 1 << 16];
    let left = catch_unwind(AssertUnwindSafe(|| {
        let _: Result<()> = rt.scope(|s| {
            let d = s.vector(&mut v).unwrap();
            for _ in 0..20 {
                s.task("count")
                    .run((d.rw(),), |(v,)| v.iter_mut().for_each(|x| *x += 1))
                    .unwrap();
            }
            panic!("the scope's function")
        });
    }));
    println!("{} {}", left.is_err(), v[v.len() - 1]);
    Ok(())
}

fn options(rt: &Runtime) -> Result<()> {
    let order = rt.vector(vec![0usize; 1])?;
    let worker = rt.workers() - 1;
    assert!(rt.priorities().contains(&0));
    let on_any =
        Kernel::new("on any")?.simulated(Device::Cuda).model(Model::history("on_any")?);
    rt.task(&on_any)
        .priority(3)
        .flops(1e6)
        .argument(2f32)
        .run((order.rw(),), |(o,)| o[0] = 1)?;
    let there = rt.task(&on_any).worker(worker).run((order.rw(),), |(o,)| o[0] += 1);
    println!("on the last worker {}", there.is_ok());
    let nowhere = rt.task("nowhere").worker(100_000).run((order.rw(),), |_| ());
    println!("{:?}", nowhere.err());
    println!("{:?}", rt.task("a\0b").run((), |()| ()).err());
    println!("{:?}", Kernel::new("a\0b").err().is_some());
    rt.wait_all()?;
    assert!(rt.workers_of(Device::Cpu) <= rt.workers());
    assert_eq!(rt.predict("never seen", (order.read(),), Device::Hip)?, None);
    if !rt.is_simulated() {
        return Ok(());
    }
    // ORRERY_ASSUME says so.
    assert_eq!(rt.predict(&on_any, (order.rw(),), Device::Cuda)?, Some(5.));
    Ok(())
}

/// The mode that the running task's codelet has for its first buffer.
fn mode() -> u32 {
    unsafe { (*(*sys::starpu_task_get_current()).cl).modes[0] }
}

/// Functions of equal code, of one name, keep the modes of their accesses.
fn equal_code(rt: &Runtime) -> Result<()> {
    static READ: AtomicUsize = AtomicUsize::new(0);
    static ALL: AtomicUsize = AtomicUsize::new(0);
    fn note() {
        let is_read = mode() == sys::STARPU_R;
        READ.fetch_add(usize::from(is_read), Ordering::Relaxed);
        ALL.fetch_add(1, Ordering::Relaxed);
    }
    let x = rt.vector(vec![0u8; 8])?;
    for _ in 0..3 {
        rt.task("same").run((x.read(),), |_| note())?;
        rt.task("same").run((x.rw(),), |_| note())?;
        rt.task("same").argument(1u64).run((x.write(),), |_| note())?;
        rt.task("same").argument(1u64).run((x.commute(),), |_| note())?;
    }
    rt.wait_all()?;
    if rt.runs_kernels() {
        assert_eq!((READ.load(Ordering::Relaxed), ALL.load(Ordering::Relaxed)), (3, 12));
    }
    Ok(())
}

/// What the library remembers of a model is what a later run predicts.
fn models(rt: &Runtime) -> Result<()> {
    let k = Kernel::new("remembered")?.model(Model::history("rust_remembered")?);
    let x = rt.vector(vec![0u8; 4096])?;
    for _ in 0..30 {
        rt.task(&k).run((x.rw(),), |(x,)| x.iter_mut().for_each(|x| *x = x.wrapping_mul(3)))?;
    }
    rt.wait_all()?;
    if !rt.is_simulated() {
        let us = rt.predict(&k, (x.rw(),), Device::Cpu)?;
        assert!(us.map_or(true, |us| us > 0.), "{us:?}"); // None: measures lie far apart
    }
    Ok(())
}

/// Another thread gets its runtime when this one has ended.
fn threads() {
    let rt = Runtime::new().expect("a runtime");
    println!("{}", Runtime::new().err().unwrap());
    let other = std::thread::spawn(|| -> Result<u32> {
        let rt = Runtime::new()?;
        let x = rt.variable(1u32)?;
        rt.task("elsewhere").run((x.rw(),), |(x,)| *x += 1)?;
        let is_run = rt.runs_kernels();
        Ok(x.into_inner() - u32::from(is_run))
    });
    drop(rt);
    println!("elsewhere {:?}", other.join().unwrap());
}

fn main() -> Result<()> {
    let rt = match Runtime::new() {
        Err(Error::NoWorkers) => exit(77),
        other => other?,
    };
    assert!(!rt.machine().is_empty());
    panics(&rt)?;
    awaited(&rt)?;
    unwinding(&rt)?;
    options(&rt)?;
    equal_code(&rt)?;
    models(&rt)?;
    drop(rt);
    threads();
    println!("{}", Machine::simulated("no such machine").start().is_err());
    println!("{:?}", Machine::real().set("A=B", "x").start().is_err());
    Ok(())
}
