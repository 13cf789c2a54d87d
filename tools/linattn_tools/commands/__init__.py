"""The subcommands of ``linattn``. ``add`` declares arguments; what a command needs is imported when it runs."""
