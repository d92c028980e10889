/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/test-platforms-refusals.c - what is wrong with a platform file is
 * reported with its line, element, reason and remedy. */
#include "platforms/machine_desc.h"
#include "tests/suite.h"

#include "tests/unit/platform_texts.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct orr_error err;

static int parse(const char *text, struct orr_machine_desc **ret)
{
    return orr_machine_desc_parse("x.xml", text, strlen(text), ret, &err);
}

static const struct {
    const char *text, *expected[3];
} refusals[] = {
    {"", {"x.xml:1:", "empty"}},
    {"hello", {"x.xml:1:", "not well-formed"}},
    {"hello", {"x.xml:1:", "this is no machine"}},
    {"<?xml version='1.0'?>\n<platform version='4.1'><zone id='\xff'/>",
     {"x.xml:2:", "no UTF-8 text", "encoding="}},
    {HEAD, {"x.xml:3:", "not well-formed"}},
    {ZONE "<host id='MAIN' speed='1f'></zone>", {"x.xml:4:", "mismatch"}},
    {"<a/>", {"x.xml:1: <a>:", "unknown element"}},
    {"<platform/>", {"x.xml:1: <platform>:", "version is missing"}},
    {"<platform version='2'/>", {":1: <platform>:", "version 2", "update"}},
    {"<platform version='4.1'/>", {"no host MAIN", "add <host"}},
    {HEAD "<zone id='A' routing='Floyd'/></platform>",
     {":3: <zone>:", "Floyd", "Full"}},
    {HEAD "<zone id='A' routing='Cluster'/></platform>",
     {":3: <zone>:", "Cluster", "Full"}},
    {HEAD "<config><prop id='network/model' value='CM02'/></config></platform>",
     {":3: <prop>:", "network/model", "remove it"}},
    {HEAD "<config>\n<prop id='network/latency-factor' value='0:1;9:2'/>",
     {":4: <prop>:", "latency-factor", "not a decimal"}},
    {HEAD "<config>\n<prop id='network/optim' value='TI'/>",
     {":4: <prop>:", "network/optim", "Full nor Lazy"}},
    {HEAD "<config>\n<prop id='network/bandwidth-factor' value='0'/>",
     {":4: <prop>:", "bandwidth-factor", "not positive"}},
    {HEAD "<config>\n<prop id='network/TCP_gamma' value='-1'/>",
     {":4: <prop>:", "TCP_gamma", "remove it"}},
    {HEAD "<config><prop id='network/crosstraffic' value='0'/>\n"
          "<prop id='network/crosstraffic' value='1'/>",
     {":4: <prop>:", "second property"}},
    {ZONE HOSTS "</zone>\n<config/></platform>",
     {":5: <config>:", "move it before"}},
    {ZONE HOSTS "\n<prop id='a' value='1'/>" END,
     {":5: <prop>:", "after a host or link"}},
    {ZONE GPU GPU_ROUTE "\n<host id='B' speed='1f'/>" END,
     {":5: <host>:", "after a route"}},
    {ZONE GPU GPU_ROUTE "\n<link id='B' bandwidth='1Bps' latency='0s'/>" END,
     {":5: <link>:", "after a route"}},
    {ZONE GPU "<route src='RAM' dst='CUDA0'>\n<link_ctn id='pci_DOWN'/>"
              "</route>" END,
     {":5: <link_ctn>:", "half of a split link", "symmetrical"}},
    {ZONE "<host id='A' power='1f'/>" END,
     {":4: <host>:", "renamed after version 3"}},
    {ZONE "<host id='A' speed='1f' state='ON'/>" END,
     {":4: <host>:", "attribute state"}},
    {ZONE "<link id='l' bandwidth='1Bps'/>" END,
     {":4: <link>: attribute latency"}},
    {ZONE "<host id='A' speed='1kflops'/>" END, {"unknown unit"}},
    {HEAD "<host id='A' speed='1f'/></platform>", {":3: <host>: not allowed"}},
    {HEAD "<zone id='A' routing='Vivaldi'/></platform>",
     {":3: <zone>:", "Vivaldi", "Full"}},
    {HEAD "<zone routing='Full'/></platform>", {":3: <zone>: attribute id"}},
    {HEAD "<zone id='A'/></platform>", {":3: <zone>: attribute routing"}},
    {HEAD "<zone id='A' routing='Full'/><zone id='B' routing='Full'/>",
     {":3: <zone>:", "one zone"}},
    {ZONE HOSTS "\n<zone id='B' routing='Full'/>" END,
     {":5: <zone>:", "inside a zone"}},
    {ZONE "<zone id='B' routing='Full'>" HOSTS "</zone>\n"
          "<host id='CPU0' speed='1f'/>" END,
     {":5: <host>:", "one zone"}},
    {ZONE "\n<cluster id='c'/>" END, {":5: <cluster>:", "not supported"}},
    {ZONE "\n<backbone id='c'/>" END, {":5: <backbone>:", "not supported"}},
    {ZONE "\n<router id='c'/>" END, {":5: <router>:", "write its hosts"}},
    {ZONE "\n<trace_connect/>" END, {":5: <trace_connect>:", "time"}},
    {ZONE "\n<hots id='c'/>" END, {":5: <hots>:", "unknown element"}},
    {ZONE "text" END, {":4:", "text between elements"}},
    {ZONE "<![CDATA[text]]>" END, {":4:", "text between elements"}},
    {ZONE "<host id='A'/>" END, {":4: <host>: attribute speed"}},
    {ZONE "<host speed='1f'/>" END, {":4: <host>: attribute id"}},
    {ZONE "<host id='A' speed='1f' cores='2'/>" END,
     {"attribute cores is not"}},
    {ZONE "<host id='A' speed='1f' core='2'/>" END,
     {"core=\"2\"", "write \"1\""}},
    {ZONE "<host id='A' speed='1f,2f'/>" END, {"is a list"}},
    {ZONE "<host id='A' speed='fast'/>" END, {"not a decimal number"}},
    {ZONE "<host id='A' speed='1 f'/>" END, {"unknown unit", "Gf"}},
    {ZONE "<host id='A' speed='0x1f'/>" END, {"not a decimal number"}},
    {ZONE "<host id='A' speed='nan'/>" END, {"not a decimal number"}},
    {ZONE "<host id='A' speed='1e999f'/>" END, {"too large"}},
    {ZONE HOSTS "<host id='B' speed='0f'/>" END,
     {":4: <host> \"B\"", "positive"}},
    {ZONE HOSTS "<host id='B' speed='-1f'/>" END, {"<host> \"B\"", "positive"}},
    {ZONE HOSTS "\n<host id='RAM' speed='1f'/>" END,
     {":5: <host> \"RAM\"", "second host", "rename"}},
    {ZONE HOSTS "<host id='' speed='1f'/>" END, {"the id is empty"}},
    {ZONE "<host id='RAM' speed='1f'/>" END, {"no host MAIN"}},
    {ZONE "<host id='MAIN' speed='1f'/>" END, {"no host RAM"}},
    {ZONE HOSTS "<host id='CPU1' speed='1f'/>" END,
     {"<host> \"CPU1\"", "no CPU0"}},
    {ZONE HOSTS "<host id='CPU' speed='1f'/>" END, {"a number is expected"}},
    {ZONE HOSTS "<host id='CPU00' speed='1f'/>" END, {"leading zeros"}},
    {ZONE HOSTS "<host id='CUDAx' speed='1f'/>" END, {"a number is expected"}},
    {ZONE HOSTS "<host id='OpenCL99999999999' speed='1f'/>" END,
     {"a number is expected"}},
    {ZONE HOSTS "\n<host id='CUDA0' speed='1f'/>" END,
     {":5: <host> \"CUDA0\"", "no route from RAM nor back", "<route>"}},
    {ZONE GPU "<route src='RAM' dst='CUDA0' symmetrical='NO'>"
              "<link_ctn id='Host'/></route>" END,
     {"\"CUDA0\"", "no route to RAM"}},
    {ZONE GPU "<route src='CUDA0' dst='RAM' symmetrical='NO'>"
              "<link_ctn id='Host'/></route>" END,
     {"\"CUDA0\"", "no route from RAM"}},
    {ZONE HOSTS "<host id='A' speed='1f'>\n<prop id='memsize' value='1GHz'/>"
                "</host>" END,
     {":5: <prop>:", "memsize", "GiB"}},
    {ZONE HOSTS "<host id='A' speed='1f'>\n<prop id='memsize' value='-1GB'/>"
                "</host>" END,
     {":5: <prop>:", "memsize", "not a size"}},
    {ZONE HOSTS "<host id='A' speed='1f'>\n"
                "<prop id='memsize' value='9999999999999999999'/></host>" END,
     {":4: <host> \"A\"", "memsize", "decimal integer"}},
    {ZONE HOSTS "<host id='A' speed='1f'>\n<prop id='memcpy_peer' value='y'/>"
                "</host>" END,
     {":4: <host> \"A\"", "memcpy_peer", "decimal integer"}},
    {ZONE HOSTS "<host id='A' speed='1f'>\n<prop id='package' value='-1'/>"
                "</host>" END,
     {":4: <host> \"A\"", "package", "counted from 0"}},
    {ZONE HOSTS "<host id='A' speed='1f'>\n<prop id='l3' value='8MiB'/>"
                "</host>" END,
     {":4: <host> \"A\"", "l3", "the cache that it shares"}},
    {ZONE HOSTS "<host id='A' speed='1f'><prop id='a' value='1'/>\n"
                "<prop id='a' value='2'/></host>" END,
     {":5: <prop>:", "second property"}},
    {ZONE "<host id='A' speed='1f'><prop id='a'/></host>" END,
     {"<prop>: attribute value"}},
    {ZONE "<host id='MAIN' speed='1f'>\n"
          "<prop id='orrery-cost-sumbit' value='1'/></host>" END,
     {":5: <prop>:", "orrery-cost-sumbit", "submit, submit-per-buffer, push"}},
    {ZONE "<host id='MAIN' speed='1f'>\n"
          "<prop id='orrery-cost-submit' value='1us'/></host>" END,
     {":5: <prop>:", "not a decimal number"}},
    {ZONE "<host id='MAIN' speed='1f'>\n"
          "<prop id='orrery-cost-push' value='-1'/></host>" END,
     {":5: <prop>:", "negative"}},
    {ZONE "<host id='MAIN' speed='1f'>\n"
          "<prop id='orrery-provenance' value='guessed'/></host>" END,
     {":5: <prop>:", "measured or derived"}},
    {ZONE HOSTS "<host id='A' speed='1f'>\n"
                "<prop id='orrery-peak-fp64' value='9.7TB'/></host>" END,
     {":4: <host> \"A\"", "orrery-peak-fp64", "9.7Tf"}},
    {ZONE HOSTS "<host id='A' speed='1f'>\n"
                "<prop id='orrery-memory-bandwidth' value='0GBps'/></host>" END,
     {":4: <host> \"A\"", "orrery-memory-bandwidth", "1555GBps"}},
    {ZONE "<link id='l' latency='1us'/>" END, {"<link>: attribute bandwidth"}},
    {ZONE "<link id='l' bandwidth='1KBps'/>" END, {"unknown unit", "kBps"}},
    {ZONE "<link id='l' bandwidth='1Bps' latency='1y'/>" END,
     {"latency=\"1y\"", "unknown unit", "us"}},
    {ZONE HOSTS "<link id='l' latency='0s' bandwidth='0Bps'/>" END,
     {"<link> \"l\"", "positive"}},
    {ZONE HOSTS "<link id='l' bandwidth='1Bps' latency='-1s'/>" END,
     {"<link> \"l\"", "negative"}},
    {ZONE "<link id='l' bandwidth='1Bps' sharing_policy='WIFI'/>" END,
     {"WIFI", "SPLITDUPLEX"}},
    {ZONE HOSTS "<link id='l' bandwidth='1Bps' latency='0s'/>\n"
                "<link id='l' bandwidth='1Bps' latency='0s'/>" END,
     {":5: <link> \"l\"", "second link"}},
    {ZONE HOSTS "<link id='l' bandwidth='1Bps' latency='0s' "
                "sharing_policy='SPLITDUPLEX'/>"
                "<link id='l_UP' bandwidth='1Bps' latency='0s'/>" END,
     {"<link> \"l\"", "l_UP", "rename"}},
    {ZONE "<link id='l' latency='0s' bandwidth='1Bps' bandwidth_file='f'/>" END,
     {"bandwidth_file"}},
    {ZONE GPU "\n<route src='RAM' dst='GPU'/>" END,
     {":5: <route>:", "dst=\"GPU\"", "no such host"}},
    {ZONE GPU "\n<route src='RAM'/>" END, {":5: <route>:", "dst is missing"}},
    {ZONE GPU "\n<route src='RAM' dst='CUDA0' symmetrical='maybe'/>" END,
     {":5: <route>:", "YES or NO"}},
    {ZONE GPU "\n<route src='RAM' dst='CUDA0'/>" END,
     {":5: <route> \"RAM to CUDA0\"", "no links"}},
    {ZONE GPU GPU_ROUTE "\n<route src='CUDA0' dst='RAM'><link_ctn id='Host'/>"
                        "</route>" END,
     {":5: <route>", "second route", "symmetrical=\"NO\""}},
    {ZONE GPU
     "\n<route src='RAM' dst='CUDA0'>\n<link_ctn id='pcie'/></route>" END,
     {":6: <link_ctn>:", "id=\"pcie\"", "no such link"}},
    {ZONE GPU "\n<route src='RAM' dst='CUDA0'><link_ctn id='pci'/></route>" END,
     {":5: <route>", "split link in no direction"}},
    {ZONE GPU "\n<route src='RAM' dst='CUDA0'><link_ctn id='Host' "
              "direction='UP'/></route>" END,
     {":5: <route>", "not split"}},
    {ZONE GPU "\n<route src='RAM' dst='CUDA0'><link_ctn id='Host' "
              "direction='LEFT'/></route>" END,
     {":5: <link_ctn>:", "UP, DOWN"}},
    {HEAD "<zone id='A' routing='None'>" GPU "\n" GPU_ROUTE END,
     {":4: <route>:", "without routing"}},
    {"<!DOCTYPE platform [\n<!ENTITY a 'b'>\n]><platform version='4.1'/>",
     {"x.xml:2:", "DOCTYPE"}},
    {"<!DOCTYPE platform [\n<!ENTITY a SYSTEM 'file:///etc/passwd'>\n]>"
     "<platform version='4.1'/>",
     {"x.xml:2:", "DOCTYPE"}},
    {"<!DOCTYPE platform [\n<!ATTLIST host speed (1f|2f) '1f'>\n]>"
     "<platform version='4.1'/>",
     {"x.xml:2:", "DOCTYPE"}},
    {"<!DOCTYPE platform SYSTEM 'x.dtd'>\n<platform version='&v;'/>",
     {"x.xml:2:", "entity &v;"}},
    {ZONE "&e;" END, {"x.xml:4:"}},
};

