SELECT * FROM a LEFT JOIN b ON a.x = b.x AND b.y IN (1, -2, 3) WHERE b.y IS NULL OR a.f
