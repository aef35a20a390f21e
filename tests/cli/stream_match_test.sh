#!/bin/bash
# cleave stream generate and match: as filters in a pipe, files of every format, events, what they
# say to senseless or broken input; and the shows: earthquakes in countries, cities by words, a
# million geofences.
. "$(dirname "$0")/harness.sh"
stream=$source_root/data

# Three rectangles, a circle, a query without a place; the answers are known by hand.
cat >queries.csv <<'END'
id,west,south,east,north,lon,lat,radius,keywords,match,filter,events
home,0,0,10,10,,,,,,,
fiji,177,-20,-178,-15,,,,,,,
north,-10,80,10,90,,,,,,,
paris,,,,,2.35,48.85,10 km,coffee; tea,overlaps,,
strong,,,,,,,,"big quake",,mag>=4.5,
END
cat >objects.csv <<'END'
id,lon,lat,keywords,mag
a,10,10,x,1
b,-180,-17,,2
c,100,90,,3
d,2.36,48.86,TEA|x,
e,2.36,48.86,milk,5
f,50,50,"Big  Quake;x",4.5
g,50,50,"big quake",4.49
h,180.0,-17,,
END
expect 0 stream match --queries queries.csv --objects objects.csv --check --fields id
cat >wanted <<'END'
match	home	a
match	fiji	b
match	north	c
match	paris	d
match	strong	f
match	fiji	h
END
cmp -s wanted out || { fail "matches:"; diff wanted out; }
expect_line '8 rows = 6 objects that match + 2 that do not + 0 refused; 6 matches' err
expect_line '5 queries (0 refused, 0 ended)' err
expect_line '8 objects checked by brute force' err
expect 0 stream match --queries queries.csv --objects objects.csv --json -q
[ ! -s err ] || fail "-q speaks: $(cat err)"
python3 - <<'END' || fail "json: $(head -c 600 out)"
import json
rows = [json.loads(line) for line in open("out")]
assert [r["query"] for r in rows] == ["home", "fiji", "north", "paris", "strong", "fiji"], rows
assert rows[0]["object"] == {"id": "a", "lon": "10", "lat": "10", "keywords": "x", "mag": "1"}
assert rows[0]["line"] == 2 and rows[0]["event"] == "match"
END
for matcher in cells scan; do
    expect 0 stream match --queries queries.csv --objects objects.csv --matcher $matcher --fields id -q
    cmp -s wanted out || fail "$matcher gives other matches"
done

# The same objects in other formats, packed, and from a pipe.
python3 - <<'END'
import csv, json
rows = list(csv.DictReader(open("objects.csv")))
with open("o.ndjson", "w") as f:
    for r in rows:
        f.write(json.dumps({"id": r["id"], "pos": {"at": [float(r["lon"]), float(r["lat"])]},
                            "tags": [t for t in r["keywords"].replace("|", ";").split(";") if t],
                            "mag": float(r["mag"]) if r["mag"] else None}) + "\n")
features = [{"type": "Feature", "id": r["id"],
             "geometry": {"type": "Point", "coordinates": [float(r["lon"]), float(r["lat"])]},
             "properties": {"keywords": r["keywords"], "mag": float(r["mag"] or 0)}} for r in rows]
json.dump({"type": "FeatureCollection", "features": features}, open("o.json", "w"), indent=1)
with open("o.tsv", "w") as f:
    f.write("id\tlon\tlat\tkeywords\tmag\n")
    for r in rows:
        f.write("\t".join(r.values()) + "\n")
END
gzip -k o.tsv
xz -k o.json
for file in "o.tsv" "o.tsv.gz" "o.json" "o.json.xz" "o.ndjson --x pos.at.0 --y pos.at.1 --keywords tags"; do
    expect 0 stream match --queries queries.csv $file --fields id -q
    cmp -s wanted out || { fail "$file:"; diff wanted out; }
done
"$cleave" stream match --queries queries.csv --format geojson --fields id -q <o.json >out || fail "from a pipe"
cmp -s wanted out || fail "from standard input: $(cat out)"

