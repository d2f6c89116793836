"""The command line: one module a command; the only code that prints or exits.

`main` chooses the command, `options` holds what commands share, every other module is one command with `add_arguments`
and `run`. Heavy packages are imported inside `run`, so that help is quick.
"""
