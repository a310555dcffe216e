"""Changing a collection: uploading, replacing and removing documents, building indexes; each makes a job."""

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from quoteweave.core.errors import StateError, UsageError
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record
from quoteweave.interchange.responses import JobMade, Uploaded
from quoteweave.server.answers.requests import RetrievalChoices
from quoteweave.server.depends import JobsState, ServedState, Writable, Writer
from quoteweave.server.document_pages import no_such_document
from quoteweave.server.jobs.store import MAX_ENDED
from quoteweave.server.jobs.uploads import UploadLimits
from quoteweave.server.json_bodies import JsonRoute
from quoteweave.server.routes.quotes import DocumentName
from quoteweave.server.served import Served

router = APIRouter(tags=["changes"], route_class=JsonRoute)
_FILES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string", "format": "binary"},
    "minItems": 1,
    "description": "the files; one whose name a document has replaces it",
}
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": _FILES,
                        "folder": {
                            "type": "string",
                            "description": "stands, with a slash, before the files' names",
                            "examples": ["reports/2024"],
                        },
                        "metadata": {
                            "type": "string",
                            "examples": ['{"year": "2024"}'],
                            "description": 'a JSON object of texts that the documents get, such as {"year": "2024"}',
                        },
                    },
                }
            }
        },
    }
}


class IndexRequest(Record):
    """Which index to build."""

    retriever: str = Field(max_length=500, description="one that requests may name", examples=["bm25"])
    replace: bool = Field(default=False, description="whether an index made with other settings may be removed")


@router.post(
    "/v1/collections/{collection}/documents",
    summary="Add documents",
    status_code=202,
    responses={200: {"model": Uploaded, "description": "All are there already"}},
    openapi_extra=_UPLOAD,
)
async def add_documents(
    collection: Writable, grant: Writer, served: ServedState, jobs: JobsState, request: Request, response: Response
) -> Uploaded:
    """Add uploaded files as documents; one of a name that a document has replaces it.

    The same files may be sent again: what is there already is left as it is.
    """
    kind, key_limits = request.headers.get("content-type", ""), grant.limits(served.settings)
    limits = UploadLimits(key_limits.max_upload, key_limits.max_upload_request)
    async with jobs.uploads.receive(collection.name, kind, request.stream(), limits) as upload:
        job, unchanged = await run_in_threadpool(jobs.add, collection.name, collection.collection, upload)
    response.status_code = 200 if job is None else 202
    return Uploaded(job=job, unchanged=unchanged)


@router.delete("/v1/collections/{collection}/documents/{document:path}", summary="Remove a document", status_code=202)
def remove_document(collection: Writable, document: DocumentName, served: ServedState, jobs: JobsState) -> JobMade:
    """Remove a document and every trace of it from the collection's folder; or forget a file that could not be read.

    What the server keeps of it outside of that folder stays, and the job's notes say what it is.
    """
    notes = _what_stays(served, collection.name, document)
    try:
        return JobMade(job=jobs.remove(collection.name, collection.collection, document, notes))
    except UsageError as error:
        raise no_such_document(error) from error


def _what_stays(served: Served, collection: str, document: str) -> list[str]:
    notes = [f"the server's list of jobs keeps the document's name until {MAX_ENDED:,} later jobs have ended"]
    try:
        count = served.conversations.count_showing(collection, document)
    except StateError as error:
        return [*notes, f"whether conversations keep what was shown of it is not known: {error}"]
    keep = pluralize(count, "conversation keeps", "conversations keep")
    return [*notes, f"{keep} what was shown of it until they are deleted"] if count else notes


@router.post("/v1/collections/{collection}/indexes", summary="Build an index", status_code=202)
def build_index(collection: Writable, request: IndexRequest, served: ServedState, jobs: JobsState) -> JobMade:
    """Build the index of a retriever, or bring it up to date; only what is missing is encoded."""
    served.answer_settings(collection, RetrievalChoices.model_validate({"retriever": request.retriever}))
    job = jobs.build_index(collection.name, collection.collection, request.retriever, replace=request.replace)
    return JobMade(job=job)
