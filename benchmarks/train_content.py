"""Train the model that finds the main content of pages, from pages with human truth.

    python benchmarks/train_content.py PAGES [--folds [--write]] [--check]

PAGES has ``truth.jsonl.gz`` and ``ID.html.gz`` as WCXB has them. A block's label is the share of
its words that the truth has in the same order. With ``--folds`` no model is written: pages are
judged by models that have not seen their sites, beside trafilatura in the same run. The same pages
and versions give the same numbers; ``--check`` says whether they are those of the model that is
shipped.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import catboost
import numpy as np
import trafilatura
from content_net import train_nets
from measuring import named, table, write
from rapidfuzz.distance import LCSseq
from sklearn.linear_model import LogisticRegression
from tldextract import TLDExtract

from crawler.reading.content.block_features import PageFeatures
from crawler.reading.content.block_scoring import FILE, BlockScorer, ContentModel
from crawler.reading.content.blocks import PageBlocks, cut_blocks
from crawler.reading.content.choosing import choose_blocks
from crawler.reading.content.content_text import plain_text
from crawler.reading.content.content_xml import PAGE_TYPES
from crawler.reading.content.main_content import agree, is_doubtful_article, read_article
from crawler.reading.decoding import decode
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MODEL = Path(__file__).resolve().parents[1] / "crawler" / "reading" / "content" / FILE
FOLDS = 5
TREES = 250
DEPTH = 6
SEED = 1

Scores = tuple[float, ...]
"""F1, and the shares of wanted and unwanted snippets that a text has."""

_WORD = re.compile(r"\w+")
_RUN = 5


@dataclass
class Labelled:
    """A page to learn from."""

    kind: str
    site: str
    root: Any
    blocks: PageBlocks
    features: PageFeatures
    labels: Any
    peer: str
    truth: list[str]
    wanted: list[str]
    unwanted: list[str]


def words_of(text: str | None) -> list[str]:
    return _WORD.findall((text or "").lower())


def read_pages(folder: Path, *, compared: bool) -> Iterator[Labelled]:
    """Yield the pages of a folder with their labels, and trafilatura's text if asked to."""
    domains = TLDExtract(suffix_list_urls=())
    with gzip.open(folder / "truth.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        body = gzip.decompress((folder / f"{row['id']}.html.gz").read_bytes())
        root = parse(decode(body, "text/html; charset=utf-8").utf8)
        blocks = cut_blocks(flatten(root))
        url = row["url"] or ""
        site = domains(url).top_domain_under_public_suffix or row["id"]
        yield Labelled(
            row["type"],
            site,
            root,
            blocks,
            PageFeatures(blocks, root),
            labels_of(blocks.texts, row["text"] or ""),
            (trafilatura.extract(body.decode(errors="replace")) or "") if compared else "",
            words_of(row["text"]),
            row["wanted"] or [],
            row["unwanted"] or [],
        )


def labels_of(texts: Sequence[str], truth: str) -> Any:
    """Return the share of each block's words that are content, (blocks,).

    Long blocks count by the runs of five words that they share with the truth, wherever it has
    them; short ones by the longest common subsequence, or where they are a line of the truth.
    """
    blocks = [words_of(text) for text in texts]
    numbers: dict[str, int] = {}
    flat = [numbers.setdefault(word, len(numbers)) for block in blocks for word in block]
    true = [numbers.setdefault(word, len(numbers)) for word in words_of(truth)]
    common = np.zeros(len(flat), bool)
    for step in LCSseq.opcodes(flat, true):
        if step.tag == "equal":
            common[step.src_start : step.src_end] = True
    runs = set(zip(*(true[at:] for at in range(_RUN)), strict=False))
    lines = {" ".join(words_of(line)) for line in truth.split("\n")}
    labels, at = [], 0
    for block in blocks:
        end = at + len(block)
        labels.append(_label(block, flat[at:end], common[at:end], runs, lines))
        at = end
    return np.array(labels)


def _label(
    words: list[str], numbers: list[int], common: Any, runs: set[Any], lines: set[str]
) -> float:
    if not words:
        return 0.0
    share = float(common.mean())
    if len(words) >= 8:
        covered = np.zeros(len(words), bool)
        for at in range(len(words) - _RUN + 1):
            if tuple(numbers[at : at + _RUN]) in runs:
                covered[at : at + _RUN] = True
        if covered.any():
            return float(covered.mean())
        return share if share > 0.9 else share * 0.3
    if share < 1 and " ".join(words) in lines:
        return 1.0
    return share if len(words) > 3 or share == 1 else 0.0


def weights_of(page: Labelled) -> Any:
    """Return what each block counts: its share of the page, and a little for each page's blocks."""
    counts = np.array([len(words_of(text)) for text in page.blocks.texts], dtype=float)
    most = 3 * max(len(page.truth), 1)
    return counts / max(min(counts.sum(), most), 1) + 0.3 / max(len(counts), 1)


class Typing:
    """The part of the model that tells the type of a page: logistic regression."""

    def __init__(self, pages: Sequence[Labelled]) -> None:
        rows = np.array([page.features.page for page in pages], dtype=np.float64)
        self.mean, scale = rows.mean(axis=0), rows.std(axis=0)
        self.scale = np.where(scale > 0, scale, 1.0)
        scaled = np.clip((rows - self.mean) / self.scale, -5, 5)
        kinds = [PAGE_TYPES.index(page.kind) for page in pages]
        learned = LogisticRegression(C=0.05, max_iter=5000).fit(scaled, kinds)
        self.weights = np.concatenate([learned.coef_, learned.intercept_[:, None]], axis=1)

    def part(self) -> dict[str, Any]:
        """Return the fields of ``ContentModel``."""
        named = {"page_mean": self.mean, "page_scale": self.scale, "type_weights": self.weights}
        return {name: np.asarray(value, np.float32) for name, value in named.items()}


def train(pages: Sequence[Labelled], odds: Sequence[Any]) -> ContentModel:
    """Train a model on pages.

    Args:
        pages: Pages to learn from.
        odds: Their ``type_odds`` by models that did not see them.
    """
    rows = np.concatenate(
        [rows_of(page, of_types) for page, of_types in zip(pages, odds, strict=True)]
    )
    labels = np.concatenate([page.labels for page in pages])
    weights = np.concatenate([weights_of(page) for page in pages])
    weights = np.minimum(weights, np.quantile(weights, 0.999))
    learner = catboost.CatBoost(
        {
            "loss_function": "CrossEntropy",
            "iterations": TREES,
            "depth": DEPTH,
            "learning_rate": 0.08,
            "l2_leaf_reg": 5,
            "rsm": 0.1,
            "bootstrap_type": "Bernoulli",
            "subsample": 0.7,
            "border_count": 64,
            "boosting_type": "Plain",
            "random_seed": SEED,
            "thread_count": 2,
            "allow_writing_files": False,
            "verbose": 0,
        }
    )
    weights /= weights.mean()
    learner.fit(catboost.Pool(rows, labels, weight=weights))
    nets = train_nets(rows, labels, weights)
    return ContentModel(**trees_of(learner), **nets, **Typing(pages).part())


def trees_of(learner: Any) -> dict[str, Any]:
    """Return the trees of a learner as the fields of ``ContentModel``."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.json")
        learner.save_model(str(file), format="json")
        stored = json.loads(file.read_text())
    trees = stored["oblivious_trees"]
    features = np.zeros((len(trees), DEPTH), np.int16)
    borders = np.full((len(trees), DEPTH), np.inf, np.float32)
    leaves = np.zeros((len(trees), 1 << DEPTH), np.float32)
    for at, tree in enumerate(trees):
        splits = tree["splits"] or []
        for level, split in enumerate(splits):
            features[at, level] = split["float_feature_index"]
            borders[at, level] = split["border"]
        leaves[at, : len(tree["leaf_values"])] = tree["leaf_values"]
    scale, (bias,) = stored["scale_and_bias"]
    return {
        "features": features,
        "borders": borders,
        "leaves": (leaves * scale).astype(np.float32),
        "bias": np.float32(bias),
    }


def rows_of(page: Labelled, odds: Any) -> Any:
    """Return the rows of a page's blocks, with its page's features and type odds."""
    blocks = page.features.blocks
    whole = np.concatenate([page.features.page, odds])
    return np.concatenate([blocks, np.broadcast_to(whole, (len(blocks), len(whole)))], axis=1)


def folds_of(pages: Sequence[Labelled]) -> Any:
    """Return the number of each page's fold; pages of a site are in one."""
    sites = sorted({page.site for page in pages})
    drawn = np.random.RandomState(0).permutation(len(sites)) % FOLDS
    number = dict(zip(sites, drawn, strict=True))
    return np.array([number[page.site] for page in pages])


def type_odds(pages: Sequence[Labelled], folds: Any) -> list[Any]:
    """Return each page's type odds by a model that was trained on the other folds."""
    found: list[Any] = [None] * len(pages)
    empty = dict.fromkeys(ContentModel._fields, np.zeros((0, 1), np.float32))
    for fold in range(FOLDS):
        part = Typing([page for page, its in zip(pages, folds, strict=True) if its != fold]).part()
        model = ContentModel(**{**empty, **part})
        for at in np.flatnonzero(folds == fold).tolist():
            found[at] = model.type_odds(pages[at].features.page)
    return found


def f1_of(found: list[str], truth: list[str]) -> float:
    """Return the F1 of two bags of words."""
    if not found or not truth:
        return float(not found and not truth)
    return 2 * sum((Counter(found) & Counter(truth)).values()) / (len(found) + len(truth))


def scores(page: Labelled, model: ContentModel, odds: Any) -> tuple[Scores, Scores, Scores]:
    """Return the scores of what is shown of a page, of its chosen blocks, and of trafilatura."""
    whole = np.concatenate([page.features.page, odds])
    likely = BlockScorer(model).content_odds(page.features.blocks, whole)
    chosen = choose_blocks(page.blocks, page.features, likely)
    texts = [page.blocks.texts[at] for at in np.flatnonzero(chosen)]
    peer = scores_of_text(page, page.peer)
    by_blocks = scores_of_text(page, "\n".join(texts))
    its = page.features
    if not is_doubtful_article(odds, its.page, chosen, likely, its.sizes):
        return by_blocks, by_blocks, peer
    article = read_article(page.root, page.blocks, likely)
    if article is None or not agree(article, texts):
        return by_blocks, by_blocks, peer
    return scores_of_text(page, plain_text(article)), by_blocks, peer


def scores_of_text(page: Labelled, text: str) -> Scores:
    """Return F1 and the shares of wanted and unwanted snippets of a text."""
    shares = [
        sum(one.lower() in text.lower() for one in snippets) / len(snippets) if snippets else none
        for snippets, none in ((page.wanted, 1.0), (page.unwanted, 0.0))
    ]
    return f1_of(words_of(text), page.truth), shares[0], shares[1]


def cross_validate(pages: Sequence[Labelled], folds: Any, odds: Sequence[Any]) -> list[str]:
    """Return tables of the figures of pages by models that have not seen their sites."""
    by_kind: dict[str, list[tuple[Scores, Scores, Scores]]] = defaultdict(list)
    for fold in range(FOLDS):
        others = np.flatnonzero(folds != fold).tolist()
        model = train([pages[at] for at in others], [odds[at] for at in others])
        for at in np.flatnonzero(folds == fold).tolist():
            by_kind[pages[at].kind].append(scores(pages[at], model, odds[at]))
        print(f"fold {fold + 1} of {FOLDS} done", file=sys.stderr)
    by_kind["all"] = [row for rows in by_kind.values() for row in rows]
    names = ("shown", "by blocks alone", named("trafilatura"))
    means = {kind: np.mean(rows, axis=0) for kind, rows in sorted(by_kind.items())}
    whole = {
        name: dict(zip(("F1", "wanted", "unwanted"), means["all"][at], strict=True))
        for at, name in enumerate(names)
    }
    by_type = {
        name: {kind: found[at][0] for kind, found in means.items() if kind != "all"}
        for at, name in enumerate(names)
    }
    return [table(whole, f"{len(pages)} pages in folds"), table(by_type, "F1 by type")]


def differences(model: ContentModel) -> Iterable[str]:
    """Yield what differs from the model that is shipped."""
    with np.load(MODEL) as shipped:
        for name in ContentModel._fields:
            if not np.array_equal(shipped[name], getattr(model, name)):
                yield name


def main() -> None:
    """Train, and write the model or say how good it is."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("pages", type=Path)
    parser.add_argument("--folds", action="store_true", help="judge it by folds, write nothing")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md by folds")
    parser.add_argument("--check", action="store_true", help="compare with what is shipped")
    arguments = parser.parse_args()
    pages = list(read_pages(arguments.pages, compared=arguments.folds))
    folds = folds_of(pages)
    odds = type_odds(pages, folds)
    if arguments.folds:
        tables = cross_validate(pages, folds, odds)
        print("\n\n".join(tables))
        if arguments.write:
            how = f"{FOLDS} folds by site: each page is read by a model that has not seen its site."
            write("train_content.py", tables, how)
        return
    model = train(pages, odds)
    if arguments.check:
        sys.exit(f"differs: {', '.join(found)}" if (found := list(differences(model))) else 0)
    with MODEL.open("wb") as file:
        np.savez_compressed(file, **model._asdict())
    print(f"{MODEL.name}: {MODEL.stat().st_size:,} bytes from {len(pages)} pages")


if __name__ == "__main__":
    main()
