"""The schemas of ``sitegen/schemas``, made from the types of what is read and written."""