# Lines come out while the input is still open; a reader that goes away ends it in peace.
slowly() { printf 'lon,lat,mag,keywords\n5,5,1,x\n'; sleep 4; }
{ slowly | timeout -s KILL 2 "$cleave" stream match --queries queries.csv -q >out; } 2>/dev/null
[ "$(cat out)" = "match	home	5,5,1,x" ] || fail "nothing came while waiting: $(cat out)"
# A pipe full of lines, and half a line behind them: the lines come out all the same.
{
    printf 'lon,lat,mag,keywords\n'
    for _ in $(seq 8000); do printf '5,5,1,x\n'; done
} >full
left=$((65536 - $(wc -c <full) - 7))
printf '5,5,1,%0*d\n' "$left" 0 >>full
halves() { cat full && printf 6 && sleep 4; }
{ halves | timeout -s KILL 2 "$cleave" stream match --queries queries.csv -q >out; } 2>/dev/null
[ "$(wc -l <out)" = 8001 ] || fail "half a line held back those before: $(wc -l <out)"
slowly | timeout --foreground --preserve-status -s INT 1 "$cleave" stream match --queries queries.csv -q >out 2>err
[ "${PIPESTATUS[1]}" = 130 ] && [ -s out ] || fail "Ctrl-C while waiting: $(cat err)"
"$cleave" stream generate --count 20000 --space globe --range 0.2 --what queries --query-words 0 >many.csv
{ "$cleave" stream generate --count 200000 --space globe | "$cleave" stream match --queries many.csv; echo "${PIPESTATUS[1]}" >status; } 2>err |
    head -1 >out
[ "$(cat status)" = 0 ] && [ -s out ] || fail "head: $(cat status) $(cat err)"

# Enter, exit, silence, the end of a query; out of a query's time nothing.
cat >fences.ndjson <<'END'
{"id":"shop","bbox":[0,0,1,1],"events":"enter,exit"}
{"id":"town","bbox":[0,0,2,2],"events":["match"],"events":"match,enter,exit,expire","end":"1970-01-01T00:00:06Z"}
END
cat >moves.csv <<'END'
time_ms,id,lon,lat
1000,car,0.5,0.5
2000,car,1.5,0.5
2500,bus,1.5,1.5
3000,car,0.5,0.5
4000,car,5,5
5000,bus,0.5,0.5
7000,car,1.5,1.5
90000,car,5,5
END
expect 0 stream match --queries fences.ndjson --objects moves.csv --fields time_ms,id --ttl-s 60 --check
cat >wanted <<'END'
match	town	1000	car
enter	shop	1000	car
enter	town	1000	car
match	town	2000	car
exit	shop	2000	car
match	town	2500	bus
enter	town	2500	bus
match	town	3000	car
enter	shop	3000	car
match	town	4000	car
END
sed -i '$d' wanted
cat >>wanted <<'END'
exit	shop	4000	car
exit	town	4000	car
match	town	5000	bus
enter	shop	5000	bus
expire	town
exit	shop	bus
END
cmp -s wanted out || { fail "events:"; diff wanted out; }
expect_line '8 matches' err
expect_line '1 things by silence' err

# The clock passes a silence and then an end in one step: first the thing leaves, then the query is over; what is silent
# for too long only after the end does not leave it.
printf 'id,west,south,east,north,end,events\nq,0,0,9,9,10,enter;exit;expire\n' >ends.csv
printf 'lon,lat,id,time\n1,1,a,1\n2,2,b,5\n50,50,c,30\n' >steps.csv
expect 0 stream match --queries ends.csv --objects steps.csv --ttl-s 5 --fields id -q
[ "$(tr '\t\n' ' ;' <out)" = 'enter q a;enter q b;exit q a;expire q;' ] || fail "silence and an end: $(cat out)"

