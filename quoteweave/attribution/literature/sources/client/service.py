"""The HTTP APIs of papers: where they are, how they take a key, and what is to be done about their errors."""

from dataclasses import dataclass

from quoteweave.core.errors import UsageError
from quoteweave.endpoints.address import EndpointAddress, option_or_environment, same_origin

NO_KEY = "none"
"""The key of an `EndpointAddress` to which none is sent."""


@dataclass(frozen=True, slots=True)
class SourceService:
    """An HTTP API of papers, as it is documented."""

    name: str
    """As its users know it."""
    url: str
    url_variable: str
    """The variable of the environment that holds another address, such as a proxy's."""
    key_variable: str
    key_page: str
    """Where a key is to be had."""
    key_header: str = ""
    """The header in which a key is sent; else it is the parameter `key_parameter`."""
    key_parameter: str = ""
    too_fast: frozenset[int] = frozenset({429})
    """The statuses by which it says that it is asked too often."""
    too_often: str = ""
    """What to do about that."""

    def address(self, base_url: str | None = None, api_key: str | None = None) -> EndpointAddress:
        """The address and key given, or those of the environment, or the API's own address without a key.

        The environment's key is sent to the environment's address, or to the API's own where that is not set, and to no
        other machine: addresses may come from a file of somebody else's. Raises UsageError for what is no base URL, and
        for a key that no request can carry.
        """
        own = option_or_environment(None, self.url_variable) or self.url
        url = (base_url or "").strip() or own
        key = option_or_environment(api_key, self.key_variable)
        if key and not (api_key or "").strip() and not same_origin(url, own):
            where = f"{self.url_variable} alone, or to {self.name}"
            return EndpointAddress(url, withheld=f"no key was sent, as {self.key_variable} goes to {where}")
        try:
            return EndpointAddress(url, key or NO_KEY)
        except UsageError as error:
            raise UsageError(f"{error} ({self.name}: {self.url_variable}, {self.key_variable})") from None

    def advice(self, status: int, address: EndpointAddress) -> str:
        """What to do about a refusal, as a sentence."""
        if status in self.too_fast | {401, 403}:
            check = f"Check the key in {self.key_variable}; it may be wrong or no longer valid ({self.key_page})."
            sentences = [self.too_often] * (status in self.too_fast) + [self._without_key(address)]
            sentences += [check] * (status in (401, 403) and address.key != NO_KEY)
            return " ".join(sentence for sentence in sentences if sentence)
        if status == 404:
            return f"Check the address ({self.url_variable})."
        return "Change what is searched for."

    def _without_key(self, address: EndpointAddress) -> str:
        if address.withheld:
            return f"{address.withheld[0].upper()}{address.withheld[1:]}."
        if address.key == NO_KEY:
            return f"No key was sent; set {self.key_variable} to yours, which is free ({self.key_page})."
        return ""
