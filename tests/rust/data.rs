// SPDX-License-Identifier: LGPL-2.1-or-later
//! Data of each layout, whole and in parts, in each mode.
use orrery::*;
use std::process::exit;

fn vectors(rt: &Runtime) -> Result<()> {
    let x = rt.vector(vec![1f32; 1000])?;
    let mut y = rt.vector(vec![2f32; 1000])?;
    x.set_name("x")?;
    for i in 0..100 {
        let a = i as f32;
        rt.task("axpy").run((x.read(), y.rw()), move |(x, y)| {
            for (y, x) in y.iter_mut().zip(x) {
                *y += a * x;
            }
        })?;
    }
    println!("axpy {}", y.with(|y| y.iter().sum::<f32>())?);
    y.with_mut(|y| y[0] = 7.)?;
    rt.task("copy").run((y.read(), x.write()), |(y, x)| x.copy_from_slice(y))?;
    x.prefetch(0)?;
    println!("copied {} {}", x.with(|x| x[0])?, x.into_vec()[999]);
    println!("no memory node: {}", y.prefetch(1000).unwrap_err());
    Ok(())
}

/// Each element is the number of the tile that it is in, and then some.
fn matrices(rt: &Runtime) -> Result<()> {
    let mut m = rt.matrix(vec![0i64; 15 * 8], 15, 8)?;
    {
        let tiles = m.partition((Rows(3), Columns(4)))?;
        println!("tiles {:?}", tiles.counts());
        for i in 0..3 {
            for j in 0..4 {
                let number = (10 * i + j) as i64;
                rt.task("number").run((tiles.tile(i, j).write(),), move |(mut t,)| {
                    for j in 0..t.dims()[1] {
                        t.column_mut(j).fill(number);
                    }
                })?;
            }
        }
    }
    println!("{:?}", m.with(|m| [m[[0, 0]], m[[5, 1]], m[[14, 7]], m.column(2)[14]])?);
    // Planned parts, in turns with the whole.
    let tiles = m.plan((Columns(2), Rows(3)))?;
    for round in 0..3 {
        for tile in tiles.iter() {
            rt.task("add").run((tile.rw(),), move |(mut t,)| {
                let [rows, columns] = t.dims();
                for j in 0..columns {
                    for i in 0..rows {
                        t[[i, j]] += round;
                    }
                }
            })?;
        }
        rt.task("double").run((m.rw(),), |(mut m,)| {
            for j in 0..m.dims()[1] {
                m.column_mut(j).iter_mut().for_each(|x| *x *= 2);
            }
        })?;
        let used = (tiles.tile(1, 2).read(), tiles.tile(0, 0).rw());
        rt.task("across").run(used, |(from, mut to)| to[[0, 0]] += from[[4, 3]])?;
    }
    drop(tiles);
    println!("{:?}", m.with(|m| [m[[0, 0]], m[[5, 1]], m[[14, 7]]])?);
    Ok(())
}

fn blocks(rt: &Runtime) -> Result<()> {
    let mut b = rt.block((0..6 * 4 * 2).collect::<Vec<i32>>(), [6, 4, 2])?;
    let parts = b.partition((Rows(2), Columns(2), Planes(2)))?;
    for part in parts.iter() {
        rt.task("negate").run((part.rw(),), |(mut b,)| {
            let [nx, ny, nz] = b.dims();
            for k in 0..nz {
                for j in 0..ny {
                    for i in 0..nx {
                        b[[i, j, k]] = -b[[i, j, k]];
                    }
                }
            }
        })?;
    }
    let used = (parts.cell(0, 0, 0).read(), parts.cell(1, 1, 1).rw());
    rt.task("corner").run(used, |(a, mut b)| b[[0, 0, 0]] = a[[2, 1, 0]])?;
    drop(parts);
    let b = b.into_vec();
    println!("{} {} {}", b[47], b[3 + 6 * 2 + 24], b.iter().sum::<i32>());
    Ok(())
}

fn reductions(rt: &Runtime) -> Result<()> {
    let sum = rt.variable(5u64)?;
    let most = rt.vector(vec![f64::MIN; 4])?;
    let list = rt.scratch::<u64>(64)?;
    for i in 0..50u64 {
        let used = (sum.reduce(Sum)?, most.reduce(Greatest)?, list.get());
        rt.task("contribute").run(used, move |(sum, most, list)| {
            assert!(list.iter().all(|&x| x == 0));
            list.fill(i);
            *sum += list.iter().sum::<u64>();
            most[(i % 4) as usize] = most[(i % 4) as usize].max(i as f64);
        })?;
    }
    println!("sum {}, most {:?}", sum.with(|s| *s)?, most.with(|m| m.to_vec())?);
    println!("{}", sum.reduce(Product).err().unwrap());
    // In any order.
    let count = rt.variable(0)?;
    for i in 0..40 {
        rt.task("count").run((count.commute(),), move |(n,)| *n += i)?;
    }
    println!("count {}", count.into_inner());
    Ok(())
}