# Broken rows: where, what to do; nothing printed past them; or counted.
printf 'lon,lat\n1,2\n1,95\n3,x\n5,5\n' >bad.csv
expect 1 stream match --queries queries.csv --objects bad.csv -q --text '' --keywords ''
expect_line "no column 'mag'; there are: lon, lat" err
sed -i '/^strong/d' queries.csv
expect 1 stream match --queries queries.csv --objects bad.csv -q
expect_one_line
expect_line 'bad.csv:3: no place on the globe: longitude 1, latitude 95' err
expect_line 'match	home	1,2' out
expect 0 stream match --queries queries.csv --objects bad.csv --skip-bad
expect_line '4 rows = 2 objects that match + 0 that do not + 2 refused' err
refused() { # text of the file, what is said
    printf "$1" >q.csv
    expect 1 stream match --queries q.csv --objects objects.csv
    expect_one_line
    expect_line "$2" err
}
refused 'west,south,east,north\n1,2,3\n' 'q.csv:2: 3 fields, not 4 as in the first line'
refused 'west,south,east,north\n0,20,10,10\n' "q.csv:2: the rectangle's y goes down, from 20 to 10"
refused 'lon,lat,radius\n1,2,-5\n' "q.csv:2: no radius: '-5' (metres, or 500 m, 2 km, 1 mi)"
refused 'lon,lat\n1,2\n' 'q.csv:2: a circle needs x, y and radius'
refused 'id,bbox\n1,"0,0,1,1"\n1,"0,0,1,1"\n' "q.csv:3: a query before this one has the id '1' too"
refused 'bbox,match\n"0,0,1,1",some\n' "match is 'contains' (all words) or 'overlaps' (one), not 'some'"
refused 'bbox,filter\n"0,0,1,1",mag\n' "no filter: 'mag' (write mag>=4.5, mag<6 or mag=4..5)"
refused 'bbox,events\n"0,0,1,1",leave\n' "no event: 'leave' (match, enter, exit, expire)"
refused 'bbox,end\n"0,0,1,1",soon\n' "no time: 'soon'"
refused 'bbox,keywords\n"0,0,1,1",\xe2\x80\x8b\n' 'no word is left of its keywords'
refused 'bbox,text\n"0,0,1,1",S\xe3o\n' 'q.csv:2: byte 2 of the text, 0xe3, is not UTF-8'
expect 2 stream match
expect_line 'which queries? --queries FILE' err
expect 2 stream match --queries - --objects -
expect 2 stream match --queries q.csv --space sphere
expect 1 stream match --queries none.csv --objects objects.csv
expect_one_line
: >empty.csv
expect 0 stream match --queries empty.csv --objects objects.csv
expect_line 'no queries: nothing will match' err
expect 0 stream match --queries queries.csv --objects empty.csv -q
printf 'a\tb\n1\t2\n' | "$cleave" stream match --queries queries.csv >out 2>err && fail "no coordinates, and well"
expect_line "no column 'lon'; there are: a, b" err

# Made-up streams: the same bytes for the same seed; read back they say what was drawn.
expect 0 stream generate --count 500 --seed 4 --measures 2 --things 9
cp out first
expect 0 stream generate --count 500 --seed 4 --measures 2 --things 9 -o second
cmp -s first second || fail "another stream for the same seed"
expect 0 stream generate --count 300 --what queries --circles 0.5 --contains 0.5 --measures 2 --filters 1 --range 0.3 \
    --lifetime-ms 600 --events match,enter,exit,expire --query-words 1 --vocabulary 50 -o queries.gen
for form in "" --json; do
    expect 0 stream generate --count 600 --measures 2 --things 9 --vocabulary 50 $form -o objects.gen
    expect 0 stream match --space plane --queries queries.gen --objects objects.gen --check
    expect_line '600 objects checked by brute force' err
    sort out | cut -f 1,2 >"kinds$form"
done
cmp -s kinds kinds--json || fail "CSV and NDJSON are not the same stream"
[ "$(cut -f 1 kinds | sort -u | tr '\n' ' ')" = "enter exit expire match " ] || fail "kinds of events"
expect 2 stream generate --words 65
expect 2 stream generate --vocabulary 5
expect_one_line

# The shows. Boxes of countries: Natural Earth; earthquakes: USGS; both are in the public domain.
quakes=$stream/earthquakes.tsv.gz
countries=$stream/countries-110m.json.xz
expect 0 stream match --queries $countries --query-id name --objects $quakes --check --fields lon,lat,place
grep -q ' 0 refused; ' err && ! grep -q '(0 ended)' err || fail "countries: $(cat err)"
python3 - <<'END' || fail "earthquakes in boxes that they are not in"
import collections
at = collections.defaultdict(list)
for line in open("out"):
    event, country, lon, lat, place = line.rstrip("\n").split("\t")
    at[country].append((float(lon), float(lat)))
