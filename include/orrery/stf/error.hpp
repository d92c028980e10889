// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/error.hpp - what a call throws that cannot be done: a sentence that names the
// thing and the remedy.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <orrery/stf/config.hpp>

namespace orrery::stf
{

class error : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

namespace detail
{

[[noreturn]] ORR_STF_COLD inline void fail(const std::string &sentence)
{
    throw error("orrery::stf: " + sentence);
}
[[noreturn]] ORR_STF_COLD inline void fail(const char *sentence)
{
    fail(std::string(sentence));
}

// As printf(): sentences that are put together of strings would be much code, in each
// program. Up to 1000 bytes of it.
[[noreturn]] ORR_STF_COLD ORR_STF_PRINTF inline void
fail_with(const char *format, ...)
{
    char text[1000];
    std::va_list values;

    va_start(values, format);
    std::vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    fail(text);
}

inline void require(bool holds, const char *sentence)
{
    if (!holds)
        fail(sentence);
}

} // namespace detail
} // namespace orrery::stf
