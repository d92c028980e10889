// SPDX-License-Identifier: LGPL-2.1-or-later
//! Pi by random points: tasks contribute to a sum, and the program awaits them.
use orrery::*;

/// How many of n points of a sequence lie in the circle.
fn inside(seed: u64, n: u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut coordinate = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n).filter(|_| coordinate().powi(2) + coordinate().powi(2) < 1.).count() as u64
}

fn main() -> Result<()> {
    let rt = match Runtime::new() {
        Err(Error::NoWorkers) => std::process::exit(77),
        other => other?,
    };
    let (tasks, points) = (64, 10_000);
    let throw = Kernel::new("throw")?.simulated(Device::Cuda);
    let total = rt.variable(0u64)?;
    rt.block_on(async {
        let mut all = Vec::new();
        for seed in 1..=tasks {
            let throws = rt.task(&throw).run((total.reduce(Sum)?,), move |(total,)| {
                *total += inside(seed, points);
            })?;
            all.push(throws);
        }
        for throws in all {
            throws.await?;
        }
        Ok(())
    })?;
    let total = total.into_inner();
    println!("pi is about {:.4}", 4. * total as f64 / (tasks * points) as f64);
    Ok(())
}
