#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# Each thing is decided in one place: where a unit goes, which state a link is
# in. The decision itself has no effect and no memory. Found by reading the
# source, with its comments taken out.
set -u

src=${AFF_SRCDIR:-$(dirname "$0")/..}
. "$src/tests/tap.sh"

# Prints file:line: of each line of driver/*.c that fits, comments left out.
find_code() {
    for file in "$src"/driver/*.c; do
        awk -v pattern="$1" -v name="driver/${file##*/}" '
            {
                line = $0
                if (comment) {
                    if (!sub(/^.*\*\//, "", line)) next
                    comment = 0
                }
                gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
                if (sub(/\/\*.*/, "", line)) comment = 1
            }
            line ~ pattern { print name ":" FNR ":" line }' "$file"
    done
}

calls=$(find_code '(^|[^a-z_])route_choose *[(]' |
    grep -v '^driver/\(route\|place\)\.c:')
empty "only place.c calls route_choose()" "$calls"
has "place.c calls route_choose()" \
    "$(find_code '(^|[^a-z_])route_choose *[(]')" '^driver/place\.c:'

empty "only pool.c sets a link's state" \
    "$(find_code '(^|[^a-z_])(link|l|lk)(->|[.])state *=[^=]' |
        grep -v '^driver/pool\.c:')"

impure='(^|[^a-z_])(malloc|calloc|realloc|free|strdup|strndup|clock_gettime|time|gettimeofday|random|rand|pthread_[a-z_]+|lock_[a-z_]+|log_[a-z_]+|printf|fprintf|fopen|open|read|write|getenv) *[(]'
empty "route.c and balance_*.c do no I/O, read no clock, lock and allocate nothing" \
    "$(find_code "$impure" | grep '^driver/\(route\|balance_[a-z_]*\)\.c:')"
tap_done
