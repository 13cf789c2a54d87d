"""The sizes of a drawn case as its text has them."""


def sizes(**larger):
    dims = dict.fromkeys(("B", "T", "Hq", "Hk", "Hv", "K", "V"), 1) | larger
    return ",".join(f"{axis}={size}" for axis, size in dims.items())


ONE = sizes()  # the smallest case of all
