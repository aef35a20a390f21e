/* What each construct of SQL touches, one statement a line. describe.h tells how to read a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "describe.h"

static const char ddl[] =
    "CREATE TABLE w (w_id int PRIMARY KEY, name varchar(10), tax numeric(4,2));"
    "CREATE TABLE d (d_w int REFERENCES w, d_id int, next int, PRIMARY KEY (d_w, d_id));"
    "CREATE TABLE c (c_w int, c_d int, c_id int, last varchar(16), since timestamp, credit char(2),"
    " bal numeric(12,2), active boolean, PRIMARY KEY (c_w, c_d, c_id),"
    " FOREIGN KEY (c_w, c_d) REFERENCES d);"
    "CREATE TABLE o (o_w int, o_d int, o_id int, o_c int, dt date, PRIMARY KEY (o_w, o_d, o_id));"
    "CREATE TABLE l (a int, b text, u uuid, f real, g float8, e int[], j jsonb);"
    "CREATE VIEW v AS SELECT c_w AS vw, c_id, last FROM c WHERE active AND c_d = 3;";

static const struct {
    const char *statement;
    enum cleave_statement_kind kind;
    const char *accesses;
} constructs[] = {
    {"SELECT * FROM w WHERE w_id = 5", CLEAVE_STATEMENT_QUERY, "r w{w_id=5}"},
    {"SELECT * FROM w WHERE w_id = 6", CLEAVE_STATEMENT_QUERY, "r w{w_id=6}"},
    {"SELECT * FROM c JOIN w ON c_w = w_id WHERE w_id = 3 AND c_d = 2 AND last = 'BAR'",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=3 c_d=2 last='BAR'}, r w{w_id=3}"},
    {"SELECT * FROM c, d WHERE c_w = d_w AND c_d = d_id AND d_w = 1 AND d_id IN (2,4,3)",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=1 c_d=2,3,4}, r d{d_w=1 d_id=2,3,4}"},
    {"SELECT * FROM c WHERE c_w = 1 OR c_w = 2", CLEAVE_STATEMENT_QUERY, "r c{c_w=1,2}"},
    {"SELECT * FROM c WHERE (c_w = 1 AND c_d = 2) OR (c_w = 2 AND c_d BETWEEN 3 AND 5)",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=1 c_d=2 | c_w=2 c_d=[3..5]}"},
    {"SELECT * FROM c WHERE NOT (c_w < 5 OR c_w > 10)", CLEAVE_STATEMENT_QUERY, "r c{c_w=[5..10]}"},
    {"SELECT * FROM c WHERE (c_w, c_d) IN ((1,2),(3,4)) AND c_id = -5", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=1 c_d=2 c_id=-5 | c_w=3 c_d=4 c_id=-5}"},
    {"SELECT * FROM c WHERE last LIKE 'BAR%' AND since >= '2020-01-01' AND bal > 5.50",
     CLEAVE_STATEMENT_QUERY,
     "r c{last=['BAR'..'BAS') since=['2020-01-01 00:00:00'..] bal=(5.5..]}"},
    {"SELECT * FROM c WHERE c_w = 5 - 20 AND c_w = -(15)", CLEAVE_STATEMENT_QUERY, "r c{c_w=-15}"},
    {"SELECT * FROM c WHERE c_w = 5 AND c_w = 6", CLEAVE_STATEMENT_QUERY, "r c{-}"},
    {"SELECT * FROM c WHERE active AND c_w <> 3 AND last IS NOT NULL AND credit IS NULL",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=[..2],[4..] last=[..] credit=NULL active=true}"},
    {"SELECT * FROM c WHERE NOT active", CLEAVE_STATEMENT_QUERY, "r c{active=false}"},
    {"SELECT * FROM c LEFT JOIN o ON o_w = c_w AND o_c = 7 WHERE c_w = 1", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=1}, r o{o_w=1 o_c=7}"},
    {"SELECT * FROM c LEFT JOIN o ON o_w = c_w AND o_c = 7 WHERE o_d = 1", CLEAVE_STATEMENT_QUERY,
     "r c{*}, r o{o_d=1 o_c=7}"},
    {"SELECT * FROM c LEFT JOIN o ON o_w = c_w AND o_c = 7 WHERE o_d IS NULL AND c_w = 2",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=2}, r o{o_w=2 o_c=7}"},
    {"SELECT * FROM c RIGHT JOIN o ON o_w = c_w AND o_w = 7", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=7}, r o{*}"},
    {"SELECT * FROM c FULL JOIN o ON o_w = c_w AND o_w = 7", CLEAVE_STATEMENT_QUERY,
     "r c{*}, r o{*}"},
    {"SELECT * FROM c FULL JOIN o ON o_w = c_w AND o_w = 7 WHERE c_d = 1", CLEAVE_STATEMENT_QUERY,
     "r c{c_d=1}, r o{o_w=7}"},
    {"SELECT * FROM c WHERE EXISTS (SELECT 1 FROM o WHERE o_w = c_w AND o_d = 5) AND c_w = 9",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=9}, r o{o_w=9 o_d=5}"},
    {"SELECT * FROM c WHERE NOT EXISTS (SELECT 1 FROM o WHERE o_w = c_w AND o_d = 5) AND c_w = 9",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=9}, r o{o_w=9 o_d=5}"},
    {"SELECT * FROM c WHERE c_w IN (SELECT o_w FROM o WHERE o_w = 3)", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=3}, r o{o_w=3}"},
    {"SELECT * FROM c WHERE c_w = (SELECT max(o_w) FROM o WHERE o_w < 3)", CLEAVE_STATEMENT_QUERY,
     "r c{*}, r o{o_w=[..2]}"},
    {"SELECT * FROM (SELECT c_w AS x, last FROM c WHERE c_d = 1) s WHERE x = 3",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=3 c_d=1}"},
    {"SELECT * FROM (SELECT c_w AS x, last FROM c WHERE c_d = 1 LIMIT 3) s JOIN o ON o_w = x WHERE "
     "x = 3",
     CLEAVE_STATEMENT_QUERY, "r c{c_d=1}, r o{o_w=3}"},
    {"SELECT * FROM (SELECT c_w AS x, count(*) AS n FROM c WHERE c_d = 1 GROUP BY c_w) s WHERE x = "
     "3 AND n = 5",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=3 c_d=1}"},
    {"SELECT * FROM (SELECT c_w AS x FROM c UNION SELECT o_w FROM o) s WHERE x = 3",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=3}, r o{o_w=3}"},
    {"WITH q AS (SELECT c_w, c_d FROM c WHERE last = 'A') SELECT * FROM q WHERE c_w = 4",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=4 last='A'}"},
    {"WITH q AS (SELECT c_w, c_d FROM c WHERE last = 'A') SELECT * FROM q a, q b WHERE a.c_w = 4 "
     "AND b.c_w = 5",
     CLEAVE_STATEMENT_QUERY, "r c{last='A'}"},
    {"WITH RECURSIVE r(n) AS (SELECT c_id FROM c WHERE c_w = 1 UNION ALL SELECT o_id FROM o, r "
     "WHERE o_id = r.n + 1) SELECT * FROM r",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=1}, r o{*}"},
    {"WITH dl AS (DELETE FROM o WHERE o_w = 1 AND o_id = 5 RETURNING *) INSERT INTO c (c_w, c_d, "
     "c_id) SELECT o_w, o_d, 7 FROM dl",
     CLEAVE_STATEMENT_DML, "w o{o_w=1 o_id=5}, i c{c_w=1 c_id=7}"},
    {"SELECT * FROM v WHERE vw = 6", CLEAVE_STATEMENT_QUERY, "r c{c_w=6 c_d=3 active=true}"},
    {"UPDATE c SET bal = bal + 5 WHERE c_w = 1 AND c_d = 2 AND c_id = 3", CLEAVE_STATEMENT_DML,
     "w c{c_w=1 c_d=2 c_id=3}"},
    {"UPDATE c SET c_w = 9 WHERE c_w = 1 AND c_d = 2", CLEAVE_STATEMENT_DML,
     "w c{c_w=1 c_d=2}, w c{c_w=9 c_d=2}"},
    {"UPDATE c SET (c_w, c_d) = (8, c_d + 1) FROM w WHERE w_id = c_w AND w_id = 4",
     CLEAVE_STATEMENT_DML, "w c{c_w=4}, r w{w_id=4}, w c{c_w=8}"},
    {"DELETE FROM c USING o WHERE o_w = c_w AND o_w = 3", CLEAVE_STATEMENT_DML,
     "w c{c_w=3}, r o{o_w=3}"},
    {"INSERT INTO c (c_w, c_d, c_id, last) VALUES (1,2,3,'x'), (4,5,6,NULL)", CLEAVE_STATEMENT_DML,
     "i c{c_w=1 c_d=2 c_id=3 | c_w=4 c_d=5 c_id=6}"},
    {"INSERT INTO w VALUES (1,'a',0.5) ON CONFLICT (w_id) DO UPDATE SET tax = 3",
     CLEAVE_STATEMENT_DML, "i w{w_id=1}, w w{w_id=1}"},
    {"INSERT INTO w VALUES (1,'a',0.5) ON CONFLICT DO NOTHING", CLEAVE_STATEMENT_DML,
     "i w{w_id=1}, w w{w_id=1}"},
    {"INSERT INTO o (o_w, o_d, o_id) SELECT c_w, 5, c_id FROM c WHERE c_w = 3",
     CLEAVE_STATEMENT_DML, "i o{o_w=3 o_d=5}, r c{c_w=3}"},
    {"INSERT INTO o DEFAULT VALUES", CLEAVE_STATEMENT_DML, "i o{*}"},
    {"MERGE INTO w USING o ON w_id = o_w AND o_w = 3 WHEN MATCHED THEN UPDATE SET name = 'x' WHEN "
     "NOT MATCHED THEN INSERT (w_id, name) VALUES (o_w, 'n')",
     CLEAVE_STATEMENT_DML, "r o{*}, w w{w_id=3}, i w{*}"},
    {"SELECT * FROM c WHERE c_w = 1 FOR UPDATE", CLEAVE_STATEMENT_QUERY, "rl c{c_w=1}"},
    {"SELECT * FROM c, o WHERE c_w = 1 FOR SHARE OF o", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=1}, rl o{*}"},
    {"COPY w FROM stdin", CLEAVE_STATEMENT_COPY, "i w{*}"},
    {"COPY w TO stdout", CLEAVE_STATEMENT_COPY, "r w{*}"},
    {"TRUNCATE w, c", CLEAVE_STATEMENT_SCHEMA, "w w{*}, w c{*}"},
    {"SELECT myfunc(5)", CLEAVE_STATEMENT_QUERY, "opaque"},
    {"DO $$ begin end $$", CLEAVE_STATEMENT_OTHER, "opaque"},
    {"SELECT * FROM pg_class", CLEAVE_STATEMENT_QUERY, "+1 unknown"},
    {"SELECT * FROM c NATURAL JOIN w", CLEAVE_STATEMENT_QUERY, "r c{*}, r w{*}"},
    {"SELECT * FROM o JOIN (SELECT o_w, o_d FROM o WHERE o_w = 2) x USING (o_w, o_d) WHERE o_w > 1",
     CLEAVE_STATEMENT_QUERY, "r o{o_w=2}, r o{o_w=2}"},
    {"SELECT * FROM l WHERE e = '{1}' AND j = '{}' AND u = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11' "
     "AND f = 0.1 AND f > 0.25 AND g = 0.1",
     CLEAVE_STATEMENT_QUERY, "r l{-}"},
    {"SELECT * FROM o WHERE dt = '2020-01-02' OR dt > date '2020-05-06'", CLEAVE_STATEMENT_QUERY,
     "r o{dt='2020-01-02',['2020-05-07'..]}"},
    {"SELECT * FROM o WHERE dt BETWEEN SYMMETRIC '2020-05-01' AND '2020-01-01'",
     CLEAVE_STATEMENT_QUERY, "r o{dt=['2020-01-01'..'2020-05-01']}"},
    {"SELECT * FROM o WHERE o_w = ANY('{1,2,3}') AND o_d = ANY(ARRAY[4,5]) AND o_id <> "
     "ALL('{7,9}')",
     CLEAVE_STATEMENT_QUERY, "r o{o_w=1,2,3 o_d=4,5 o_id=[..6],8,[10..]}"},
    {"SELECT * FROM c JOIN (VALUES (1,2),(3,4)) x(p,q) ON c_w = p AND c_d = q",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=1 c_d=2 | c_w=3 c_d=4}"},
    {"SELECT * FROM c JOIN unnest(ARRAY[5,6]) u(k) ON c_w = k", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=5,6}"},
    {"UPDATE c SET bal = x.b FROM (VALUES (1,2,3.5),(3,4,4.5)) x(p,q,b) WHERE c_w = x.p AND c_d = "
     "x.q",
     CLEAVE_STATEMENT_DML, "w c{c_w=1 c_d=2 | c_w=3 c_d=4}"},
    {"SELECT * FROM c WHERE (c_w, c_d) > (1, 2)", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=[2..] | c_w=1 c_d=[3..]}"},
    {"SELECT * FROM c WHERE c_w = 1::bigint AND last = 'abc'::varchar AND since = "
     "'2020-01-01'::date",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=1 last='abc' since='2020-01-01 00:00:00'}"},
    {"EXPLAIN SELECT * FROM c", CLEAVE_STATEMENT_OTHER, ""},
    {"EXPLAIN ANALYZE SELECT * FROM c WHERE c_w = 4", CLEAVE_STATEMENT_OTHER, "r c{c_w=4}"},
    {"SELECT (SELECT name FROM w WHERE w_id = c.c_w) FROM c WHERE c_w = 5", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=5}, r w{w_id=5}"},
    {"SELECT * FROM c, LATERAL (SELECT * FROM o WHERE o_w = c_w ORDER BY o_id DESC LIMIT 1) z "
     "WHERE c_w = 5",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=5}, r o{o_w=5}"},
    {"SELECT c_w FROM c WHERE c_w = 1 UNION ALL SELECT o_w FROM o WHERE o_w = 2",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=1}, r o{o_w=2}"},
    {"SELECT * FROM c WHERE c_w = 1 AND 1 = 0", CLEAVE_STATEMENT_QUERY, "r c{-}"},
    {"SELECT * FROM c WHERE c_w IN (1, 1+1, NULL)", CLEAVE_STATEMENT_QUERY, "r c{c_w=1,2}"},
    {"SELECT * FROM c WHERE c_w NOT IN (1, 3)", CLEAVE_STATEMENT_QUERY, "r c{c_w=[..0],2,[4..]}"},
    {"SELECT * FROM c WHERE c_w NOT IN (1, NULL)", CLEAVE_STATEMENT_QUERY, "r c{-}"},
    {"SELECT * FROM c WHERE c_w IS DISTINCT FROM 3", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=NULL,[..2],[4..]}"},
    {"SELECT * FROM c a JOIN c b ON a.c_w = b.c_w AND a.c_id = 5 WHERE b.c_d = 2 AND b.c_w = 7",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=7 c_id=5}, r c{c_w=7 c_d=2}"},
    {"UPDATE v SET last = 'x' WHERE vw = 4", CLEAVE_STATEMENT_DML, "w c{c_w=4 c_d=3 active=true}"},
    {"SELECT count(*) FROM public.c WHERE public.c.c_w = 4 AND C.c_d = 2", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=4 c_d=2}"},
    {"SELECT * FROM w ORDER BY (SELECT o_w FROM o LIMIT 1)", CLEAVE_STATEMENT_QUERY,
     "r w{*}, r o{*}"},
    {"SELECT * FROM w WHERE w_id = 12345678901234567890", CLEAVE_STATEMENT_QUERY, "r w{-}"},
    {"SELECT * FROM w WHERE w_id < 5.5 AND w_id = 4.0", CLEAVE_STATEMENT_QUERY, "r w{w_id=4}"},
    {"SELECT * FROM w WHERE w_id = '5' AND name = $$x$$ AND name <> E'a\\x41\\'b'",
     CLEAVE_STATEMENT_QUERY, "r w{w_id=5 name='x'}"},
    {"SELECT * FROM w WHERE w_id = 'five'", CLEAVE_STATEMENT_QUERY, "r w{*}"},
    {"SELECT * FROM w WHERE no_such = 5 AND w_id = 1", CLEAVE_STATEMENT_QUERY, "r w{w_id=1}"},
    {"SELECT * FROM w, d WHERE name = 'n' AND next = 4", CLEAVE_STATEMENT_QUERY,
     "r w{name='n'}, r d{next=4}"},
    {"SELECT * FROM c a, c b WHERE last = 'x' AND a.c_w = 1", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=1}, r c{*}"},
    {"SELECT * FROM (c JOIN o ON c_w = o_w) AS j WHERE j.o_w = 4", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=4}, r o{o_w=4}"},
    {"SELECT * FROM c x(p, q) WHERE p = 1 AND q = 2 AND c_id = 3", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=1 c_d=2 c_id=3}"},
    {"SELECT * FROM o c WHERE c.o_w = 1", CLEAVE_STATEMENT_QUERY, "r o{o_w=1}"},
    {"WITH c AS (SELECT o_w AS c_w FROM o) SELECT * FROM c WHERE c_w = 3", CLEAVE_STATEMENT_QUERY,
     "r o{o_w=3}"},
    {"SELECT * FROM c WHERE last LIKE 'a\\_b%' OR last LIKE 'x!%y%' ESCAPE '!' OR last LIKE "
     "'exact'",
     CLEAVE_STATEMENT_QUERY, "r c{last=['a_b'..'a_c'),'exact',['x%y'..'x%z')}"},
    {"SELECT * FROM c WHERE last NOT LIKE 'a%' AND last ILIKE 'b%' AND credit LIKE 'G%'",
     CLEAVE_STATEMENT_QUERY, "r c{credit=['G'..'H')}"},
    {"SELECT * FROM c WHERE last LIKE 'a' || '%' AND last < 'b'", CLEAVE_STATEMENT_QUERY,
     "r c{last=['a'..'b')}"},
    {"SELECT * FROM c WHERE c_w BETWEEN 3 AND 7 AND c_d NOT BETWEEN 2 AND 4",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=[3..7] c_d=[..1],[5..]}"},
    {"SELECT * FROM c WHERE (active IS TRUE) AND (active IS NOT FALSE)", CLEAVE_STATEMENT_QUERY,
     "r c{active=true}"},
    {"SELECT * FROM c WHERE active IS NOT TRUE", CLEAVE_STATEMENT_QUERY, "r c{active=NULL,false}"},
    {"SELECT * FROM c WHERE active IS UNKNOWN OR active = 'yes'", CLEAVE_STATEMENT_QUERY,
     "r c{active=NULL,true}"},
    {"SELECT * FROM c WHERE c_w + 1 = 5", CLEAVE_STATEMENT_QUERY, "r c{*}"},
    {"SELECT * FROM c WHERE bal = 1.10 OR bal = 1e3 OR bal = -0.0", CLEAVE_STATEMENT_QUERY,
     "r c{bal=0,1.1,1000}"},
    {"SELECT * FROM c WHERE c_w = 7 / 2 AND c_d = 7 % 4 AND c_id = 2 * 3 - 1",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=3 c_d=3 c_id=5}"},
    {"SELECT * FROM c WHERE bal = 0.1 + 0.2", CLEAVE_STATEMENT_QUERY, "r c{bal=0.3}"},
    {"SELECT * FROM o WHERE dt = date '2020-02-28' + 2", CLEAVE_STATEMENT_QUERY,
     "r o{dt='2020-03-01'}"},
    {"SELECT * FROM o WHERE dt < '2020-02-28' AND dt >= '2020-01-01 10:00'", CLEAVE_STATEMENT_QUERY,
     "r o{dt=['2020-01-01'..'2020-02-27']}"},
    {"SELECT * FROM o WHERE dt < timestamp '2020-02-28 10:00'", CLEAVE_STATEMENT_QUERY,
     "r o{dt=[..'2020-02-28']}"},
    {"SELECT * FROM c WHERE since = '2020-01-01T10:00:00Z'", CLEAVE_STATEMENT_QUERY, "r c{*}"},
    {"SELECT * FROM c WHERE c_w::text = '5' AND c_d::bigint = 6", CLEAVE_STATEMENT_QUERY,
     "r c{c_d=6}"},
    {"SELECT * FROM l WHERE f <> 0.5 AND g < 0.1234567890123456789 AND b > 'm'",
     CLEAVE_STATEMENT_QUERY, "r l{b=('m'..]}"},
    {"SELECT * FROM d WHERE (d_w, d_id) IN (SELECT o_w, o_d FROM o WHERE o_w = 3 AND o_id = 7)",
     CLEAVE_STATEMENT_QUERY, "r d{d_w=3}, r o{o_w=3 o_id=7}"},
    {"SELECT * FROM d WHERE d_w = ANY (SELECT o_w FROM o WHERE o_w < 3 GROUP BY o_w HAVING "
     "count(*) > 2)",
     CLEAVE_STATEMENT_QUERY, "r d{d_w=[..2]}, r o{o_w=[..2]}"},
    {"SELECT * FROM d WHERE EXISTS (SELECT count(*) FROM o WHERE o_w = d_w AND o_w = 4)",
     CLEAVE_STATEMENT_QUERY, "r d{*}, r o{o_w=4}"},
    {"SELECT * FROM d WHERE d_w = 1 OR EXISTS (SELECT 1 FROM o WHERE o_w = d_w AND o_d = 5)",
     CLEAVE_STATEMENT_QUERY, "r d{*}, r o{o_d=5}"},
    {"SELECT * FROM d WHERE d_w NOT IN (SELECT o_w FROM o WHERE o_d = 5)", CLEAVE_STATEMENT_QUERY,
     "r d{*}, r o{o_d=5}"},
    {"SELECT * FROM d LEFT JOIN (o JOIN c ON o_w = c_w) ON d_w = o_w WHERE d_w = 4",
     CLEAVE_STATEMENT_QUERY, "r d{d_w=4}, r o{o_w=4}, r c{c_w=4}"},
    {"SELECT * FROM d LEFT JOIN o ON d_w = o_w LEFT JOIN c ON o_w = c_w WHERE c_d = 5 AND d_w = 1",
     CLEAVE_STATEMENT_QUERY, "r d{d_w=1}, r o{o_w=1}, r c{c_w=1 c_d=5}"},
    {"SELECT * FROM d LEFT JOIN o USING (d_w)", CLEAVE_STATEMENT_QUERY, "r d{*}, r o{*}"},
    {"SELECT * FROM d a NATURAL JOIN d b WHERE a.d_w = 1", CLEAVE_STATEMENT_QUERY,
     "r d{d_w=1}, r d{d_w=1}"},
    {"SELECT * FROM d a FULL JOIN d b USING (d_w) WHERE d_w = 1", CLEAVE_STATEMENT_QUERY,
     "r d{*}, r d{*}"},
    {"SELECT * FROM d a RIGHT JOIN d b USING (d_w) WHERE d_w = 1", CLEAVE_STATEMENT_QUERY,
     "r d{d_w=1}, r d{d_w=1}"},
    {"SELECT DISTINCT ON (c_w) c_w, c_d FROM c WHERE c_d = 1", CLEAVE_STATEMENT_QUERY,
     "r c{c_d=1}"},
    {"SELECT * FROM (SELECT DISTINCT c_w FROM c) s WHERE c_w = 1", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=1}"},
    {"SELECT * FROM (SELECT c_w, rank() OVER (ORDER BY c_d) r FROM c) s WHERE c_w = 1",
     CLEAVE_STATEMENT_QUERY, "r c{*}"},
    {"SELECT * FROM (SELECT c_w, myagg(c_d) FROM c) s WHERE c_w = 1", CLEAVE_STATEMENT_QUERY,
     "r c{*} opaque"},
    {"SELECT * FROM (SELECT c_w, c_d FROM c GROUP BY ROLLUP (c_w, c_d)) s WHERE c_w = 1",
     CLEAVE_STATEMENT_QUERY, "r c{*}"},
    {"SELECT * FROM (SELECT 5 AS five) s JOIN w ON w_id = five", CLEAVE_STATEMENT_QUERY,
     "r w{w_id=5}"},
    {"SELECT * FROM (SELECT c_w FROM c EXCEPT SELECT 5) s WHERE c_w = 3", CLEAVE_STATEMENT_QUERY,
     "r c{*}"},
    {"SELECT * FROM generate_series(3, 7) g JOIN w ON w_id = g", CLEAVE_STATEMENT_QUERY,
     "r w{w_id=[3..7]}"},
    {"SELECT * FROM unnest('{1,2}'::int[], ARRAY[3,4]) AS u(x, y) JOIN d ON d_w = x AND d_id = y",
     CLEAVE_STATEMENT_QUERY, "r d{d_w=1,2 d_id=3,4}"},
    {"WITH q AS MATERIALIZED (SELECT c_w FROM c WHERE c_w < 9) SELECT * FROM q WHERE c_w = 4",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=[..8]}"},
    {"WITH q AS (SELECT 1 FROM c WHERE c_w = 3) SELECT 1", CLEAVE_STATEMENT_QUERY, "r c{c_w=3}"},
    {"WITH a AS (SELECT c_w FROM c), b AS (SELECT c_w FROM a WHERE c_w > 1) SELECT * FROM b WHERE "
     "c_w = 2",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=2}"},
    {"WITH u AS (UPDATE c SET last = 'x', c_d = 9 WHERE c_w = 1 AND c_d = 2 RETURNING c_w, c_d) "
     "SELECT * FROM o JOIN u ON o_w = c_w AND o_d = c_d",
     CLEAVE_STATEMENT_DML, "w c{c_w=1 c_d=2}, w c{c_w=1 c_d=9 last='x'}, r o{o_w=1}"},
    {"WITH i AS (INSERT INTO w (w_id) VALUES (7) RETURNING w_id) SELECT * FROM d JOIN i ON d_w = "
     "w_id",
     CLEAVE_STATEMENT_DML, "i w{w_id=7}, r d{*}"},
    {"DELETE FROM c WHERE CURRENT OF cur", CLEAVE_STATEMENT_DML, "w c{*}"},
    {"UPDATE c SET c_w = c_w + 1", CLEAVE_STATEMENT_DML, "w c{*}, w c{*}"},
    {"UPDATE nosuch SET a = (SELECT max(c_w) FROM c WHERE c_w = 4)", CLEAVE_STATEMENT_DML,
     "r c{c_w=4} +1 unknown"},
    {"INSERT INTO nosuch SELECT * FROM c WHERE c_w = 4", CLEAVE_STATEMENT_DML,
     "r c{c_w=4} +1 unknown"},
    {"INSERT INTO c VALUES (DEFAULT, 2, -3, 'too long to fit in there ', '2020-01-01', 'GC', "
     "1.005, true)",
     CLEAVE_STATEMENT_DML, "i c{c_d=2 c_id=-3}"},
    {"INSERT INTO d (d_w, d_id, next) VALUES (1, 2, 3) ON CONFLICT (d_w, d_id) DO UPDATE SET d_w = "
     "9, next = excluded.next RETURNING next",
     CLEAVE_STATEMENT_DML, "i d{d_w=1 d_id=2}, w d{d_w=1 d_id=2}, w d{d_w=9 d_id=2}"},
    {"INSERT INTO o (o_w, o_d) SELECT p, q FROM (VALUES (1, 2), (3, NULL)) v(p, q)",
     CLEAVE_STATEMENT_DML, "i o{o_w=1 o_d=2 | o_w=3 o_d=NULL}"},
    {"INSERT INTO o (o_w) SELECT 5.6 UNION SELECT 7", CLEAVE_STATEMENT_DML, "i o{*}"},
    {"INSERT INTO o (o_w, o_id) SELECT o_w, max(o_id) FROM o WHERE o_w = 3 AND o_d = 1 GROUP BY "
     "o_w",
     CLEAVE_STATEMENT_DML, "i o{o_w=3}, r o{o_w=3 o_d=1}"},
    {"MERGE INTO d t USING (SELECT o_w, o_d FROM o WHERE o_w = 6) s ON t.d_w = s.o_w AND t.d_id = "
     "s.o_d WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (d_w, d_id, next) VALUES (s.o_w, "
     "s.o_d, 1)",
     CLEAVE_STATEMENT_DML, "r o{o_w=6}, w d{d_w=6}, i d{d_w=6}"},
    {"MERGE INTO d USING o ON d_w = o_w WHEN MATCHED THEN DO NOTHING", CLEAVE_STATEMENT_DML,
     "r o{*}, r d{*}"},
    {"CREATE TABLE x AS SELECT * FROM c WHERE c_w = 1", CLEAVE_STATEMENT_SCHEMA, "r c{c_w=1}"},
    {"SELECT * INTO x FROM c WHERE c_w = 1", CLEAVE_STATEMENT_SCHEMA, "r c{c_w=1}"},
    {"DECLARE cur CURSOR FOR SELECT * FROM c WHERE c_w = 1", CLEAVE_STATEMENT_QUERY, "r c{c_w=1}"},
    {"COPY (SELECT * FROM c WHERE c_w = 1) TO stdout", CLEAVE_STATEMENT_COPY, "r c{c_w=1}"},
    {"COPY nosuch FROM stdin", CLEAVE_STATEMENT_COPY, "+1 unknown"},
    {"LOCK TABLE c IN SHARE MODE", CLEAVE_STATEMENT_OTHER, "rl c{*}"},
    {"CREATE INDEX ON c (last)", CLEAVE_STATEMENT_SCHEMA, ""},
    {"BEGIN", CLEAVE_STATEMENT_OTHER, ""},
    {"SET search_path = x", CLEAVE_STATEMENT_OTHER, ""},
    {"PREPARE q AS SELECT * FROM c", CLEAVE_STATEMENT_OTHER, ""},
    {"EXECUTE q(1)", CLEAVE_STATEMENT_OTHER, "opaque"},
    {"CALL proc(1)", CLEAVE_STATEMENT_OTHER, "opaque"},
    {"SELECT pg_catalog.lower(last), now(), count(*) FROM c WHERE c_w = 1 AND since > now() - "
     "interval '1 day'",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=1}"},
    {"SELECT other.f(1)", CLEAVE_STATEMENT_QUERY, "opaque"},
    {"SELECT * FROM v JOIN v v2 USING (vw) WHERE v.vw = 2", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=2 c_d=3 active=true}, r c{c_w=2 c_d=3 active=true}"},
    {"SELECT * FROM c WHERE 'x' IN (last, credit)", CLEAVE_STATEMENT_QUERY,
     "r c{last='x' | credit='x'}"},
    {"SELECT * FROM c WHERE 5 = c_w AND 3 < c_d AND 2 BETWEEN c_id AND 9", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=5 c_d=[4..] c_id=[..2]}"},
    {"SELECT * FROM c WHERE ROW(c_w, c_d) = ROW(1, 2) AND (c_id, last) IS NOT NULL",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=1 c_d=2 c_id=[..] last=[..]}"},
    {"SELECT * FROM c WHERE (c_w = 1) IS TRUE AND NOT (c_d IN (1, 2) OR c_id IS NULL)",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=1 c_d=[..0],[3..] c_id=[..]}"},
    {"SELECT * FROM c JOIN o ON (c_w = o_w AND o_w = 1) OR (c_d = o_d AND o_d = 2)",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=1 | c_d=2}, r o{o_w=1 | o_d=2}"},
    {"SELECT * FROM o x JOIN o y ON x.o_w = y.o_w AND x.o_w IS NULL", CLEAVE_STATEMENT_QUERY,
     "r o{o_w=NULL}, r o{-}"},
    {"SELECT * FROM c WHERE c_w IS NOT DISTINCT FROM 4", CLEAVE_STATEMENT_QUERY, "r c{c_w=4}"},
    {"SELECT * FROM c FOR UPDATE OF c SKIP LOCKED", CLEAVE_STATEMENT_QUERY, "rl c{*}"},
    {"SELECT * FROM ONLY c TABLESAMPLE SYSTEM (10) WHERE c_w = 1", CLEAVE_STATEMENT_QUERY,
     "r c{c_w=1}"},
    {"TABLE w", CLEAVE_STATEMENT_QUERY, "r w{*}"},
    {"VALUES (1), (2)", CLEAVE_STATEMENT_QUERY, ""},
    {"SELECT * FROM c -- comment ' with quote", CLEAVE_STATEMENT_QUERY, "r c{*}"},
    {"SELECT * FROM c WHERE last = 'a' /* ' */ AND c_w /* nested /* deep */ */ = 1",
     CLEAVE_STATEMENT_QUERY, "r c{c_w=1 last='a'}"},
    {"SELECT * FROM c WHERE c_w = 1 AND (SELECT true)", CLEAVE_STATEMENT_QUERY, "r c{c_w=1}"},
    {"SELECT * FROM c WHERE COALESCE(c_w, 1) = 1 AND CASE WHEN c_d = 1 THEN true ELSE (SELECT w_id "
     "= 3 FROM w WHERE w_id = c_w) END",
     CLEAVE_STATEMENT_QUERY, "r c{*}, r w{*}"},
};

