/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/differ.h - two policies, up to the first decision that differs. One thread. */
#pragma once

#include <jansson.h>

struct session;

/* Runs the program with its own policy and with that one, from the beginning, and says
 * which task is the first that another worker takes, or that is taken in another order;
 * the session stays where it is. As of session.h. */
json_t *differ(struct session *session, const char *policy);
