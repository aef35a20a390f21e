DELETE FROM b USING a FULL JOIN s.c k ON a.x = k.x WHERE b.x IS NOT DISTINCT FROM a.x AND coalesce(a.y, 3) = 3
