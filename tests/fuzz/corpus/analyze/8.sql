SELECT * FROM (VALUES (1, 'a'), (2, E'\n')) v(p, q), unnest('{1,2}'::int[]) k, LATERAL (SELECT * FROM b WHERE y = p LIMIT 1) z WHERE (p, q) > (1, 'x')
