// Compares Warder's judgement of schemas with ajv's and the JSON Schema test suite's.
//
//   node run.mjs <path of differential_driver>
//
// Rule 1: what the other judge rejects is never accepted. Only a keyword that Warder itself lists as unenforced
//         excuses it, and `exceptions.json` must name that keyword.
// Rule 2: the valid cases that Warder refuses are exactly those that `exceptions.json` names.
// Rule 3: Warder's own two judges never disagree.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { generatedCases } from './generated.mjs';
import { suiteCases, suiteCases2020 } from './suite.mjs';
import { textCases } from './texts.mjs';

const here = new URL('.', import.meta.url);
if (!existsSync(new URL('node_modules/ajv', here))) {
  console.error(`${here.pathname}node_modules: ajv is not installed: run npm ci --prefix tests/differential`);
  process.exit(1);
}
const { default: Ajv } = await import('ajv');
const { default: Ajv2020 } = await import('ajv/dist/2020.js');
const { default: addFormats } = await import('ajv-formats');

const kSchemas = 2000;
const kInstances = 10;
const kInternal = 13;  // absl::StatusCode::kInternal
const kShown = 20;
const kUnknownToBoth = 'format: json';

function oracle(Kind, more = {}) {
  // Precision: 19.99 is a multiple of 0.01 in decimal, which is what people write.
  const make = () => addFormats(new Kind({ strict: false, logger: false, multipleOfPrecision: 9, ...more }));
  const shared = make();
  const cache = new Map();
  return (schema) => {
    const key = JSON.stringify(schema);
    if (!cache.has(key)) {
      try {
        // Two documents of the same $id may not meet in one instance.
        cache.set(key, (key.includes('"$id"') ? make() : shared).compile(schema));
      } catch (error) {
        cache.set(key, null);  // not a schema, or one that ajv does not take: no instance is valid
      }
    }
    return cache.get(key);
  };
}

const oracles = { ajv07: oracle(Ajv), ajv2020: oracle(Ajv2020) };
// Without the `u` flag JavaScript takes `a]` and `\-` as they stand, and so does Warder: they mean one thing only.
const laxPatterns = oracle(Ajv2020, { unicodeRegExp: false });

// undefined when ajv's own code breaks on the instance: no verdict.
function agrees(validate, instance) {
  try {
    return validate !== null && validate(instance) === true;
  } catch {
    return undefined;
  }
}

function expected(one) {
  return one.oracle === 'suite' ? one.valid : agrees(oracles[one.oracle](one.schema), one.instance);
}

function validWithLaxPatterns(one) {
  return one.name.startsWith('pattern ') && oracles[one.oracle](one.schema) === null &&
    agrees(laxPatterns(one.schema), one.instance);
}

async function judge(driver, cases) {
  const child = spawn(driver, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = cases.map(({ schema, instance }) => `${JSON.stringify({ schema, instance })}\n`);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => { output += text; });
  const done = new Promise((resolve) => child.on('close', resolve));
  child.stdin.on('error', () => {});
  child.stdin.end(lines.join(''));
  const code = await done;
  const answers = output.trimEnd().split('\n').map((line) => JSON.parse(line));
  if (code !== 0 || answers.length !== cases.length) {
    throw new Error(`the driver ended with ${code} after ${answers.length} of ${cases.length} cases`);
  }
  return answers;
}

function same(found, listed) {
  const missing = [...found.keys()].filter((key) => !(key in listed));
  const stale = Object.keys(listed).filter((key) => !found.has(key));
  return { missing, stale };
}

const exceptions = JSON.parse(readFileSync(new URL('exceptions.json', here), 'utf8'));
const cases = [...suiteCases(), ...suiteCases2020(), ...textCases(), ...generatedCases(kSchemas, kInstances)];
const answers = await judge(process.argv[2], cases);

const failures = [];
const refusedValid = new Map();
const unenforced = new Map();
const tally = { accepted: 0, rejected: 0, 'refused though valid': 0, 'accepted as an annotation': 0, 'without a verdict of ajv': 0 };
cases.forEach((one, i) => {
  const answer = answers[i];
  const accepted = answer.load === 'ok' && answer.verdict === 'accepted';
  const word = expected(one);
  const valid = word === false && accepted ? validWithLaxPatterns(one) : word;
  if (valid === undefined) {
    tally['without a verdict of ajv']++;
    return;
  }
  const what = `${one.name}: ${one.test}`;
  const evidence = `${JSON.stringify(one.schema)} ${JSON.stringify(one.instance)} ${answer.why}`;
  if (answer.code === kInternal) failures.push(`the two judges disagree: ${what}\n    ${evidence}`);
  if (accepted && valid) tally.accepted++;
  if (!accepted && !valid) tally.rejected++;
  if (accepted && !valid) {
    const excuses = answer.unenforced.map((line) => line.replace(/^`.*`: /, '')).filter((excuse) => excuse !== kUnknownToBoth);
    if (excuses.length === 0) failures.push(`accepted, but ${one.oracle} rejects it: ${what}\n    ${evidence}`);
    else tally['accepted as an annotation']++;
    for (const excuse of excuses) unenforced.set(excuse, what);
  }
  if (!accepted && valid) {
    tally['refused though valid']++;
    refusedValid.set(one.name, `${one.test}\n    ${evidence}`);
  }
});

const valid = same(refusedValid, exceptions.refused_though_valid);
const annotations = same(unenforced, exceptions.annotations);
for (const key of valid.missing) failures.push(`refused though valid, and not listed: ${key}: ${refusedValid.get(key)}`);
for (const key of valid.stale) failures.push(`listed as refused though valid, but accepted: ${key}`);
for (const key of annotations.missing) failures.push(`unenforced, and not listed: ${key}: ${unenforced.get(key)}`);
for (const key of annotations.stale) failures.push(`listed as unenforced, but not needed: ${key}`);

for (const failure of failures.slice(0, kShown)) console.error(failure);
if (failures.length > kShown) console.error(`... and ${failures.length - kShown} more`);
console.log(`${cases.length} cases: ${Object.entries(tally).map(([key, count]) => `${count} ${key}`).join(', ')}`);
console.log(`${failures.length === 0 ? 'passed' : `${failures.length} failures`}`);
process.exit(failures.length === 0 ? 0 : 1);
