// SPDX-License-Identifier: LGPL-2.1-or-later
//! Many tasks one after the other need no more memory than few.
//! usage: many N
use orrery::*;
use std::{env, fs};

/// Bytes of this process in memory.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn main() -> Result<()> {
    let n: usize = env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let rt = Runtime::new()?;
    let counters = (0..16).map(|_| rt.variable(0u64)).collect::<Result<Vec<_>>>()?;
    let mut after_tenth = 0;
    for i in 0..n {
        let (a, b) = (&counters[i % 16], &counters[(i + 1) % 16]);
        rt.task("count").priority((i % 5) as i32).run((a.rw(), b.read()), |(a, b)| {
            *a += 1 + (b & 1);
        })?;
        if i % 1000 == 999 {
            rt.wait_all()?;
        }
        // Data and labels come and go, too.
        if i % 100 == 0 {
            let short = rt.vector(vec![i; 100])?;
            rt.task("short").label("now and then").run((short.rw(),), |(v,)| v[0] = 0)?;
            let rows = short.plan(Blocks(4))?;
            rt.task("short").run((rows.part(1).read(),), |_| ())?;
        }
        if i == n / 10 {
            after_tenth = resident();
        }
    }
    rt.wait_all()?;
    let after_all = resident();
    assert!(
        after_all < after_tenth + (2 << 20),
        "{after_tenth} bytes after {} tasks, {after_all} after {n}",
        n / 10
    );
    println!("{n} tasks");
    Ok(())
}
