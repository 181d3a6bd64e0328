#!/usr/bin/env bash
# Two Russian texts about other things are the same to Spark's MinHashLSH, by the tokens of its own guide.
#
# Guess: RegexTokenizer(pattern="\\W"), as the guide of spark.ml has it, splits at what is no letter, digit or underscore,
#   as Python's re and most others do with text: паром is a token, l'été à Besançon is four.
# What happens: the pattern is one of Java, to whom \w is a-z, A-Z, 0-9 and _. Every other letter parts tokens and is gone: of a
#   Russian text the figures are left, of Besançon "besan" and "on". Two texts with the same figures have the distance 0;
#   one without figures has no token, for which MinHashLSH raises. (?U) at the front of the pattern makes it
#   Unicode's. The default pattern, \s+, and SQL's rlike, split and regexp_replace are Java's likewise: a no-break space parts nothing.
# Why it matters: the job runs, and of a Russian, Greek or Chinese corpus what it keeps is one text for each set of figures.
# Version: PySpark 4.3.0, Java 17, Python 3.11. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'pyspark==4.3.0' numpy 2>/dev/null
cd "$folder"
unset SPARK_HOME PYSPARK_PYTHON PYTHONPATH
export SPARK_LOCAL_IP=127.0.0.1 PYTHONIOENCODING=utf-8
venv/bin/python - 2>errors <<'PYTHON' || { tail -n 20 errors; exit 1; }
import pyspark
from pyspark.ml.feature import HashingTF, MinHashLSH, RegexTokenizer
from pyspark.sql import SparkSession

print("PySpark", pyspark.__version__)
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
ferry = "Паром отходит в 8 часов от пристани у рынка, билет стоит 120 рублей"
museum = "Музей закрыт по вторникам, вход с 8 часов, а взрослый платит 120 рублей"
texts = spark.createDataFrame([(1, ferry), (2, museum), (3, "L'été à Besançon")], ["number", "text"])


def told(pattern):
    tokenizer = RegexTokenizer(inputCol="text", outputCol="tokens", pattern=pattern)
    rows = HashingTF(inputCol="tokens", outputCol="features").transform(tokenizer.transform(texts))
    model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=64, seed=1).fit(rows)
    pairs = model.approxSimilarityJoin(rows, rows, 1.1, "distance").where("datasetA.number = 1 AND datasetB.number = 2")
    distances = [round(row.distance, 2) for row in pairs.select("distance").collect()]
    tokens = [row.tokens for row in rows.orderBy("number").collect()]
    print(pattern, tokens[0], tokens[2], "distance of the Russian texts", distances)
    return tokens, distances


tokens, distances = told(r"\W")
assert tokens == [["8", "120"], ["8", "120"], ["l", "t", "besan", "on"]], "the behaviour has changed"
assert distances == [0.0], "the behaviour has changed"
tokens, distances = told(r"(?U)\W")
assert tokens[0][0] == "паром" and tokens[2] == ["l", "été", "à", "besançon"]
assert distances == [] or distances[0] > 0.5
spark.stop()
PYTHON
