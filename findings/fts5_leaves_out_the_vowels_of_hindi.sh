#!/usr/bin/env bash
# A search for दिन ("day") in SQLite's FTS5 finds दान ("gift"): of Hindi the usual tokenizer keeps the consonants alone.
#
# Guess: unicode61 takes a word of Hindi for one token, as it takes one of Russian; a script without spaces, such as Chinese,
#   is one token up to the next sign of punctuation.
# What happens: the guess about Chinese holds. Of Hindi, Bengali and Tamil each vowel sign and each virama ends a token
#   and is dropped, since tokens are made of letters, numbers and private characters, and these signs are marks (Mc, Mn).
#   हिन्दी is three tokens: ह, न, द. A quoted word matches every text that has these letters in a row, whatever vowels they carry.
#   remove_diacritics 0, 1 and 2 do not change that; categories 'L* M* N* Co' does.
# Why it matters: the search answers, so nobody sees it; its hits are of other words, and a text's tokens are a handful of
#   letters that stand in every text. Who counts tokens, ranks by them or tells repetitions by them counts consonants.
# Version: SQLite 3.54.1 in apsw 3.54.1.0, Python 3.11; 3.40.1 does the same. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'apsw==3.54.1.0' 2>/dev/null
"$folder/venv/bin/python" - <<'PYTHON'
import apsw

print("SQLite", apsw.sqlite_lib_version())


def table(tokenizer, *texts):
    database = apsw.Connection(":memory:")
    database.execute(f'CREATE VIRTUAL TABLE texts USING fts5(said, tokenize="{tokenizer}")')
    database.executemany("INSERT INTO texts VALUES (?)", [(text,) for text in texts])
    database.execute("CREATE VIRTUAL TABLE tokens USING fts5vocab(texts, instance)")
    return database


def tokens(tokenizer, text):
    rows = table(tokenizer, text).execute("SELECT term FROM tokens ORDER BY offset")
    return [term for term, in rows]


def found(tokenizer, wanted, *texts):
    rows = table(tokenizer, *texts).execute("SELECT said FROM texts WHERE texts MATCH ?", (f'"{wanted}"',))
    return [text for text, in rows]


for usual in ("unicode61", "unicode61 remove_diacritics 0", "unicode61 remove_diacritics 2"):
    print(usual, tokens(usual, "हिन्दी"), found(usual, "दिन", "दान", "मकान"))
    assert tokens(usual, "हिन्दी") == ["ह", "न", "द"], "the behaviour has changed"
    assert found(usual, "दिन", "दान", "मकान") == ["दान"], "the behaviour has changed"
assert tokens("unicode61", "книга о море") == ["книга", "о", "море"]
whole = "unicode61 categories 'L* M* N* Co'"
print(whole, tokens(whole, "हिन्दी"), found(whole, "दिन", "दान", "मकान"))
assert found(whole, "दिन", "दान", "मकान") == [], "the behaviour has changed"
PYTHON
