/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * In which encoding psqlODBC takes the texts of its narrow functions (tried on
 * 13.02): it hands the instance, as client_encoding, what PGCLIENTENCODING
 * says, else what stands behind the '.' in the name of the locale that the
 * environment names, whatever the program has set; the instance knows the
 * names of PostgreSQL's own list, however they are punctuated.  With another
 * name, or none, bytes are the instance's as they are.
 */
#include "autoconf.h"

#include <ctype.h>
#include <locale.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "inner_psqlodbc.h"
#include "text.h"

/* PostgreSQL's names and iconv's; its letters and digits are all that counts
   of one. */
static const struct {
    const char *name, *iconv;
} encodings[] = {
    { "abc", "CP1258" },             { "alt", "CP866" },
    { "big5", "BIG5" },              { "euccn", "EUC-CN" },
    { "eucjp", "EUC-JP" },           { "euckr", "EUC-KR" },
    { "euctw", "EUC-TW" },           { "gb18030", "GB18030" },
    { "gbk", "GBK" },                { "iso88591", "ISO-8859-1" },
    { "iso885910", "ISO-8859-10" },  { "iso885913", "ISO-8859-13" },
    { "iso885914", "ISO-8859-14" },  { "iso885915", "ISO-8859-15" },
    { "iso885916", "ISO-8859-16" },  { "iso88592", "ISO-8859-2" },
    { "iso88593", "ISO-8859-3" },    { "iso88594", "ISO-8859-4" },
    { "iso88595", "ISO-8859-5" },    { "iso88596", "ISO-8859-6" },
    { "iso88597", "ISO-8859-7" },    { "iso88598", "ISO-8859-8" },
    { "iso88599", "ISO-8859-9" },    { "johab", "JOHAB" },
    { "koi8", "KOI8-R" },            { "koi8r", "KOI8-R" },
    { "koi8u", "KOI8-U" },           { "latin1", "ISO-8859-1" },
    { "latin10", "ISO-8859-16" },    { "latin2", "ISO-8859-2" },
    { "latin3", "ISO-8859-3" },      { "latin4", "ISO-8859-4" },
    { "latin5", "ISO-8859-9" },      { "latin6", "ISO-8859-10" },
    { "latin7", "ISO-8859-13" },     { "latin8", "ISO-8859-14" },
    { "latin9", "ISO-8859-15" },     { "mskanji", "CP932" },
    { "shiftjis", "CP932" },         { "sjis", "CP932" },
    { "tcvn", "CP1258" },            { "tcvn5712", "CP1258" },
    { "uhc", "UHC" },                { "vscii", "CP1258" },
    { "win", "CP1251" },             { "win1250", "CP1250" },
    { "win1251", "CP1251" },         { "win1252", "CP1252" },
    { "win1253", "CP1253" },         { "win1254", "CP1254" },
    { "win1255", "CP1255" },         { "win1256", "CP1256" },
    { "win1257", "CP1257" },         { "win1258", "CP1258" },
    { "win866", "CP866" },           { "win874", "CP874" },
    { "win932", "CP932" },           { "win936", "GBK" },
    { "win949", "UHC" },             { "win950", "BIG5" },
    { "windows1250", "CP1250" },     { "windows1251", "CP1251" },
    { "windows1252", "CP1252" },     { "windows1253", "CP1253" },
    { "windows1254", "CP1254" },     { "windows1255", "CP1255" },
    { "windows1256", "CP1256" },     { "windows1257", "CP1257" },
    { "windows1258", "CP1258" },     { "windows866", "CP866" },
    { "windows874", "CP874" },       { "windows932", "CP932" },
    { "windows936", "GBK" },         { "windows949", "UHC" },
    { "windows950", "BIG5" },
};

/* Is there a locale of this name?  glibc takes its lock of locales to tell,
   which a child that is forked meanwhile finds locked for ever, and hangs on at
   exit (p11-kit frees a locale there).  So it is asked when the name is another
   than the last time, and not for each link. */
static bool is_locale(const char *name)
{
    static _Atomic uint64_t latest; /* a hash of its name; bit 0: it is there */
    uint64_t hash = text_hash(TEXT_HASH, name, strlen(name)) | 1;
    uint64_t before = atomic_load(&latest);
    locale_t locale;

    if ((before | 1) == hash) {
        return before & 1;
    }
    locale = newlocale(LC_CTYPE_MASK, name, (locale_t)0);
    if (locale) {
        freelocale(locale);
    }
    atomic_store(&latest, locale ? hash : hash - 1);
    return locale != (locale_t)0;
}

const char *
inner_psqlodbc_codeset(const struct environment *environment)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    const char *name = NULL, *dot;

    for (int i = 0; i < 3 && (!name || !*name); i++) {
        name = environment_value(environment, names[i]);
    }
    dot = name ? strchr(name, '.') : NULL;
    return dot && is_locale(name) ? dot + 1 : NULL;
}

/* Is it the name, but for what stands between its letters and digits? */
static bool is_name(const char *said, const char *name)
{
    for (; *said; said++) {
        if (!isalnum((unsigned char)*said)) {
            continue;
        }
        if (tolower((unsigned char)*said) != *name) {
            return false;
        }
        name++;
    }
    return !*name;
}

const char *inner_psqlodbc_narrow_encoding(void)
{
    const char *said = environment_value(NULL, "PGCLIENTENCODING");

    if (!said) {
        said = inner_psqlodbc_codeset(NULL);
    }
    for (size_t i = 0; said && i < sizeof encodings / sizeof *encodings; i++) {
        if (is_name(said, encodings[i].name)) {
            return encodings[i].iconv;
        }
    }
    return NULL;
}
