"""Prices in cents, so that nothing is ever rounded twice."""

CENTS = {"lamp": 4590, "chair": 12900, "desk": 34900}


def price(product, units, discount_percent=0):
    if not 0 <= discount_percent <= 100:
        raise ValueError("discount_percent: 0 to 100")
    return CENTS[product] * units * (100 - discount_percent) // 100
