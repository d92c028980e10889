/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/host.h - names of hosts, which are part of file names, and texts
 * from outside that may be no UTF-8. No state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

/* Bytes of the UTF-8 character at `text`: 1 to 4; 0 when it is none (RFC 3629:
 * no surrogates, nothing longer than needed) or at the end. */
size_t orr_utf8_length(const char *text);

/* Whether all of the text is UTF-8. */
bool orr_is_utf8(const char *text);

/* Whether models and bus parameters can be kept under that name of a host: it
 * leads out of no folder, and other programs can read it. Errors: -EINVAL with a
 * message. */
int orr_host_check(const char *name, struct orr_error *err);
