// SPDX-License-Identifier: LGPL-2.1-or-later
// E0597: a scope borrows what outlives it
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    rt.scope(|s| -> Result<()> {
        let mut v = vec![1u8; 8];
        let data = s.vector(&mut v)?; // wrong
        v[0] = 1;
        let _ = s;
        Ok(())
    })??;
    Ok(())
}
