"""How good is a verdict? Right kernels that it accepts, mutants that it rejects, beside the rules in use elsewhere."""
