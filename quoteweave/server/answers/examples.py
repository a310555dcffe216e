"""Worked examples of requests, which the OpenAPI description shows; the sample documents answer them."""

from fastapi.openapi.models import Example

SEARCH_EXAMPLES: dict[str, Example] = {
    "words": {"summary": "A question", "value": {"question": "How many vessel calls did the port receive?", "k": 5}},
    "narrowed": {
        "summary": "Tables of one document alone",
        "value": {
            "question": "grain by month",
            "filters": {"documents": ["harbour-report.pdf"], "layouts": ["table"]},
        },
    },
}
ANSWER_EXAMPLES: dict[str, Example] = {
    "whole": {"summary": "The whole answer", "value": {"question": "How many vessel calls did the port receive?"}},
    "streamed": {
        "summary": "As server-sent events",
        "value": {"question": "How many vessel calls did the port receive?", "stream": True},
    },
    "follow-up": {
        "summary": "A question that follows another",
        "value": {
            "question": "And in 2022?",
            "history": [
                {"role": "user", "content": "How many vessel calls did the port receive?"},
                {
                    "role": "assistant",
                    "content": "The port received 1,058 vessel calls [1].",
                },
            ],
        },
    },
    "settings": {
        "summary": "With settings of its own",
        "value": {
            "question": "How many vessel calls did the port receive?",
            "settings": {"retriever": "bm25", "size": 20, "gate": "drop", "model": "extractive"},
        },
    },
}