assert all(x < -66 and y > 18 for x, y in at["United States of America"])
assert all(x > 19 or x < -169 for x, y in at["Russia"])
END
# What lies across the antimeridian, and the pole.
cat >places.csv <<'END'
place,lon,lat
Suva,178.44,-18.13
Taveuni,-179.99,-16.85
Bermuda,-64.78,32.3
Chukotka,-170.5,66
Nome,-165.4,64.5
Honolulu,-157.86,21.31
the south pole,12,-90
McMurdo,166.67,-77.85
END
expect 0 stream match --queries $countries --query-id name --objects places.csv --fields place --text '' -q
cut -f 2,3 out | sort >got
sort >wanted <<'END'
Antarctica	McMurdo
Antarctica	the south pole
Fiji	Suva
Fiji	Taveuni
Russia	Chukotka
United States of America	Chukotka
United States of America	Honolulu
United States of America	Nome
END
cmp -s wanted got || { fail "boxes of countries:"; diff wanted got; }
if [ -f "$shared/stream/geonames_cities_pop5000.tsv.gz" ]; then
    printf 'id,text,keywords,bbox\nsaints,san,,\nspas,bad,de,\neast,new,us,"-80,35,-65,48"\n' >words.csv
    expect 0 stream match --queries words.csv --objects "$shared/stream/geonames_cities_pop5000.tsv.gz" \
        --keywords country --text name --fields name,country --check
    grep -c . out >count
    expect_line 'match	saints	San Diego	US' out
    expect_line 'match	spas	Bad Oeynhausen	DE' out
    expect_line 'match	east	New York City	US' out
    ! grep -q '	San$' out || fail "cities"
    expect 0 stream match --queries "$shared/stream/countries-110m.json" --query-id name --check \
        --objects "$shared/stream/usgs_earthquakes_week.tsv" --matcher cells
    expect_line '1707 objects checked by brute force' err
fi

# Two hundred thousand geofences here; bench/stream_match takes a million.
expect 0 stream generate --what queries --count 200000 --circles 0.3 -o geofences.csv
expect 0 stream generate --count 20000 -o points.csv
expect 0 stream match --space plane --queries geofences.csv --objects points.csv
expect_line '200000 queries (0 refused' err
head -41 points.csv >few.csv
expect 0 stream match --space plane --queries geofences.csv --objects few.csv --check
expect_line '40 objects checked by brute force' err
# What would silently never be told.
printf 'id,west,south,east,north,events\na,0,0,9,9,enter;exit\n' >inside.csv
printf 'lon,lat,time\n5,5,1\n' >nobody.csv
expect 0 stream match --queries inside.csv nobody.csv
expect_line 'queries want enter or exit, and objects have no ids: name the column with --id' err
expect 0 stream match --queries inside.csv --id time nobody.csv --time '' --ttl-s 5
expect_line 'things may be silent, and objects have no times' err
expect 0 stream match --queries inside.csv --id time nobody.csv --ttl-s 5
grep -q 'objects have no' err && fail "a remark for nothing: $(cat err)"

# What could be meant in two ways, or would silently be everywhere; UTF-16; a full disk.
printf 'lon,lat,lon\n5,5,6\n' >twice.csv
expect 1 stream match --queries queries.csv twice.csv -q
expect_line 'twice.csv: columns 1 and 3 are both called' err
expect_one_line
expect 0 stream match --queries queries.csv --x 1 twice.csv -q
for row in 5,,, ,5,, ,,10, 5,5,,; do
    printf 'id,lon,lat,radius,west\na,%s\n' "$row" >part.csv
    expect 1 stream match --queries part.csv objects.csv -q
    expect_one_line
done
printf 'id,west,south,east,north,lon,lat,radius\na,0,0,1,1,2,2,5\n' >both.csv
expect 1 stream match --queries both.csv objects.csv -q
expect_line 'both.csv:2: a rectangle and a circle' err
for order in UTF-16LE UTF-16BE; do
    { printf '\xef\xbb\xbf'; cat objects.csv; } | iconv -f UTF-8 -t $order >wide.csv
    expect 1 stream match --queries queries.csv wide.csv -q
    expect_line 'wide.csv: is UTF-16' err
    expect_one_line
done
"$cleave" stream match --queries queries.csv objects.csv -q >/dev/full 2>err
[ $? = 1 ] || fail 'a full disk was not noticed'
expect_one_line

done_testing
