// SPDX-License-Identifier: LGPL-2.1-or-later
//! Everything that can be forgotten is, while tasks use it: nothing is read or written that
//! is not there any more.
use orrery::*;
use std::mem::forget;

fn main() -> Result<()> {
    for round in 0..3 {
        let rt = Runtime::new()?;
        let (x, y) = (rt.vector(vec![1u64; 5000])?, rt.vector(vec![2u64; 5000])?);
        let mut m = rt.matrix(vec![1f32; 64 * 64], 64, 64)?;
        let sum = rt.variable(0u64)?;
        for _ in 0..50 {
            let used = (x.read(), y.rw(), sum.reduce(Sum)?);
            forget(rt.task("add").run(used, |(x, y, sum)| {
                for (y, x) in y.iter_mut().zip(x) {
                    *y += x;
                }
                *sum += y[0];
            })?);
        }
        let tiles = m.partition((Rows(4), Columns(4)))?;
        for tile in tiles.iter() {
            rt.task("tile").run((tile.rw(),), |(mut t,)| t[[0, 0]] += 1.)?;
        }
        forget(tiles);
        let rows = m.plan(Rows(4))?;
        for row in rows.iter() {
            rt.task("row").run((row.rw(),), |(mut t,)| t[[1, 1]] += 1.)?;
        }
        forget(rows);
        let mut v = vec![7u8; 3000];
        rt.scope(|s| -> Result<()> {
            let d = s.vector(&mut v)?;
            for _ in 0..10 {
                s.task("scoped").run((d.rw(),), |(v,)| v.iter_mut().for_each(|x| *x += 1))?;
            }
            forget(d);
            Ok(())
        })??;
        drop(v);
        forget(x);
        forget(m);
        forget(sum);
        if round == 1 {
            drop(y);
        }
        drop(rt);
    }
    println!("nothing is missing");
    Ok(())
}
