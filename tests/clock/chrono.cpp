// SPDX-License-Identifier: LGPL-2.1-or-later
// tests/clock/chrono.cpp - C++'s clocks, and its sleep, around a second of the run: ms.
#include <chrono>
#include <cstdio>
#include <thread>

#include <orrery.h>
#include <starpu.h>

template <typename Clock> static void time_it(const char *name)
{
    auto before = Clock::now();

    orrery_usleep(1e6);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::printf("tasks %s %.6f\n", name,
                std::chrono::duration<double, std::milli>(Clock::now() - before)
                    .count());
}

int main()
{
    if (starpu_init(nullptr) != 0)
        return 1;
    time_it<std::chrono::steady_clock>("steady");
    time_it<std::chrono::system_clock>("system");
    time_it<std::chrono::high_resolution_clock>("high");
    starpu_shutdown();
    return 0;
}
