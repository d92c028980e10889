// SPDX-License-Identifier: LGPL-2.1-or-later
// E0277: elements have any pattern of bits
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![true; 8])?; // wrong
    rt.wait_all()?;
    Ok(())
}
