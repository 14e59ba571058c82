// Random schemas of both dialects with random instances, the same ones every time.
import { k2020, kDraft07 } from './suite.mjs';

// mulberry32
function randomSource(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const kNames = ['a', 'b', 'c', 'aa', 'ab', 'x1'];
const kTexts = ['', 'a', 'ab', 'abc', 'é', '😀', '12', 'a b', 'a\nb', '{"a":1}', '2024-02-29', '2023-02-29', '10.0.0.1', 'x@y.org'];
const kNumbers = [0, 1, 2, 3, -1, 10, 0.5, 1.5, -0, 19.99, 0.01, 1e300, 9007199254740991, 2.0];
const kPatterns = ['^a', 'b$', '^[a-c]+$', '\\d', '^\\p{L}*$', '.', 'a|1', '^.{2}$'];
const kFormats = ['date', 'ipv4', 'email', 'uuid', 'uri', 'json'];
const kTypes = ['null', 'boolean', 'object', 'array', 'string', 'number', 'integer'];

// ajv's copy of the draft-07 meta-schema wants the values of an `enum` to differ.
const distinct = (values) => [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];

class Generator {
  constructor(seed, modern) {
    this.random = randomSource(seed);
    this.modern = modern;
    this.definitions = modern ? '$defs' : 'definitions';
  }
  below(n) { return Math.floor(this.random() * n); }
  pick(list) { return list[this.below(list.length)]; }
  chance(p) { return this.random() < p; }
  some(list, max) {
    const count = 1 + this.below(max);
    return [...new Set(Array.from({ length: count }, () => this.pick(list)))];
  }
  list(n, make) { return Array.from({ length: n }, make); }

  value(depth) {
    const kind = this.below(depth > 0 ? 7 : 5);
    if (kind === 0) return this.pick([null, true, false]);
    if (kind <= 2) return this.pick(kTexts);
    if (kind <= 4) return this.pick(kNumbers);
    if (kind === 5) return this.list(this.below(4), () => this.value(depth - 1));
    return Object.fromEntries(this.some(kNames, 4).map((name) => [name, this.value(depth - 1)]));
  }

  schema(depth, reference = true) {
    if (this.chance(0.05)) return this.chance(0.6);
    const out = {};
    const words = 1 + this.below(3);
    for (let i = 0; i < words; i++) this.add(out, depth, reference);
    // ajv 8.20 forgets `contains` for an empty array beside array `items`.
    if (Array.isArray(out.items) || out.prefixItems) delete out.contains;
    return out;
  }

  add(out, depth, reference) {
    const flat = [
      () => { out.type = this.chance(0.7) ? this.pick(kTypes) : this.some(kTypes, 3); },
      () => { out.enum = distinct(this.list(1 + this.below(3), () => this.value(1))); },
      () => { out.const = this.value(1); },
      () => { out[this.pick(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])] = this.pick(kNumbers); },
      () => { out.multipleOf = this.pick([1, 2, 0.5, 0.01, 4]); },
      () => { out[this.pick(['minLength', 'maxLength'])] = this.below(4); },
      () => { out.pattern = this.pick(kPatterns); },
      () => { out.format = this.pick(kFormats); },
      () => { out[this.pick(['minItems', 'maxItems', 'minProperties', 'maxProperties'])] = this.below(4); },
      () => { out.uniqueItems = this.chance(0.8); },
      () => { out.required = this.some(kNames, 2); },
    ];
    const deep = [
      () => { out.properties = this.members(depth); },
      () => { out.properties = this.members(depth); },
      () => { out.additionalProperties = this.schema(depth - 1); },
      () => { out.patternProperties = { [this.pick(kPatterns)]: this.schema(depth - 1) }; },
      () => { out.propertyNames = this.schema(0); },
      () => { this.items(out, depth); },
      () => { this.items(out, depth); },
      () => { out.contains = this.schema(depth - 1); if (this.modern && this.chance(0.3)) out.minContains = this.below(2); },
      () => { out[this.pick(['allOf', 'anyOf', 'oneOf'])] = this.list(1 + this.below(3), () => this.schema(depth - 1, reference)); },
      () => { out[this.pick(['anyOf', 'oneOf'])] = this.list(2 + this.below(2), () => this.schema(depth - 1, reference)); },
      () => { out.not = this.schema(depth - 1, reference); },
      () => { out.if = this.schema(depth - 1, reference); out.then = this.schema(depth - 1, reference); if (this.chance(0.5)) out.else = this.schema(depth - 1, reference); },
      () => { this.dependencies(out, depth); },
      () => { if (reference && (this.modern || Object.keys(out).length === 0)) out.$ref = `#/${this.definitions}/${this.pick(['d0', 'd1'])}`; },
    ];
    if (out.$ref !== undefined && !this.modern) return;
    this.pick(depth > 0 && this.chance(0.7) ? deep : flat)();
  }

  members(depth) {
    return Object.fromEntries(this.some(kNames, 3).map((name) => [name, this.schema(depth - 1)]));
  }
  items(out, depth) {
    const word = this.modern ? 'prefixItems' : 'items';
    const rest = this.modern ? 'items' : 'additionalItems';
    if (this.chance(0.5)) {
      delete out[rest];
      out.items = this.schema(depth - 1);
    } else {
      out[word] = this.list(1 + this.below(2), () => this.schema(depth - 1));
      if (this.chance(0.6)) out[rest] = this.schema(depth - 1);
    }
  }
  dependencies(out, depth) {
    const names = { [this.pick(kNames)]: this.some(kNames, 2) };
    const schemas = { [this.pick(kNames)]: this.schema(depth - 1, false) };
    if (!this.modern) out.dependencies = this.chance(0.5) ? names : schemas;
    else if (this.chance(0.5)) out.dependentRequired = names;
    else out.dependentSchemas = schemas;
  }

  // Definitions never refer in place, so no chain comes back to itself; they do refer below properties and items.
  document() {
    const body = this.schema(3);
    const root = typeof body === 'object' ? body : { allOf: [body] };
    return {
      $schema: this.modern ? k2020 : kDraft07,
      ...root,
      [this.definitions]: { d0: this.schema(2, false), d1: this.schema(1, false) },
    };
  }
}

// A draft-07 document with `$ref` at its root has no siblings: ours would be `$defs`, which are none.
export function generatedCases(schemas, instances) {
  const cases = [];
  for (let i = 0; i < schemas; i++) {
    const modern = i % 2 === 0;
    const generator = new Generator(1000 + i, modern);
    const schema = generator.document();
    for (let j = 0; j < instances; j++) {
      cases.push({
        name: `generated ${i}`,
        test: `instance ${j}`,
        schema,
        instance: generator.value(3),
        oracle: modern ? 'ajv2020' : 'ajv07',
      });
    }
  }
  return cases;
}
