/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.StarPU;
import java.util.Objects;

/** What test programs share: claims, and tests that each have a run of their own. */
final class Check
{
    private static int failed;

    interface Body
    {
        void run() throws Exception;
    }

    private Check()
    {
    }

    static void that(boolean holds, String claim)
    {
        if (!holds) {
            failed++;
            new AssertionError(claim).printStackTrace();
        }
    }

    static void equal(Object found, Object expected, String claim)
    {
        that(Objects.equals(found, expected), claim + ": " + found + ", not " + expected);
    }

    /** The body throws an exception of that class, whose text has the words. */
    static Throwable thrown(Class<? extends Throwable> type, String words, Body body)
    {
        try {
            body.run();
        } catch (Throwable e) {
            that(type.isInstance(e) && String.valueOf(e.getMessage()).contains(words),
                 e + ", not " + type.getSimpleName() + " with `" + words + "'");
            return e;
        }
        that(false, "no " + type.getSimpleName() + " with `" + words + "'");
        return new Throwable();
    }

    /** A test: a run of its own. */
    static void test(String name, Body body) throws Exception
    {
        int before = failed;

        StarPU.init();
        body.run();
        StarPU.shutdown();
        System.out.println(name + (failed == before ? "" : " FAILED"));
    }

    /** Ends the program. */
    static void end()
    {
        System.exit(failed == 0 ? 0 : 1);
    }
}
