"""The docstrings of the package, as the site shows them: a section "Example" is code, and no note."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^Example:$", re.MULTILINE)


class Examples(griffe.Extension):
    """Names the sections with examples as Google's style has them."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Renames the section of one docstring."""
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub("Examples:", obj.docstring.value)
