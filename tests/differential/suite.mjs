// Cases of Debian's json-schema-test-suite (draft-07), and the same rewritten for 2020-12.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const kDraft07 = 'http://json-schema.org/draft-07/schema#';
export const k2020 = 'https://json-schema.org/draft/2020-12/schema';
const kSuite = '/usr/share/json-schema-test-suite/tests/draft7';

function files(folder) {
  return readdirSync(folder).sort().flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

const tagged = (schema, uri) =>
  typeof schema === 'object' && schema.$schema === undefined ? { $schema: uri, ...schema } : schema;

// Each case: {name, schema, instance, valid}; `valid` is the suite's word.
export function suiteCases() {
  return files(kSuite).flatMap((path) =>
    JSON.parse(readFileSync(path, 'utf8')).flatMap((group) =>
      group.tests.map((test) => ({
        name: `${path.slice(kSuite.length + 1)}: ${group.description}`,
        test: test.description,
        schema: tagged(group.schema, kDraft07),
        instance: test.data,
        valid: test.valid,
        oracle: 'suite',
      }))));
}

const kByName = ['properties', 'patternProperties', 'definitions', '$defs'];
const kOne = ['additionalProperties', 'additionalItems', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'];
const kLists = ['allOf', 'anyOf', 'oneOf'];
const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

// The draft-07 schema in 2020-12 words. References into what was renamed are left dangling: such schemas are refused.
export function to2020(schema) {
  if (typeof schema !== 'object' || schema === null) return schema;
  const out = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$schema') out.$schema = k2020;
    else if (kByName.includes(key)) out[key] = mapValues(value, to2020);
    else if (kLists.includes(key)) out[key] = value.map(to2020);
    else if (key === 'items' && Array.isArray(value)) {
      if (value.length > 0) out.prefixItems = value.map(to2020);
      if (schema.additionalItems !== undefined) out.items = to2020(schema.additionalItems);
    } else if (key === 'items') out.items = to2020(value);
    else if (key === 'additionalItems') continue;
    else if (key === 'dependencies') {
      for (const [name, needed] of Object.entries(value)) {
        const word = Array.isArray(needed) ? 'dependentRequired' : 'dependentSchemas';
        out[word] = { ...out[word], [name]: Array.isArray(needed) ? needed : to2020(needed) };
      }
    } else if (kOne.includes(key)) out[key] = to2020(value);
    else out[key] = value;
  }
  return out;
}

// `valid` is left to ajv.
export function suiteCases2020() {
  return suiteCases().map(({ name, test, schema, instance }) => ({
    name: `2020-12 ${name}`,
    test,
    schema: to2020(schema),
    instance,
    oracle: 'ajv2020',
  }));
}
