/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/switch_aarch64.S - the switch itself (AAPCS64). Saves what a called
 * function must preserve: x19 to x30, d8 to d15, and the control register of
 * floating point.
 */
#if defined(__aarch64__)

        .text

/* void orr_switch_stacks(void **save, void *to) */
        .globl  orr_switch_stacks
        .hidden orr_switch_stacks
        .type   orr_switch_stacks, %function
        .p2align 4
orr_switch_stacks:
        .cfi_startproc
        sub     sp, sp, #176
        stp     x19, x20, [sp, #0]
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
        stp     x25, x26, [sp, #48]
        stp     x27, x28, [sp, #64]
        stp     x29, x30, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        mrs     x9, fpcr
        str     x9, [sp, #160]
        mov     x9, sp
        str     x9, [x0]
        mov     sp, x1
        ldr     x9, [sp, #160]
        msr     fpcr, x9
        ldp     x19, x20, [sp, #0]
        ldp     x21, x22, [sp, #16]
        ldp     x23, x24, [sp, #32]
        ldp     x25, x26, [sp, #48]
        ldp     x27, x28, [sp, #64]
        ldp     x29, x30, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        add     sp, sp, #176
        ret
        .cfi_endproc
        .size   orr_switch_stacks, . - orr_switch_stacks

/* void orr_call_on_stack(void *top, void (*function)(void *), void *arg): calls
 * function(arg) with the stack pointer at `top`, a multiple of 16. The unwinder finds the
 * caller through x29. */
        .globl  orr_call_on_stack
        .hidden orr_call_on_stack
        .type   orr_call_on_stack, %function
        .p2align 4
orr_call_on_stack:
        .cfi_startproc
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x29, sp
        .cfi_def_cfa_register x29
        mov     sp, x0
        mov     x0, x2
        blr     x1
        mov     sp, x29
        ldp     x29, x30, [sp], #16
        .cfi_def_cfa sp, 0
        ret
        .cfi_endproc
        .size   orr_call_on_stack, . - orr_call_on_stack

/* First code of a fiber: calls x19(x20). The unwinder ends here. */
        .globl  orr_switch_start
        .hidden orr_switch_start
        .type   orr_switch_start, %function
        .p2align 4
orr_switch_start:
        .cfi_startproc
        .cfi_undefined x30
        mov     x0, x20
        blr     x19
        brk     #1
        .cfi_endproc
        .size   orr_switch_start, . - orr_switch_start

#endif
#if defined(__linux__)
        .section .note.GNU-stack, "", %progbits
#endif
