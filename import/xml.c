/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/xml.c - see xml.h. */
#include "import/xml.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void keep_problem(void *arg, const char *message,
                         xmlParserSeverities severity,
                         xmlTextReaderLocatorPtr locator)
{
    struct xml_file *file = arg;

    (void)severity;
    if (!*file->problem) {
        snprintf(file->problem, sizeof(file->problem), "%s", message);
        file->problem[strcspn(file->problem, "\n")] = '\0';
        file->flow->line =
            (unsigned long)xmlTextReaderLocatorLineNumber(locator);
    }
}

int xml_open(struct flow *flow, int fd, struct xml_file *ret)
{
    *ret = (struct xml_file){.flow = flow, .fd = fd};
    /* gv2gxl writes UTF-8 whatever it declares, and so do the writers of DAX
     * files. */
    ret->reader =
        xmlReaderForFd(fd, NULL, "UTF-8", XML_PARSE_NONET | XML_PARSE_COMPACT);
    if (!ret->reader) {
        close(fd);
        return flow_no_memory(flow);
    }
    xmlTextReaderSetErrorHandler(ret->reader, keep_problem, ret);
    return 0;
}

void xml_close(struct xml_file *file)
{
    if (!file->reader)
        return;
    xmlFreeTextReader(file->reader);
    close(file->fd);
    file->reader = NULL;
}

int xml_next(struct xml_file *file, const char **ret_name, bool *ret_ends)
{
    int rc, type;
    long line;

    do {
        rc = xmlTextReaderRead(file->reader);
        type = rc == 1 ? xmlTextReaderNodeType(file->reader) : 0;
        if (rc == 1 && type == XML_READER_TYPE_DOCUMENT_TYPE)
            return flow_wrong(file->flow, "a document type: such files have "
                                          "none");
    } while (rc == 1 && type != XML_READER_TYPE_ELEMENT &&
             type != XML_READER_TYPE_END_ELEMENT);
    if (rc < 0)
        return flow_wrong(file->flow, "%s",
                          *file->problem ? file->problem : "this is no XML");
    if (rc == 0)
        return 0;
    line = xmlGetLineNo(xmlTextReaderCurrentNode(file->reader));
    file->flow->line = line > 0 ? (unsigned long)line : 0;
    *ret_name = (const char *)xmlTextReaderConstLocalName(file->reader);
    *ret_ends = type == XML_READER_TYPE_END_ELEMENT;
    return 1;
}

char *xml_attribute(struct xml_file *file, const char *name)
{
    return (char *)xmlTextReaderGetAttribute(file->reader,
                                             (const xmlChar *)name);
}

char *xml_text(struct xml_file *file)
{
    return (char *)xmlTextReaderReadString(file->reader);
}
