/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/form.h - the forms that data may have, one per sort of device
 * (starpu_multiformat_data_register). Kinds of devices say which is theirs.
 */
#pragma once

enum orr_form {
    ORR_FORM_CPU, /* of main memory, and of devices that have none of their own */
    ORR_FORM_CUDA,
    ORR_FORM_OPENCL,
    ORR_NFORMS
};
