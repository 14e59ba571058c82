# title: sqlite with a write-ahead log and two writers, jq on 10 MiB
# needs: sqlite3 jq python3
set -e
sqlite3 db 'pragma journal_mode=wal; create table t(x);'
for i in 1 2; do
  (for n in $(seq 20); do sqlite3 -cmd '.timeout 10000' db "insert into t values ($n);"; done) &
done
wait
sqlite3 db 'select count(*) from t;'
python3 -c 'import json; print(json.dumps([{"n": i, "s": "x" * 90} for i in range(100000)]))' >big.json
jq 'map(.n) | add' big.json
#=> wal
#=> 40
#=> 4999950000
