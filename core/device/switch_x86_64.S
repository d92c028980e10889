/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/switch_x86_64.S - the switch itself (System V ABI). Saves what a called
 * function must preserve: six registers and the two floating-point control
 * words. Stacks with control-flow shadows (SHSTK) are not supported.
 */
#if defined(__x86_64__)

        .text

/* void orr_switch_stacks(void **save, void *to) */
        .globl  orr_switch_stacks
        .hidden orr_switch_stacks
        .type   orr_switch_stacks, @function
        .p2align 4
orr_switch_stacks:
        .cfi_startproc
        endbr64
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        subq    $8, %rsp
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        ldmxcsr (%rsp)
        fldcw   4(%rsp)
        addq    $8, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        ret
        .cfi_endproc
        .size   orr_switch_stacks, . - orr_switch_stacks

/* void orr_call_on_stack(void *top, void (*function)(void *), void *arg): calls
 * function(arg) with the stack pointer at `top`, a multiple of 16. The unwinder finds the
 * caller through rbp. */
        .globl  orr_call_on_stack
        .hidden orr_call_on_stack
        .type   orr_call_on_stack, @function
        .p2align 4
orr_call_on_stack:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        movq    %rdi, %rsp
        movq    %rdx, %rdi
        callq   *%rsi
        movq    %rbp, %rsp
        popq    %rbp
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
        .size   orr_call_on_stack, . - orr_call_on_stack

/* First code of a fiber: calls r12(r13). The unwinder ends here. */
        .globl  orr_switch_start
        .hidden orr_switch_start
        .type   orr_switch_start, @function
        .p2align 4
orr_switch_start:
        .cfi_startproc
        .cfi_undefined rip
        endbr64
        movq    %r13, %rdi
        callq   *%r12
        ud2
        .cfi_endproc
        .size   orr_switch_start, . - orr_switch_start

#endif
#if defined(__linux__)
        .section .note.GNU-stack, "", %progbits
#endif
