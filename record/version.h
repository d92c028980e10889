/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/version.h - the first line of a record: both words, with a blank; of one in
 * the compact form a third one.
 */
#pragma once

#define ORR_RECORD_MAGIC   "orrery-record"
#define ORR_RECORD_VERSION "1"
#define ORR_RECORD_BINARY  "binary"

/* How names of files end that are written so. */
#define ORR_RECORD_BINARY_EXTENSION ".recb"
