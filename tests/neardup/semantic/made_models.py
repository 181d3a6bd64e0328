"""Small real models, made on the spot: each word has a vector, and synonyms share one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xxhash

if TYPE_CHECKING:
    from pathlib import Path

    from tokenizers import Tokenizer

SYNONYMS = [
    ("big", "large", "huge"),
    ("quick", "fast", "rapid"),
    ("car", "automobile", "vehicle"),
    ("bought", "purchased", "acquired"),
    ("doctor", "physician", "medic"),
    ("began", "started", "commenced"),
]
OTHERS = """the a my yesterday in town river stone sings slowly under green bridge while seven
quiet violins play near old harbour lights and nobody listens today""".split()
WORDS = [word for group in SYNONYMS for word in group] + OTHERS
DIMENSIONS = 64


def vectors() -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return a vector for [PAD], [UNK], [CLS], [SEP] and each of WORDS, the same in every run."""
    first = {word: group[0] for group in SYNONYMS for word in group}
    rows = [np.zeros(DIMENSIONS)] * 4
    for word in WORDS:
        seed = xxhash.xxh3_64_intdigest(first.get(word, word).encode())
        rows.append(np.random.default_rng(seed).normal(size=DIMENSIONS))
    return np.array(rows, np.float32)


def tokenizer() -> Tokenizer:
    """Return a tokenizer that knows WORDS alone."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    known = {word: row for row, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    made = Tokenizer(models.WordLevel(known, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


def save_static_model(folder: Path) -> Path:
    """Write a model of model2vec."""
    from model2vec import StaticModel

    StaticModel(vectors(), tokenizer(), normalize=True).save_pretrained(folder)
    return folder


def save_transformer(folder: Path, max_tokens: int) -> Path:
    """Write a transformer of sentence-transformers with weights drawn at random."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(7)
    parts = tokenizer()
    marks = [("[CLS]", 2), ("[SEP]", 3)]
    parts.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep")}
    wrapped = PreTrainedTokenizerFast(tokenizer_object=parts, model_max_length=max_tokens, **names)
    config = BertConfig(
        vocab_size=len(WORDS) + 4,
        hidden_size=DIMENSIONS,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=DIMENSIONS,
        max_position_embeddings=max_tokens,
    )
    plain = folder / "plain"
    BertModel(config).save_pretrained(plain)
    wrapped.save_pretrained(plain)
    reader = Transformer(str(plain), max_seq_length=max_tokens)
    whole = SentenceTransformer(modules=[reader, Pooling(DIMENSIONS)], device="cpu")
    whole.save(str(folder / "model"))
    return folder / "model"
