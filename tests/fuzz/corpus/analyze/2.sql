UPDATE a SET x = 3, (y, z) = (1, 2.5) FROM vb WHERE vb.x = a.x AND NOT (a.y BETWEEN SYMMETRIC 3 AND $1)
