"""The errors that stopwise raises: one root, and bad arguments are also ``ValueError``."""


class StopwiseError(Exception):
    """Root of every error that stopwise raises on purpose."""


class BadArgument(StopwiseError, ValueError):
    """An argument was refused. The message names it, says what was given and what is allowed."""

    def __init__(self, name: str, given: object, allowed: str, hint: str = "") -> None:
        self.name, self.given, self.allowed, self.hint = name, given, allowed, hint
        super().__init__(f"{name}: got {given!r}; allowed: {allowed}.{' ' + hint if hint else ''}")

    def renamed(self, name: str) -> "BadArgument":
        """The same refusal, of an argument that is known by another name further up."""
        return BadArgument(name, self.given, self.allowed, self.hint)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.name, self.given, self.allowed, str(self)))


class NotDefined(StopwiseError, ValueError):
    """This problem is not solved for this family; the message says why and what to use instead."""


class MissingVerb(StopwiseError, TypeError):
    """A value was used where its type has not registered the verb that is needed."""

    def __init__(self, verb: str, value: object) -> None:
        kind = type(value).__name__
        super().__init__(
            f"{verb}: no implementation for {kind}; register one with @{verb}.register({kind}) "
            "(verbs: in stopwise.families.verbs, stopwise.problems.verbs, stopwise.sampling.verbs, "
            "stopwise.stopping.verbs)."
        )

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_plain, (str(self),)


def _rebuild_plain(text: str) -> MissingVerb:
    error = MissingVerb.__new__(MissingVerb)
    Exception.__init__(error, text)
    return error


def _rebuild(
    kind: type[BadArgument], name: str, given: object, allowed: str, text: str
) -> BadArgument:
    error = kind.__new__(kind)
    error.name, error.given, error.allowed, error.hint = name, given, allowed, ""
    Exception.__init__(error, text)
    return error
