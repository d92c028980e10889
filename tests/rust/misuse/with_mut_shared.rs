// SPDX-License-Identifier: LGPL-2.1-or-later
// E0596: data are changed by who has them alone
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    x.with_mut(|x| x[0] = 1)?; // wrong
    x.with(|x| x[0])?;
    Ok(())
}
