"""Makes retrievers by name, for the command line, configuration files and HTTP; code passes objects.

The names are described in `spec.py`. The short name of a retriever selects the index that was built with it: `minilm`
finds that of `minilm=PATH`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType

from quoteweave.collection.collection import Collection
from quoteweave.collection.stores.generations import read_plan
from quoteweave.core.errors import UsageError, by_setting
from quoteweave.core.protocols import Encoder, ImageProvider, Retriever, ScoresPages
from quoteweave.endpoints.connection import RetryOptions
from quoteweave.models.checkpoints import Hardware
from quoteweave.models.loading import make_shared
from quoteweave.retrievers.catalogue import catalogue, published_row
from quoteweave.retrievers.fusion import FUSION_RULES, FusedRetriever, SplitHybrid, checked_weights
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.pages.page_fusion import PageFusion
from quoteweave.retrievers.sparse import Bm25Retriever, TfidfRetriever
from quoteweave.retrievers.spec import (
    RetrieverSpec,
    parse_spec,
    unknown_name_error,
    unknown_suffix_error,
    with_suffixes,
)
from quoteweave.retrievers.terms.terms import Terms


def resolve_built_spec(text: str, collection: Collection, notify: Callable[[str], None] = lambda _: None) -> str:
    """Return the spec of the built index that a single retriever's spec selects; `text` itself where none matches.

    An index matches if it agrees with every part that `text` gives; parts that `text` leaves open may be anything.
    Matches that differ in the checkpoint alone are preferred. `notify` is called when another spec than `text` is used.
    Raises UsageError, which lists them, where several match.
    """
    spec = parse_spec(text)
    # A spec that names its checkpoint or its endpoint's address is no short name.
    is_complete = spec.checkpoint is not None or spec.url is not None
    # The plan names the spec of a damaged index too: else another one would be used in its place.
    plans = [] if is_complete else [read_plan(state) for state in collection.indexes()]
    built = {plan.spec for plan in plans if plan is not None}
    if not built or str(spec) in built:
        return text
    fitting = [built_spec for built_spec in map(parse_spec, sorted(built)) if _fits_spec(built_spec, spec)]
    same_but_checkpoint = [
        built_spec for built_spec in fitting if built_spec.model_copy(update={"checkpoint": None}) == spec
    ]
    chosen = same_but_checkpoint or fitting
    if not chosen:
        return text
    if len(chosen) > 1:
        raise UsageError(f"{text!r} may mean one of several indexes; name one of them: {', '.join(map(str, chosen))}")
    notify(f"{text}: the index {chosen[0]} is used, which was built under that name")
    return str(chosen[0])


def _fits_spec(built: RetrieverSpec, wanted: RetrieverSpec) -> bool:
    # The address that text is sent to is never taken from a collection, which somebody else may have built.
    if built.url != wanted.url or built.endpoint != wanted.endpoint:
        return False
    settings = wanted.model_dump(exclude_none=True, exclude_defaults=True)
    return all(getattr(built, field) == value for field, value in settings.items())


DEFAULT_RETRIEVER = "lexical"
SPARSE_RETRIEVERS: Mapping[str, Callable[[Collection], Retriever]] = MappingProxyType(
    {"lexical": LexicalRetriever, "bm25": Bm25Retriever, "tfidf": TfidfRetriever}
)
# MMDocRAG (arXiv 2505.16470), section 4.8: BGE, Qwen3-Embedding-0.6B, BM25 and E5.
ENSEMBLE = ("bge", "qwen3-embedding-0.6b", "bm25", "e5")
PAGE_FUSION = "pages"
"""The fusion rule that adds other retrievers' scores to the evidence for pages."""
ENDPOINT = "openai"
ENDPOINT_BATCH_SIZE = 32  # texts in a request
# Any checkpoint that sentence-transformers can load, by path.
ANY_CHECKPOINT = "sentence-transformers"


def _silent(line: str) -> None:
    """Discard the message."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that retrievers are built with, besides their specs.

    Fields:
        hardware: device, batch size and number type of models on this machine
        pictures: page and crop images for visual encoders
        notify: called with a sentence on what text is sent where
        retry_options: timeouts and retries for endpoints
        terms: terms of a field that `lexical` searches by
        synonyms: whether `lexical` searches for synonyms of words that no page has
    """

    hardware: Hardware = field(default_factory=Hardware)
    pictures: ImageProvider | None = None
    notify: Callable[[str], None] = _silent
    retry_options: RetryOptions = field(default_factory=RetryOptions)
    terms: tuple[Terms, ...] = ()
    synonyms: bool = True


