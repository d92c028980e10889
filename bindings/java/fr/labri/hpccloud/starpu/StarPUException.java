/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

/** What a call refuses, or what a kernel has thrown, which is the cause then. */
public class StarPUException extends Exception
{
    private static final long serialVersionUID = 1;

    public StarPUException()
    {
    }

    public StarPUException(String message)
    {
        super(message);
    }

    public StarPUException(String message, Throwable cause)
    {
        super(message, cause);
    }
}
