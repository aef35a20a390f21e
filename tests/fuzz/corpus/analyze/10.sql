COPY a (x, y) FROM stdin
