// SPDX-License-Identifier: LGPL-2.1-or-later
// E0521: what the program looks at does not leave the call
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    let mut kept = None::<&[u8]>;
    x.with(|x| kept = Some(x))?; // wrong
    kept = Some(&[]);
    let _ = kept;
    Ok(())
}
