SELECT * FROM a JOIN b USING (x) WHERE a.x = 5 AND t LIKE 'pÿÿÿÿÿÿÿÿÿÿààààà€€%' AND d > '2020-0:0-01'
