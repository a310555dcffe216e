"""Reads objects of other systems: those of their SDKs and their JSON alike, only the fields that are needed."""

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from quoteweave.core.errors import EndpointBadResponse


class ReadPart(BaseModel):
    """What is read of an object of another system; all else in it is passed over."""

    model_config = ConfigDict(from_attributes=True, extra="ignore")


R = TypeVar("R", bound=ReadPart)


def read_part(kind: type[R], given: object, what: str) -> R:
    """Read an SDK's object, or a mapping. Raises EndpointBadResponse, which names the fields that are wrong."""
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'it'}: {each['msg']}"
            for each in error.errors(include_input=False)[:3]
        )
        raise EndpointBadResponse(f"This is not {what}: {wrong}.") from error
