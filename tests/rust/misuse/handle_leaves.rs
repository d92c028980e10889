// SPDX-License-Identifier: LGPL-2.1-or-later
// E0521: data of a scope do not leave it
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let mut v = vec![1u8; 8];
    let mut kept = None::<Borrowed<VectorOf<u8>>>;
    rt.scope(|s| -> Result<()> {
        let data = s.vector(&mut v)?;
        kept = Some(data); // wrong
        Ok(())
    })??;
    drop(kept);
    Ok(())
}
