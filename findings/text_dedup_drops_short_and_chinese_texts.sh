#!/usr/bin/env bash
# text-dedup's minhash leaves out two Chinese sentences that no other text repeats, and does not count them.
#
# Guess: what is written holds each text, or another one that is like it. Of short texts, says --help, "all but one" are removed,
#   so that one is left; a sentence of 38 Chinese characters is none of them.
# What happens: texts of fewer than --min_length (5) tokens are taken out before anything is compared, every one of them. Tokens
#   are what lies between characters that are not of words, so that a Chinese text has one token a clause. "Before" and "After" in
#   the log count from there: 3 and 2 for six texts, five of them different. --min_length 0 keeps them.
# Why it matters: it looks like a good run with few duplicates. Of a corpus in Chinese, Japanese or Thai the short pages go, and of
#   any corpus titles, captions and notices. What is left over from a comparison is no list of what is new.
# Version: text-dedup 0.4.0, datasets 5.2.0, Python 3.11. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'text-dedup==0.4.0' 'datasets==5.2.0' 2>/dev/null
cd "$folder"
cat > texts.jsonl <<'JSON'
{"text": "The ferry is late today."}
{"text": "Closed on Sunday"}
{"text": "渡轮早上八点从市场旁边的码头出发，船票在小售票处出售，售票处提前半小时开门。"}
{"text": "博物馆每周二关闭，成人票价为一百二十元，儿童免费入场。"}
{"text": "The museum is closed on Tuesdays, and an adult pays twelve, while children go free when an adult is with them."}
{"text": "The museum is closed on Tuesdays, and an adult pays twelve, while children go free when an adult is with them."}
JSON
venv/bin/pip list 2>/dev/null | grep -E '^(text-dedup|datasets) '
for shortest in 5 0; do
  HF_DATASETS_OFFLINE=1 HF_HOME="$folder/home" venv/bin/python -m text_dedup.minhash --path json --data_files texts.jsonl --split train \
    --cache_dir cache --output "kept$shortest" --column text --num_proc 1 --min_length "$shortest" > "log$shortest" 2>&1
  grep -oE '(Before|After) +: [0-9]+' "log$shortest"
done
HF_HOME="$folder/home" venv/bin/python - <<'PYTHON'
from datasets import load_from_disk

usual, every = (load_from_disk(name)["text"][:] for name in ("kept5", "kept0"))
print("usual", len(usual), [text[:12] for text in usual])
print("--min_length 0", len(every))
assert [text[:10] for text in usual] == ["The ferry ", "The museum"], "the behaviour has changed"
assert len(set(every)) == len(every) == 5, "the behaviour has changed"
PYTHON
