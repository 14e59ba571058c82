#include "manifest/schema_graph.h"

namespace warder::manifest {
namespace {

void Append(const std::optional<SchemaId>& id, std::vector<SchemaId>& ids) {
  if (id) ids.push_back(*id);
}

void Append(const std::vector<SchemaId>& more, std::vector<SchemaId>& ids) {
  ids.insert(ids.end(), more.begin(), more.end());
}

}  // namespace

std::vector<SchemaId> SchemasInPlace(const SchemaNode& node) {
  std::vector<SchemaId> ids;
  Append(node.all_of, ids);
  Append(node.any_of, ids);
  Append(node.one_of, ids);
  Append(node.negated, ids);
  Append(node.condition, ids);
  Append(node.then_schema, ids);
  Append(node.else_schema, ids);
  for (const Dependency& dependency : node.dependencies) Append(dependency.schema, ids);
  return ids;
}

std::vector<SchemaId> SchemasBelow(const SchemaNode& node) {
  std::vector<SchemaId> ids;
  Append(node.prefix, ids);
  Append(node.rest, ids);
  Append(node.contains, ids);
  for (const auto& [name, id] : node.properties) ids.push_back(id);
  for (const auto& [pattern, id] : node.pattern_properties) ids.push_back(id);
  Append(node.additional_properties, ids);
  Append(node.property_names, ids);
  return ids;
}

}  // namespace warder::manifest
