/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Secrets on pages of their own.  In front of the text stands how much is
 * mapped and how long it is, so that freeing needs nothing but the pointer.
 * Of a parent's secret a child finds zeros, there as well.
 */
#include "autoconf.h"

#include "secret.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct head {
    size_t mapped;
    size_t length;
};

static struct head *head_of(const char *secret)
{
    return (struct head *)(uintptr_t)(secret - sizeof(struct head));
}

const char *secret_dup(const char *text, size_t length)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t need = sizeof(struct head) + length + 1;
    struct head *head;
    size_t mapped;

    if (length > SIZE_MAX / 2) {
        return NULL;
    }
    mapped = (need + page - 1) / page * page;
    head = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (head == MAP_FAILED) {
        return NULL;
    }
    /* A kernel that cannot keep it out of dumps and children still keeps the
       secret. */
    (void)madvise(head, mapped, MADV_DONTDUMP);
    (void)madvise(head, mapped, MADV_WIPEONFORK);
    head->mapped = mapped;
    head->length = length;
    if (length > 0) {
        memcpy(head + 1, text, length);
    }
    (void)mprotect(head, mapped, PROT_READ);
    return (const char *)(head + 1);
}

size_t secret_length(const char *secret)
{
    return head_of(secret)->length;
}

void secret_free(const char *secret)
{
    struct head *head;
    size_t mapped;

    if (!secret) {
        return;
    }
    head = head_of(secret);
    mapped = head->mapped;
    if (mapped == 0) {
        return; /* a parent's: an empty page is left */
    }
    if (mprotect(head, mapped, PROT_READ | PROT_WRITE) == 0) {
        explicit_bzero(head, mapped);
    }
    munmap(head, mapped);
}

void secret_free_string(char *string)
{
    if (string) {
        explicit_bzero(string, strlen(string));
        free(string);
    }
}
