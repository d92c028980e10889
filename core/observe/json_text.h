/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/json_text.h - texts of the application in JSON. No state. */
#pragma once

#include "core/base/out.h"

/* Writes the text in quotation marks, null for NULL. Its characters
 * are those of core/base/shown.h. */
void orr_put_json(struct orr_out *out, const char *text);

/* The same to a file. */
void orr_json_text(FILE *file, const char *text);
