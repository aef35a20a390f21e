INSERT INTO a (x, y) SELECT x, 5 FROM b WHERE x = ANY($2) OR u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