def retriever_names() -> list[str]:
    """Names of all single retrievers; `A+B`, of a text and a visual one, is a hybrid of the two."""
    return [*SPARSE_RETRIEVERS, *catalogue(), "ensemble", f"{ENDPOINT}:MODEL", f"{ANY_CHECKPOINT}=PATH"]


def member_specs(spec: str) -> list[str]:
    """Split a spec into those of single retrievers: both of a hybrid, all of the ensemble, else the spec itself."""
    if spec.strip() == "ensemble":
        return list(ENSEMBLE)
    # A path may contain a plus sign; one that joins a hybrid has the name of a known retriever on both sides.
    for match in re.finditer(r"\+", spec):
        parts = [spec[: match.start()], spec[match.end() :]]
        if all(_is_known(part) for part in parts):
            return parts
    return [spec]


def make_retriever(spec: str, collection: Collection, resources: Resources | None = None) -> Retriever:
    """Build the retriever that a spec names over a collection; no model is loaded yet.

    A short name selects the index that was built under it (`resolve_built_spec`). Raises UsageError for a spec that
    cannot be parsed, names no retriever, fits several indexes, or pairs two retrievers of one modality, and for terms
    that the retriever does not use.
    """
    resources = resources or Resources()
    retriever = _build(spec, collection, resources)
    _check_terms([spec], resources)
    return retriever


def _build(text: str, collection: Collection, resources: Resources) -> Retriever:
    parts = member_specs(text)
    retrievers = [_build_single(part, collection, resources) for part in parts]
    if len(parts) == 1:
        return retrievers[0]
    if parts == list(ENSEMBLE):
        return FusedRetriever(retrievers, names=parts)
    visual = [_reads_pictures(part) for part in parts]
    if sum(visual) != 1:
        raise UsageError(
            f"{text!r} pairs two retrievers of {'pictures' if all(visual) else 'text'}; a hybrid takes one of each. "
            "To fuse any retrievers, name each by itself",
            remedy=by_setting("give {} once for each", "retriever"),
        )
    first, second = retrievers
    return SplitHybrid(text=second, visual=first) if visual[0] else SplitHybrid(text=first, visual=second)


def make_fused(
    texts: Sequence[str], fusion: str | None, collection: Collection, resources: Resources | None = None
) -> Retriever:
    """Build one retriever from several specs, fused by a rule such as `rrf` or `scores:0.7,0.3`.

    A single spec without a rule gives its retriever as it is. The default rule is `pages` where exactly one retriever
    scores pages, as `lexical` does, else `rrf`. Raises UsageError for an unknown rule, or one that does not fit, for
    weights that are not one positive number per retriever, and for terms that none of the retrievers uses.
    """
    resources = resources or Resources()
    retrievers = [_build(text, collection, resources) for text in texts]
    _check_terms(texts, resources)
    if len(retrievers) == 1 and fusion is None:
        return retrievers[0]
    page_scorers = [retriever for retriever in retrievers if isinstance(retriever, ScoresPages)]
    name, _, weight_text = (fusion or (PAGE_FUSION if len(page_scorers) == 1 else "rrf")).partition(":")
    try:
        numbers = [float(weight) for weight in weight_text.split(",")] if weight_text else None
        weights = checked_weights(numbers, len(retrievers))
    except ValueError:
        name = ""
    if name in FUSION_RULES:
        return FusedRetriever(retrievers, FUSION_RULES[name], weights=weights, names=texts)
    if name != PAGE_FUSION:
        raise UsageError(
            f"{fusion!r} is no rule of fusion; write {', '.join([PAGE_FUSION, *FUSION_RULES])}, with weights as in "
            "scores:0.7,0.3"
        )
    if len(page_scorers) != 1:
        raise UsageError(
            f"{PAGE_FUSION} fuses the evidence for pages with other retrievers; name lexical once, and others"
        )
    first = retrievers.index(page_scorers[0])
    other_positions = [at for at in range(len(retrievers)) if at != first]
    return PageFusion(
        page_scorers[0],
        [retrievers[at] for at in other_positions],
        names=[texts[at] for at in other_positions],
        weights=[weights[at] for at in (first, *other_positions)],
    )


def with_published_suffixes(text: str, *, of_text: Sequence[str], of_pictures: Sequence[str]) -> str:
    """Add suffixes to each single retriever of a spec, by what it reads, except where it has one of the same kind.

    Raises UsageError if a suffix names a published experiment that did not have the retriever.
    """
    specs = [
        with_suffixes(parse_spec(part), of_pictures if _reads_pictures(part) else of_text)
        for part in member_specs(text)
    ]
    for spec in specs:
        if spec.experiment is not None:
            published_row(spec.experiment, spec.name)
    return "+".join(map(str, specs))


