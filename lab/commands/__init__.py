"""The subcommands of `kvlab`, one a file: parse, call one function, store, print, exit."""
