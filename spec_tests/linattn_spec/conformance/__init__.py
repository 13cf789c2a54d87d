"""The suite as pytest tests: ``pytest --pyargs linattn_spec --linattn-backend=BACKEND``."""
