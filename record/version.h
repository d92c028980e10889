/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record/version.h - the first line of a record: both words, with a blank. */
#pragma once

#define ORR_RECORD_MAGIC   "orrery-record"
#define ORR_RECORD_VERSION "1"
