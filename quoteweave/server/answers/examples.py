"""Worked examples of requests, which the OpenAPI description shows."""

from fastapi.openapi.models import Example

SEARCH_EXAMPLES: dict[str, Example] = {
    "words": {"summary": "A question", "value": {"question": "How much grain was shipped in May?", "k": 5}},
    "narrowed": {
        "summary": "Tables of one document alone",
        "value": {
            "question": "grain by month",
            "filters": {"documents": ["harbour-report.pdf"], "layouts": ["table"]},
        },
    },
}
ANSWER_EXAMPLES: dict[str, Example] = {
    "whole": {"summary": "The whole answer", "value": {"question": "How much grain was shipped in May?"}},
    "streamed": {
        "summary": "As server-sent events",
        "value": {"question": "How much grain was shipped in May?", "stream": True},
    },
    "follow-up": {
        "summary": "A question that follows another",
        "value": {
            "question": "And in June?",
            "history": [
                {"role": "user", "content": "How much grain was shipped in May?"},
                {"role": "assistant", "content": "The harbour shipped 4,210 tonnes of grain in May [1]."},
            ],
        },
    },
    "settings": {
        "summary": "With settings of its own",
        "value": {
            "question": "How much grain was shipped in May?",
            "settings": {"retriever": "bm25", "size": 20, "gate": "drop", "model": "extractive"},
        },
    },
}
