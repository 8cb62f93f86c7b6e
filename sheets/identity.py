"""What the code on a sheet says, both ways; it lives with the forms, since the reader needs it and draws nothing."""

from templates.identity import Identity, IdentityError, decode, encode, sheet_id

__all__ = ["Identity", "IdentityError", "decode", "encode", "sheet_id"]
