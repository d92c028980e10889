// SPDX-License-Identifier: LGPL-2.1-or-later
// E0502: a slice that a scope has is not read inside of the scope
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let mut v = vec![1u8; 8];
    rt.scope(|s| -> Result<()> {
        let data = s.vector(&mut v)?;
        println!("{}", v[0]); // wrong
        s.task("k").run((data.rw(),), |(v,)| v[0] = 1)?;
        Ok(())
    })??;
    println!("{}", v[0]);
    Ok(())
}
