"""The exceptions that plugin code raises and catches."""


class HandlerError(Exception):
    """Raise it in a handler to answer with this text: the failure is meant, not a defect.

    Any other exception is answered in the same way, but its traceback goes to stderr too.
    """


class DefinitionError(TypeError):
    """A plugin, tool or hook is defined wrongly; the text names the mistake."""


class BadInput(Exception):
    """What the host sent does not have the shape that was agreed on."""
