"""``linattn check``, steered: what the tests of its options share, beside the fixtures ``check`` and ``clock``."""

WRONG = ("FACTOR = 1.0", "FACTOR = 1.5")
LINEAR = ("--variant", "linear_attention")


def ids(content, *statuses):
    return [result["id"] for result in content["results"] if not statuses or result["status"] in statuses]
