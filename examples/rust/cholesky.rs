// SPDX-License-Identifier: LGPL-2.1-or-later
//! A = L * L^T in tiles: what is urgent has a priority. Kernels are Rust's, so that the
//! program needs no other library; on a simulated machine nobody waits for them.
//! usage: cholesky [N [TILES]]
use orrery::*;
use std::env;

/// The Cholesky factor of one tile, in its lower triangle.
fn potrf(mut a: MatrixMut<f64>) {
    let n = a.dims()[0];
    for k in 0..n {
        assert!(a[[k, k]] > 0., "the matrix is not positive definite");
        let pivot = a[[k, k]].sqrt();
        a.column_mut(k)[k..].iter_mut().for_each(|x| *x /= pivot);
        a[[k, k]] = pivot;
        for j in k + 1..n {
            let factor = a[[j, k]];
            for i in j..n {
                a[[i, j]] -= a[[i, k]] * factor;
            }
        }
    }
}

/// B becomes B * L^-T.
fn trsm(l: MatrixRef<f64>, mut b: MatrixMut<f64>) {
    let [rows, columns] = b.dims();
    for j in 0..columns {
        for k in 0..j {
            for i in 0..rows {
                b[[i, j]] -= b[[i, k]] * l[[j, k]];
            }
        }
        b.column_mut(j).iter_mut().for_each(|x| *x /= l[[j, j]]);
    }
}

/// C becomes C - A * B^T.
fn gemm(a: MatrixRef<f64>, b: MatrixRef<f64>, mut c: MatrixMut<f64>) {
    let columns = c.dims()[1];
    for k in 0..a.dims()[1] {
        for j in 0..columns {
            let factor = b[[j, k]];
            for (c, a) in c.column_mut(j).iter_mut().zip(a.column(k)) {
                *c -= a * factor;
            }
        }
    }
}

fn factorise(rt: &Runtime, m: &mut Matrix<f64>, n: usize) -> Result<()> {
    // Simulated GPUs have versions of these, without anybody writing any.
    let kernel = |name| Ok(Kernel::new(name)?.simulated(Device::Cuda));
    let (potrf_, trsm_) = (kernel("potrf")?, kernel("trsm")?);
    let (syrk_, gemm_) = (kernel("syrk")?, kernel("gemm")?);
    let tiles = m.partition((Rows(n), Columns(n)))?;
    let tile = |i, j| tiles.tile(i, j);
    for k in 0..n {
        let urgent = 2 * (n - k) as i32;
        rt.task(&potrf_).priority(urgent).run((tile(k, k).rw(),), |(a,)| potrf(a))?;
        for i in k + 1..n {
            let used = (tile(k, k).read(), tile(i, k).rw());
            rt.task(&trsm_).priority(urgent - 1).run(used, |(l, b)| trsm(l, b))?;
        }
        for j in k + 1..n {
            let used = (tile(j, k).read(), tile(j, j).rw());
            rt.task(&syrk_).run(used, |(a, c)| gemm(a, a, c))?;
            for i in j + 1..n {
                let used = (tile(i, k).read(), tile(j, k).read(), tile(i, j).rw());
                rt.task(&gemm_).run(used, |(a, b, c)| gemm(a, b, c))?;
            }
        }
    }
    rt.wait_all()
}

fn main() -> Result<()> {
    let mut words = env::args().skip(1).map(|w| w.parse().expect("a number"));
    let (n, tiles): (usize, usize) = (words.next().unwrap_or(240), words.next().unwrap_or(6));
    let element = |i, j| if i == j { n as f64 } else { 1. / (1. + (i + j) as f64) };
    let a: Vec<f64> = (0..n * n).map(|at| element(at % n, at / n)).collect();
    let rt = match Runtime::new() {
        Err(Error::NoWorkers) => std::process::exit(77),
        other => other?,
    };
    let mut m = rt.matrix(a, n, n)?;
    let start = rt.now_us();
    factorise(&rt, &mut m, tiles)?;
    println!("{n} x {n} in {tiles} x {tiles} tiles: {:.3} ms", (rt.now_us() - start) / 1000.);
    if rt.runs_kernels() {
        // The last row of L times its transpose.
        let l = m.into_vec();
        let row = |j| (0..=j).map(|k| l[n - 1 + k * n] * l[j + k * n]).sum::<f64>();
        let worst = (0..n).map(|j| (row(j) - element(n - 1, j)).abs()).fold(0., f64::max);
        println!("right: {}", worst < 1e-9 * n as f64);
    }
    Ok(())
}
