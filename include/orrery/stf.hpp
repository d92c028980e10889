// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * orrery/stf.hpp - sequential task flow in C++17: tasks in the order in which they are
 * submitted, on data that go where they are needed, on a real or a simulated machine.
 * docs/STF.md is the page to start with. Header only; link with liborrery.
 */
#pragma once

#include <orrery/stf/context.hpp>
#include <orrery/stf/run_once.hpp>
#include <orrery/stf/stackable.hpp>
