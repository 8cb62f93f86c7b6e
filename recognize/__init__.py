"""From a photo of a filled-in sheet to a game, its mistakes and what to ask.

The number and mark readers serve any cut-out picture by themselves: `recognize.read_number(image)`,
`recognize.read_mark(image)`, and `read_numbers`, `read_marks` for many in one batch.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recognize.digits import NumberReading, read_number, read_numbers
    from recognize.marks import MarkReading, read_mark, read_marks

__all__ = ["MarkReading", "NumberReading", "read_mark", "read_marks", "read_number", "read_numbers"]


def __getattr__(name: str) -> Any:
    # The nets' runtime takes a while to load, and much here does without it.
    if name not in __all__:
        raise AttributeError(f"module 'recognize' has no attribute {name!r}")
    from recognize import digits, marks

    return getattr(digits, name, None) or getattr(marks, name)
