// EvaluateSchema: whether a value matches a schema, and if not, the first thing that is wrong with
// it.
#ifndef WARDER_MANIFEST_SCHEMA_EVALUATOR_H_
#define WARDER_MANIFEST_SCHEMA_EVALUATOR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "manifest/schema_graph.h"

namespace warder::manifest {

struct EvaluationBudget {
  std::uint64_t steps = 0;         // schemas applied to values, roughly
  std::uint64_t pattern_work = 0;  // Pattern::Work of all patterns together
};

// Recursion goes as deep as `value` nests times `graph.chain_length`: the caller bounds both.
//
// Errors: kInvalidArgument "`/pointer`: what (keyword)", never with a value of `value`;
// kResourceExhausted when the
//   budget is spent, whatever the verdict would have been.
absl::Status EvaluateSchema(const SchemaGraph& graph, const IndexedJson& value,
                            const EvaluationBudget& budget);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_SCHEMA_EVALUATOR_H_