static void constructs_are_understood(void **state)
{
    (void)state;
    struct cleave_schema *schema;
    assert_int_equal(cleave__schema_parse_ddl(ddl, strlen(ddl), "ddl", &schema, NULL), CLEAVE_OK);
    unsigned failed = 0;
    for (size_t i = 0; i < sizeof constructs / sizeof *constructs; i++) {
        /* Each on its own: which columns describe new rows depends on what came before. */
        struct cleave_analyzer *analyzer;
        assert_int_equal(cleave__analyzer_new(schema, &analyzer, NULL), CLEAVE_OK);
        struct cleave_arena arena = {0};
        struct cleave_statement statement;
        struct cleave_error error = {0};
        char text[4096] = "";
        const char *sql = constructs[i].statement;
        enum cleave_status status =
            cleave__analyze(analyzer, sql, strlen(sql), NULL, 0, &arena, &statement, &error);
        if (status == CLEAVE_OK)
            describe_statement(schema, &statement, text, sizeof text);
        if (status != CLEAVE_OK || statement.kind != constructs[i].kind ||
            strcmp(text, constructs[i].accesses) != 0) {
            print_error("%s\n  expected %s\n  found    %s%s\n", sql, constructs[i].accesses, text,
                        error.message);
            failed++;
        }
        cleave__arena_free(&arena);
        cleave__analyzer_free(analyzer);
    }
    cleave__schema_free(schema);
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(constructs_are_understood)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
