! SPDX-License-Identifier: LGPL-2.1-or-later
! The main of wave_nf.f90.
program wave_main
  use wave_nf
  implicit none
  if (app_main(0_c_int, c_null_ptr) /= 0) error stop 1
end program
