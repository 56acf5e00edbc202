"""One page on one run, for somebody who has to be convinced: what was meant, what was done, and by what it is proven.

``gather`` asks the store, the sections turn what it found into HTML, ``page`` puts them together. Facets come from
anywhere, so nothing is taken for granted of their shape, and what is not there is said not to be there.
"""