START_TEST(a_refusal_names_line_element_and_reason)
{
    struct orr_machine_desc *desc = NULL;

    ck_assert_int_eq(parse(refusals[_i].text, &desc), -EINVAL);
    ck_assert_ptr_null(desc);
    for (unsigned i = 0; i < 3 && refusals[_i].expected[i]; i++)
        ck_assert_msg(strstr(err.text, refusals[_i].expected[i]),
                      "\"%s\" is not in: %s", refusals[_i].expected[i],
                      err.text);
}
END_TEST

START_TEST(a_route_of_too_many_links_is_refused)
{
    struct orr_machine_desc *desc = NULL;
    char *text = malloc(64000);
    size_t at = (size_t)sprintf(text, "%s",
                                ZONE GPU "<route src='RAM' "
                                         "dst='CUDA0'>");

    for (unsigned i = 0; i < 1000; i++)
        at += (size_t)sprintf(text + at, "<link_ctn id='Host'/>");
    sprintf(text + at, "</route>" END);
    ck_assert_int_eq(parse(text, &desc), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "256 links of a route"));
    free(text);
}
END_TEST

SUITE_MAIN(platforms_refusals)
{
    Suite *suite = suite_create("platforms-refusals");
    TCase *tests = tcase_create("refusals");

    tcase_add_loop_test(tests, a_refusal_names_line_element_and_reason, 0,
                        (int)COUNT(refusals));
    tcase_add_test(tests, a_route_of_too_many_links_is_refused);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
