// SPDX-License-Identifier: LGPL-2.1-or-later
// E0277: nobody else implements layouts
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    struct Mine;
    impl Layout for Mine {} // wrong
    rt.wait_all()?;
    Ok(())
}
