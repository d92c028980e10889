/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/standin/toolkit/cuda/cuda.h - a header of that name is there. */
#pragma once
