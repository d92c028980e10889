// SPDX-License-Identifier: LGPL-2.1-or-later
//! The programs of tests/fortran/twin.c, with the crate orrery.
//! usage: twin_rs vector|cholesky|redux|tasks N
use orrery::*;
use std::env;
use std::process::exit;

const N: usize = 256;

fn on_gpus(name: &str) -> Result<Kernel> {
    Ok(Kernel::new(name)?.simulated(Device::Cuda))
}

fn vector(rt: &Runtime, n: usize) -> Result<()> {
    let scale = on_gpus("scale")?;
    let mut v = rt.vector(vec![0f32; 4096])?;
    let parts = v.partition(Blocks(8))?;
    for _ in 0..n {
        for part in parts.iter() {
            rt.task(&scale).argument(2f32).run((part.rw(),), |_| ())?;
        }
    }
    rt.wait_all()
}

fn cholesky(rt: &Runtime, n: usize) -> Result<()> {
    let (potrf, trsm) = (on_gpus("potrf")?, on_gpus("trsm")?);
    let (syrk, gemm) = (on_gpus("syrk")?, on_gpus("gemm")?);
    let mut m = rt.matrix(vec![0f32; N * N], N, N)?;
    let tiles = m.partition((Rows(n), Columns(n)))?;
    let tile = |i, j| tiles.tile(i, j);
    for k in 0..n {
        let urgent = 2 * (n - k) as i32;
        rt.task(&potrf).priority(urgent).run((tile(k, k).rw(),), |_| ())?;
        for i in k + 1..n {
            let used = (tile(k, k).read(), tile(i, k).rw());
            rt.task(&trsm).priority(urgent - 1).run(used, |_| ())?;
        }
        for j in k + 1..n {
            rt.task(&syrk).run((tile(j, k).read(), tile(j, j).rw()), |_| ())?;
            for i in j + 1..n {
                let used = (tile(i, k).read(), tile(j, k).read(), tile(i, j).rw());
                rt.task(&gemm).run(used, |_| ())?;
            }
        }
    }
    rt.wait_all()
}

/// Its kernels have the names of twin.c's.
struct Add;

impl Operation<f64> for Add {
    const NAMES: (&'static str, &'static str) = ("zero", "add");
    fn identity() -> f64 {
        0.
    }
    fn combine(into: &mut f64, other: f64) {
        *into += other;
    }
}

fn redux(rt: &Runtime, n: usize) -> Result<()> {
    let contribute = on_gpus("contribute")?;
    let sum = rt.variable(0f64)?;
    for _ in 0..n {
        rt.task(&contribute).run((sum.reduce(Add)?,), |_| ())?;
    }
    rt.wait_all()
}

fn tasks(rt: &Runtime, n: usize) -> Result<()> {
    let scale = on_gpus("scale")?;
    let sum = rt.variable(0f64)?;
    for _ in 0..n {
        rt.task(&scale).run((sum.rw(),), |_| ())?;
    }
    rt.wait_all()
}

fn main() -> Result<()> {
    let words: Vec<String> = env::args().collect();
    let n = words[2].parse().expect("a number");
    let rt = Runtime::new().unwrap_or_else(|_| exit(77));
    let start = rt.now_us();
    match words[1].as_str() {
        "vector" => vector(&rt, n)?,
        "cholesky" => cholesky(&rt, n)?,
        "redux" => redux(&rt, n)?,
        "tasks" => tasks(&rt, n)?,
        other => panic!("there is no program {other}"),
    }
    println!("{:.3}", rt.now_us() - start);
    Ok(())
}
