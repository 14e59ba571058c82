#include "manifest/input_schema.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/schema.hpp>
#include <valijson/validator.hpp>

#include "absl/strings/str_format.h"
#include "manifest/schema_evaluator.h"
#include "manifest/schema_graph.h"
#include "manifest/schema_linter.h"
#include "manifest/schema_translation.h"

namespace warder::manifest {
namespace {

namespace constraints = valijson::constraints;

// Levels of an input times schemas in a row on one value: what bounds the stack, at most 10 KiB for
// each.
constexpr std::size_t kMaxRecursion = 512;
constexpr std::size_t kMaxLevels =
    65;  // as deep as the strict reader lets containers nest, and a scalar
// A legitimate check takes less than ten steps for each value of the input.
constexpr EvaluationBudget kBaseBudget = {100'000, std::uint64_t{1} << 31};
constexpr std::uint64_t kStepsPerValue = 32;
constexpr std::uint64_t kMaxSteps = 4'000'000;  // some seconds

// Thrown through valijson, which has no other way out.
struct BudgetSpent {};
thread_local std::uint64_t valijson_steps_left = 0;

// Stands first in every subschema and counts it.
class StepCounter final : public constraints::PolyConstraint {
 public:
  explicit StepCounter(std::uint64_t weight) : weight_(weight) {}

  bool validate(const valijson::adapters::Adapter& target, const std::vector<std::string>& context,
                valijson::ValidationResults* results) const override {
    static_cast<void>(context);
    static_cast<void>(results);
    std::uint64_t steps = weight_;
    if (target.isObject()) steps += target.getObjectSize() / 4;
    if (target.isArray()) steps += target.getArraySize() / 4;
    if (valijson_steps_left < steps) throw BudgetSpent();
    valijson_steps_left -= steps;
    return true;
  }

 private:
  constraints::Constraint* cloneInto(void* memory) const override {
    return new (memory) StepCounter(*this);
  }
  size_t sizeOf() const override { return sizeof(StepCounter); }

  std::uint64_t weight_;
};

bool HoldsNumber(const IndexedJson& value) {
  return value.is_number() ||
         (value.is_structured() && std::any_of(value.begin(), value.end(), HoldsNumber));
}

bool HoldsNumber(const AllowedValues& allowed) {
  return std::any_of(allowed.values.begin(), allowed.values.end(),
                     [](const IndexedJson& value) { return HoldsNumber(value); });
}

// Whether valijson judges all keywords of `node` itself rightly. It computes with rounded numbers,
// knows no integer 1.0, and its patterns are those of std::regex.
bool JudgedWhole(const SchemaNode& node) {
  const bool numbers =
      (node.types & kTypeInteger) != 0 || !node.limits.empty() || node.multiple ||
      std::any_of(node.allowed.begin(), node.allowed.end(),
                  [](const AllowedValues& allowed) { return HoldsNumber(allowed); });
  return !numbers && node.pattern == nullptr && node.format == nullptr && !node.unique_items &&
         node.pattern_properties.empty();
}

// For each schema, whether valijson's verdict is the exact one. Elsewhere it is told less and
// accepts more, which is sound only where acceptance below makes acceptance above: not under `not`,
// `oneOf` and `if`.
std::vector<bool> ExactSchemas(const SchemaGraph& graph) {
  std::vector<bool> exact(graph.nodes.size(), true);
  std::vector<std::vector<SchemaId>> users(graph.nodes.size());
  std::vector<SchemaId> inexact;
  for (SchemaId id = 0; id < graph.nodes.size(); ++id) {
    if (!JudgedWhole(graph.nodes[id])) inexact.push_back(id);
    for (const SchemaId next : SchemasInPlace(graph.nodes[id])) users[next].push_back(id);
    for (const SchemaId next : SchemasBelow(graph.nodes[id])) users[next].push_back(id);
  }
  while (!inexact.empty()) {
    const SchemaId id = inexact.back();
    inexact.pop_back();
    if (!exact[id]) continue;
    exact[id] = false;
    inexact.insert(inexact.end(), users[id].begin(), users[id].end());
  }
  return exact;
}

// Builds valijson's schema from ours. Its own parser is not used: it recurses into what a stranger
// wrote, ignores keywords and divides by zero.
class ValijsonBuilder {
 public:
  explicit ValijsonBuilder(const SchemaGraph& graph) : graph_(graph), exact_(ExactSchemas(graph)) {
    subschemas_.push_back(schema_->root());
    while (subschemas_.size() < graph.nodes.size()) {
      subschemas_.push_back(schema_->createSubschema());
    }
  }

  std::unique_ptr<const valijson::Schema> Run() {
    for (SchemaId id = 0; id < graph_.nodes.size(); ++id) {
      const SchemaNode& node = graph_.nodes[id];
      current_ = subschemas_[id];
      schema_->setAlwaysInvalid(current_, node.never);
      Add(StepCounter(1 + (node.properties.size() + node.required.size()) / 4));
      Values(node);
      Counts(node);
      Items(node);
      Members(node);
      Combined(node);
    }
    return std::move(schema_);
  }

 private:
  void Add(const constraints::Constraint& constraint) {
    schema_->addConstraintToSubschema(constraint, current_);
  }
  const valijson::Subschema* At(SchemaId id) const { return subschemas_[id]; }
  bool AreExact(const std::vector<SchemaId>& ids) const {
    return std::all_of(ids.begin(), ids.end(), [&](SchemaId id) { return exact_[id]; });
  }

  void Values(const SchemaNode& node);
  void Counts(const SchemaNode& node);
  void Items(const SchemaNode& node);
  void Members(const SchemaNode& node);
  void Combined(const SchemaNode& node);

  template <typename OneOf>
  void AddAlternatives(const std::vector<SchemaId>& ids) {
    OneOf constraint;
    for (const SchemaId id : ids) constraint.addSubschema(At(id));
    if (!ids.empty()) Add(constraint);
  }
  template <typename Constraint>
  void AddCount(const std::optional<CountLimit>& limit, void (Constraint::*set)(std::uint64_t)) {
    if (!limit) return;
    Constraint constraint;
    (constraint.*set)(limit->value);
    Add(constraint);
  }

  const SchemaGraph& graph_;
  const std::vector<bool> exact_;
  std::unique_ptr<valijson::Schema> schema_ = std::make_unique<valijson::Schema>();
  std::vector<const valijson::Subschema*> subschemas_;
  const valijson::Subschema* current_ = nullptr;
};

void ValijsonBuilder::Values(const SchemaNode& node) {
  using Type = constraints::TypeConstraint;
  constexpr std::pair<std::uint8_t, Type::JsonType> kTypes[] = {
      {kTypeNull, Type::kNull},     {kTypeBoolean, Type::kBoolean}, {kTypeObject, Type::kObject},
      {kTypeArray, Type::kArray},   {kTypeString, Type::kString},   {kTypeNumber, Type::kNumber},
      {kTypeInteger, Type::kNumber}};
  Type type;
  for (const auto& [bit, json_type] : kTypes) {
    if ((node.types & bit) != 0) type.addNamedType(json_type);
  }
  if (node.types != 0) Add(type);
  for (const AllowedValues& allowed : node.allowed) {
    if (HoldsNumber(allowed)) continue;
    constraints::EnumConstraint values;
    for (const IndexedJson& value : allowed.values) {
      values.addValue(valijson::adapters::NlohmannJsonAdapter(value));
    }
    Add(values);
  }
}

void ValijsonBuilder::Counts(const SchemaNode& node) {
  using namespace constraints;  // NOLINT(google-build-using-namespace): eleven of its names follow
  AddCount(node.min_length, &MinLengthConstraint::setMinLength);
  AddCount(node.max_length, &MaxLengthConstraint::setMaxLength);
  AddCount(node.min_items, &MinItemsConstraint::setMinItems);
  AddCount(node.max_items, &MaxItemsConstraint::setMaxItems);
  AddCount(node.min_properties, &MinPropertiesConstraint::setMinProperties);
  AddCount(node.max_properties, &MaxPropertiesConstraint::setMaxProperties);
}

void ValijsonBuilder::Items(const SchemaNode& node) {
  if (!node.prefix.empty()) {
    constraints::LinearItemsConstraint items;
    for (const SchemaId id : node.prefix) items.addItemSubschema(At(id));
    items.setAdditionalItemsSubschema(node.rest ? At(*node.rest) : schema_->emptySubschema());
    Add(items);
  } else if (node.rest) {
    constraints::SingularItemsConstraint items;
    items.setItemsSubschema(At(*node.rest));
    Add(items);
  }
  if (node.contains) {
    constraints::ContainsConstraint contains;
    contains.setSubschema(At(*node.contains));
    Add(contains);
  }
}

void ValijsonBuilder::Members(const SchemaNode& node) {
  constraints::RequiredConstraint required;
  for (const std::string& name : node.required) required.addRequiredProperty(name);
  if (!node.required.empty()) Add(required);

  constraints::PropertiesConstraint properties;
  for (const auto& [name, id] : node.properties) properties.addPropertySubschema(name, At(id));
  // Which members are additional depends on patterns that valijson is not told.
  const bool told = node.additional_properties && node.pattern_properties.empty();
  properties.setAdditionalPropertiesSubschema(told ? At(*node.additional_properties)
                                                   : schema_->emptySubschema());
  if (told || !node.properties.empty()) Add(properties);

  if (node.property_names) {
    constraints::PropertyNamesConstraint names;
    names.setSubschema(At(*node.property_names));
    Add(names);
  }
  constraints::DependenciesConstraint dependencies;
  for (const Dependency& dependency : node.dependencies) {
    dependencies.addPropertyDependencies(dependency.name, dependency.required);
    if (dependency.schema) {
      dependencies.addSchemaDependency(dependency.name, At(*dependency.schema));
    }
  }
  if (!node.dependencies.empty()) Add(dependencies);
}

void ValijsonBuilder::Combined(const SchemaNode& node) {
  AddAlternatives<constraints::AllOfConstraint>(node.all_of);
  AddAlternatives<constraints::AnyOfConstraint>(node.any_of);
  if (AreExact(node.one_of)) {
    AddAlternatives<constraints::OneOfConstraint>(node.one_of);
  } else {
    AddAlternatives<constraints::AnyOfConstraint>(node.one_of);
  }
  if (node.negated && exact_[*node.negated]) {
    constraints::NotConstraint negation;
    negation.setSubschema(At(*node.negated));
    Add(negation);
  }
  if (node.condition && exact_[*node.condition]) {
    constraints::ConditionalConstraint conditional;
    conditional.setIfSubschema(At(*node.condition));
    if (node.then_schema) conditional.setThenSubschema(At(*node.then_schema));
    if (node.else_schema) conditional.setElseSubschema(At(*node.else_schema));
    Add(conditional);
  }
}

struct InputSize {
  std::size_t values = 0;
  std::size_t levels = 0;
};

// Stops counting levels one past the bound, and goes no deeper.
void Measure(const Json& value, std::size_t level, InputSize& size) {
  ++size.values;
  size.levels = std::max(size.levels, level);
  if (level > kMaxLevels) return;
  for (const Json& item : value) {
    if (value.is_structured()) Measure(item, level + 1, size);
  }
}

class CompiledSchema final : public InputSchema {
 public:
  CompiledSchema(SchemaGraph graph, std::vector<std::string> unenforced)
      : graph_(std::move(graph)),
        unenforced_(std::move(unenforced)),
        valijson_(ValijsonBuilder(graph_).Run()) {}

  absl::Status Check(const Json& input) const override;
  const std::vector<std::string>& Unenforced() const override { return unenforced_; }

 private:
  absl::Status Confirm(const IndexedJson& input, std::uint64_t steps) const;

  SchemaGraph graph_;
  std::vector<std::string> unenforced_;
  std::unique_ptr<const valijson::Schema> valijson_;
};

absl::Status CompiledSchema::Check(const Json& input) const {
  InputSize size;
  Measure(input, 1, size);
  if (size.levels > kMaxLevels || size.levels * graph_.chain_length > kMaxRecursion) {
    return absl::ResourceExhaustedError("`/`: nests too deeply for this schema");
  }
  EvaluationBudget budget = kBaseBudget;
  budget.steps = std::min(budget.steps + kStepsPerValue * size.values, kMaxSteps);
  const IndexedJson indexed(input);
  if (absl::Status judged = EvaluateSchema(graph_, indexed, budget); !judged.ok()) return judged;
  return Confirm(indexed, budget.steps);
}

absl::Status CompiledSchema::Confirm(const IndexedJson& input, std::uint64_t steps) const {
  valijson_steps_left = steps;
  try {
    valijson::Validator validator;
    const valijson::adapters::NlohmannJsonAdapter target(input);
    if (validator.validate(*valijson_, target, nullptr)) return absl::OkStatus();
  } catch (const BudgetSpent&) {
    return absl::ResourceExhaustedError(
        "`/`: checking it against the schema takes too many steps: send less at once");
  } catch (const std::exception& fault) {
    return absl::InternalError(absl::StrFormat("`/`: valijson cannot judge it: %s", fault.what()));
  }
  return absl::InternalError(
      "`/`: the two judges of the input schema disagree: this is a fault of Warder, please report "
      "it");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const InputSchema>> InputSchema::Compile(const Json& schema,
                                                                        RootRule root) {
  auto linted = LintSchema(schema, root);
  if (!linted.ok()) return linted.status();
  auto graph = TranslateSchema(schema, *linted);
  if (!graph.ok()) return graph.status();
  return std::make_shared<const CompiledSchema>(*std::move(graph), std::move(linted->unenforced));
}

}  // namespace warder::manifest
