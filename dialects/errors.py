"""The exceptions of the project: what a user can act on. Everything else that escapes is a bug."""


class IpuError(Exception):
    """Base of all errors whose message is for the user; a tool prints it in one line and exits with 1."""


class CompileError(IpuError):
    """The program cannot be compiled; the message names the value or the op, and the way out."""


class TargetError(IpuError):
    """The machine that was asked for does not exist, or the program asks for more than it has."""


class MemoryWarning(UserWarning):
    """A program for an emulated target needs more memory than such a machine has."""


class RunError(IpuError):
    """A compiled program was given inputs that it cannot run on, or met a failed check while it ran."""