def make_encoder_for(spec: RetrieverSpec, resources: Resources) -> Encoder:
    """Build the encoder that a spec names. Raises UsageError for an unknown name."""
    hardware = resources.hardware.model_copy(update={"dtype": spec.dtype}) if spec.dtype else resources.hardware
    published = published_row(spec.experiment, spec.name) if spec.experiment else None
    if spec.name == ENDPOINT and spec.endpoint:
        return _endpoint_encoder(spec.endpoint, spec, resources)
    if spec.prefixes or spec.input_types or spec.query_model or spec.dimensions:
        raise UsageError(
            f"'{spec}': @as:, @input_type, @queries: and @{spec.dimensions or 256}d are for {ENDPOINT}:MODEL; "
            f"{spec.name} has its own"
        )
    from quoteweave.retrievers.encoders import make_encoder, row_for_path

    if spec.name == ANY_CHECKPOINT and spec.checkpoint:
        return make_shared(make_encoder, row_for_path(spec.checkpoint), hardware, spec.checkpoint)
    if spec.name not in catalogue() or spec.endpoint or spec.url:
        raise _unknown(spec.name)
    return make_shared(make_encoder, published or catalogue()[spec.name], hardware, spec.checkpoint)


def _endpoint_encoder(model: str, spec: RetrieverSpec, resources: Resources) -> Encoder:
    from quoteweave.endpoints.embeddings import EmbeddingsClient
    from quoteweave.retrievers.encoders.endpoint import EndpointEncoder

    if spec.prefixes is not None and spec.prefixes not in catalogue():
        raise unknown_name_error("model", spec.prefixes, catalogue())
    row = catalogue()[spec.prefixes] if spec.prefixes else None
    at_once = resources.hardware.batch_size or ENDPOINT_BATCH_SIZE
    make_client = partial(
        EmbeddingsClient, base_url=spec.url, batch_size=at_once, dimensions=spec.dimensions, **resources.retry_options
    )
    query_type, passage_type = spec.input_types or (None, None)
    encoder = EndpointEncoder(
        make_client(model, input_type=passage_type),
        query_client=make_client(spec.query_model or model, input_type=query_type),
        query_prefix=row.query_prefix if row else "",
        passage_prefix=row.passage_prefix if row else "",
        notify=resources.notify,
    )
    resources.notify(f"text of questions and quotes is sent to {encoder.destination}")
    return encoder


def _build_single(text: str, collection: Collection, resources: Resources) -> Retriever:
    spec = _parse_checked(text)
    if spec.name not in SPARSE_RETRIEVERS:
        spec = parse_spec(resolve_built_spec(text, collection, resources.notify))
    if spec.name in SPARSE_RETRIEVERS:
        if spec != RetrieverSpec(name=spec.name):
            raise UsageError(f"{text!r}: {spec.name} has neither checkpoints nor kinds of index; write {spec.name}")
        if spec.name == "lexical":
            return LexicalRetriever(collection, terms=resources.terms, synonyms=resources.synonyms)
        return SPARSE_RETRIEVERS[spec.name](collection)
    from quoteweave.retrievers.vector import VectorRetriever

    return VectorRetriever(collection, make_encoder_for(spec, resources), spec=spec, pictures=resources.pictures)


def _check_terms(texts: Sequence[str], resources: Resources) -> None:
    """Raise UsageError for terms that no retriever uses: they would be ignored silently."""
    if resources.terms and not any(parse_spec(part).name == "lexical" for text in texts for part in member_specs(text)):
        raise UsageError(
            f"terms are what the retriever lexical searches by, and there is {', '.join(texts)} alone: "
            "name lexical too, or leave out the terms"
        )


def _is_known(text: str) -> bool:
    name = re.split(r"[@=:]", text.strip(), maxsplit=1)[0]
    return name in SPARSE_RETRIEVERS or name in catalogue() or name in (ENDPOINT, ANY_CHECKPOINT)


def _parse_checked(text: str) -> RetrieverSpec:
    """Parse a spec. Raises UsageError where the text after the last `@` must be a misspelt suffix: no path ends so."""
    spec = parse_spec(text)
    path, at, suffix = (spec.checkpoint or "").rpartition("@")
    if at and "/" not in suffix and not Path(f"{path}@{suffix}").expanduser().exists():
        raise unknown_suffix_error(text, suffix)
    return spec


def _reads_pictures(text: str) -> bool:
    row = catalogue().get(parse_spec(text).name)
    return row is not None and row.reads == "image"


def _unknown(name: str) -> UsageError:
    # For a hybrid, name the part that is unknown.
    parts = [part for part in name.split("+") if not _is_known(part)]
    return unknown_name_error("retriever", parts[0] if parts else name, retriever_names())
