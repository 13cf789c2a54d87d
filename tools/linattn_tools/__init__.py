"""The command ``linattn``, the certifier and generator of the goldens, reports and benchmarks."""
