"""What is on the shelves."""


class Stock:
    def __init__(self):
        self._units = {}

    def add(self, product, units):
        self._units[product] = self._units.get(product, 0) + units

    def take(self, product, units):
        if self._units.get(product, 0) < units:
            raise LookupError(f"not enough of {product}")
        self._units[product] -= units