/// Any number of data, more than the library has room for in a task.
fn lists(rt: &Runtime) -> Result<()> {
    let mut v = rt.vector((0..1000u64).collect())?;
    let (few, most) = (rt.variable(0u64)?, rt.variable(0u64)?);
    let parts = v.partition(Blocks(40))?;
    for n in [0, 1, 3, 7, 8, 40] {
        let list: Vec<_> = parts.iter().take(n).map(|part| part.read()).collect();
        let used = (few.rw(), most.rw(), list);
        rt.task("gather").run(used, move |(few, most, list)| {
            assert_eq!(list.len(), n);
            *few += n as u64;
            *most = list.iter().map(|part| part.iter().sum::<u64>()).sum();
        })?;
    }
    let all: Vec<_> = parts.iter().map(|part| part.rw()).collect();
    rt.task("zero").run((all,), |(all,)| {
        for part in all {
            part.fill(0);
        }
    })?;
    let twice = vec![parts.part(0).rw(), parts.part(1).rw(), parts.part(0).rw()];
    println!("{:?}", rt.task("twice").run((twice,), |_| ()).err());
    let last: Vec<_> = (0..12).map(|i| parts.part(i.min(10)).rw()).collect();
    println!("{:?}", rt.task("twice").run((last,), |_| ()).err());
    drop(parts);
    println!("{} {} {}", few.into_inner(), most.into_inner(), v.into_vec().iter().sum::<u64>());
    Ok(())
}

fn scopes(rt: &Runtime) -> Result<()> {
    let mut numbers = vec![3u64; 64];
    let mut total = 0u64;
    let weights: Vec<u64> = (0..64).collect();
    let factor = 7;
    rt.scope(|s| -> Result<()> {
        let mut v = s.vector(&mut numbers)?;
        let (w, t) = (s.lend(&weights)?, s.variable(&mut total)?);
        for part in v.partition(Blocks(4))?.iter() {
            s.task("scale")
                .run((part.rw(),), |(v,)| v.iter_mut().for_each(|x| *x *= factor))?;
        }
        s.task("dot").run((v.read(), w.read(), t.rw()), |(v, w, t)| {
            *t = v.iter().zip(w).map(|(v, w)| v * w).sum();
        })?;
        Ok(())
    })??;
    println!("{} {total}", numbers[63]);
    let failed = rt.scope(|s| s.task("fails").run((), |()| panic!("in a scope")).map(drop));
    println!("{:?}", failed);
    rt.wait_all()?; // the scope has told of it
    Ok(())
}

fn mistakes(rt: &Runtime) -> Result<()> {
    let mut m = rt.matrix(vec![0f32; 16], 4, 4)?;
    println!("{}", rt.task("twice").run((m.read(), m.rw()), |_| ()).err().unwrap());
    rt.task("reads twice").run((m.read(), m.read()), |_| ())?;
    println!("{}", m.plan(Rows(5)).err().unwrap());
    println!("{}", rt.matrix(vec![0f32; 16], 3, 4).err().unwrap());
    println!("{}", rt.vector::<u8>(vec![]).err().unwrap());
    println!("{:?}", m.set_name("a\0b").unwrap_err());
    let (rows, columns) = (m.plan(Rows(2))?, m.plan(Columns(2))?);
    let crossing = (rows.part(0).read(), columns.part(1).rw());
    println!("{:?}", rt.task("crossing").run(crossing, |_| ()).err());
    let whole = (m.rw(), rows.part(0).read());
    println!("{:?}", rt.task("whole").run(whole, |_| ()).err());
    rt.task("apart").run((rows.part(0).rw(), rows.part(1).rw()), |_| ())?;
    drop((rows, columns));
    // Forgotten parts are put together when the whole is used.
    std::mem::forget(m.partition((Rows(2), Columns(2)))?);
    rt.task("whole").run((m.rw(),), |(mut m,)| m[[3, 3]] = 1.)?;
    std::mem::forget(m.plan(Rows(2))?);
    std::mem::forget(m.partition(Rows(2))?);
    println!("{:?}", m.with(|m| m[[3, 3]])?);
    Ok(())
}

fn main() -> Result<()> {
    let rt = match Runtime::new() {
        Err(Error::NoWorkers) => exit(77),
        other => other?,
    };
    vectors(&rt)?;
    matrices(&rt)?;
    blocks(&rt)?;
    reductions(&rt)?;
    lists(&rt)?;
    scopes(&rt)?;
    mistakes(&rt)?;
    let late = rt.vector(vec![1u8; 3])?;
    rt.task("late").run((late.rw(),), |(v,)| v[0] = 9)?;
    drop(rt);
    println!("{:?} {:?}", late.with(|v| v[0])?, late.set_name("no").unwrap_err());
    println!("{:?}", late.into_vec());
    Ok(())
}
