#!/bin/sh
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# driver/config.def, odbc.ini.sample and README's table of keywords agree:
# the same keywords with the same defaults, and the sample says of each when to
# change it. In README a row is `| Keyword | default | meaning |`; a keyword
# without a default says so in words (none, required) or leaves it empty.
set -u

cd "${AFF_SRCDIR:-$(dirname "$0")/..}" || exit 1
. ./tests/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# keyword, default and help of each row, tabs between
sed -nE 's/^CONFIG_(FLEET|SESSION)\( *[A-Z]+, *[a-z_]+, *"([^"]*)", *"([^"]*)",.*"([^"]*)"\)$/\2\t\3\t\4/p' \
    driver/config.def >"$work/rows"
is "every row of config.def is understood here" \
    "$(wc -l <"$work/rows")" "$(grep -Ec '^CONFIG_(FLEET|SESSION)\(' driver/config.def)"
[ -s "$work/rows" ] && [ -r odbc.ini.sample ]
is "there are rows and a sample to compare" "$?" 0

# The sample: the line above a keyword says when to change it; a keyword stands
# behind ; at its default, or without ; where it must be given.
awk '
    /^;?[A-Za-z]+ *=/ {
        word = $0
        sub(/^;/, "", word)
        value = word
        sub(/ *=.*/, "", word)
        sub(/^[^=]*= */, "", value)
        sub(/ +$/, "", value)
        print word "\t" (/^;/ ? value : "(given)") "\t" above
    }
    { above = $0; sub(/^# */, "", above) }' odbc.ini.sample >"$work/sample"

tab=$(printf '\t')
while IFS="$tab" read -r line; do
    word=${line%%"$tab"*}
    rest=${line#*"$tab"}
    default=${rest%%"$tab"*}
    help=${rest#*"$tab"}
    case $word in
        Instances) wanted="$word$tab(given)$tab$help" ;;
        *) wanted="$word$tab$default$tab$help" ;;
    esac
    is "odbc.ini.sample has $word at its default, and when to change it" \
        "$(grep -F "$word$tab" "$work/sample" | grep "^$word$tab")" "$wanted"
    # the default's cell without quotes and unit; nothing in words is nothing
    cell=$(sed -nE "s/^\\| *\`?$word\`? *\\|([^|]*)\\|.*/\\1/p" README.md |
        tr -d '`,"' | sed -E 's/^ *//; s/( ms)? *$//')
    case $default$cell in
        none | required | - | — | –) cell=$default ;; # of an empty default
    esac
    if ! grep -Eq "^\\| *\`?$word\`? *\\|" README.md; then
        fail "README's table has $word" "no row \`| $word | … |\`"
    else
        is "README's table has $word at its default" "$cell" "$default"
    fi
done <"$work/rows"

is "odbc.ini.sample has what does not work yet under its heading, and no more" \
    "$(sed -n '/^# ---- Keywords of later/,$ s/^;\([A-Za-z]*\) =.*/\1/p' \
        odbc.ini.sample | LC_ALL=C sort | tr '\n' ' ')" \
    "$(awk -F '\t' '$3 ~ /^Not yet/ { print $1 }' "$work/rows" |
        LC_ALL=C sort | tr '\n' ' ')"

cut -f 1 "$work/rows" | LC_ALL=C sort >"$work/words"
empty "odbc.ini.sample has no other keyword" \
    "$(cut -f 1 "$work/sample" | grep -vxF -e Driver -e Description |
        LC_ALL=C sort | LC_ALL=C comm -23 - "$work/words")"
empty "odbc.ini.sample has no keyword twice" \
    "$(cut -f 1 "$work/sample" | LC_ALL=C sort | uniq -d)"
tap_done
