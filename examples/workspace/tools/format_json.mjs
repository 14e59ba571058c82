// Formats a JSON text. Input: one JSON object on stdin, see .basis/tools.json.
import { readFileSync } from "node:fs";

const request = JSON.parse(readFileSync(0, "utf8"));

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

let value;
try {
  value = JSON.parse(request.text);
} catch (error) {
  console.error(`format_json: text: ${error.message}`);
  process.exit(1);
}
console.log(JSON.stringify(request.sort_keys ? sorted(value) : value, null, request.indent ?? 2));
