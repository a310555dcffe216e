"""Images of a collection: crops of quotes, each stored once."""

import hashlib

from quoteweave.index.files import ContentFolder, content_key, replacing, stands


class ImageStore(ContentFolder):
    """Images named by their content.

    Images that no stored quote refers to are removed when a writer ends, so put images only while holding the
    collection's writer.
    """

    def put(self, data: bytes, *, suffix: str) -> str:
        """Stores the bytes of an image file, unless they are there already; returns their key, like 'ab/ab12….png'.

        `suffix` is like '.png'. Raises StorageError where the disk is full or refuses, ValueError for another suffix.
        """
        key = content_key(hashlib.sha256(data).hexdigest(), suffix)
        path = self.path(key)
        if not stands(path, len(data)):
            with replacing(path) as file:
                file.write(data)
        return key
