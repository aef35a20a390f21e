INSERT INTO b (x, y, c) VALUES (1, 2, 'ab '), ($1, NULL, DEFAULT) ON CONFLICT (x, y) DO UPDATE SET y = 4
