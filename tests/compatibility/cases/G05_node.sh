# title: node: copying, workers, children, watching; npm run and npx without a network
# needs: node npm
set -e
cat >t.js <<'JS'
const fs = require('fs'), { Worker } = require('worker_threads'), { execFileSync } = require('child_process');
fs.writeFileSync('a', 'text');
fs.copyFileSync('a', 'b');
console.log(fs.readFileSync('b', 'utf8'));
console.log(execFileSync('echo', ['child']).toString().trim());
const watcher = fs.watch('.', (kind, name) => {
  if (name !== 'watched') return;
  watcher.close();
  console.log('watched');
  new Worker("require('worker_threads').parentPort.postMessage(6 * 7)", { eval: true })
    .on('message', (value) => console.log('worker', value));
});
setTimeout(() => fs.writeFileSync('watched', ''), 50);
JS
node t.js
mkdir -p pkg/node_modules/.bin && cd pkg
echo '{"name":"p","version":"1.0.0","scripts":{"build":"node -p 1+1"}}' >package.json
printf '#!/bin/sh\necho local tool\n' >node_modules/.bin/tool
chmod +x node_modules/.bin/tool
npm run --silent build
npx --offline --no-install tool
#=> text
#=> child
#=> watched
#=> worker 42
#=> 2
#=> local tool
