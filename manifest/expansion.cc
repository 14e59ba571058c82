#include "manifest/expansion.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "manifest/json.h"

namespace warder::manifest {
namespace {

// A literal, or a reference to a variable. Views into the text.
struct Piece {
  std::string_view literal;
  std::string_view variable;  // empty for a literal
  std::optional<std::string_view> fallback;
};

bool IsVariableName(std::string_view name) {
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name.front()))) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

// `inside` is what stands between "${" and "}".
absl::StatusOr<Piece> ParseReference(std::string_view inside) {
  const std::size_t mark = inside.find(":-");
  Piece piece;
  piece.variable = inside.substr(0, mark);
  if (mark != std::string_view::npos) piece.fallback = inside.substr(mark + 2);
  if (piece.variable.empty()) {
    return absl::InvalidArgumentError(
        "empty `${}`: write the name of a variable between the braces");
  }
  if (!IsVariableName(piece.variable)) {
    return absl::InvalidArgumentError(
        "`${...}` holds something that is not a variable name: write ${NAME} or ${NAME:-default}, "
        "the name made of letters, digits and `_`");
  }
  if (piece.fallback && piece.fallback->find("${") != std::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the default of variable %s holds another `${`: a default is literal text",
                        QuoteKey(piece.variable)));
  }
  return piece;
}

absl::StatusOr<std::vector<Piece>> ParsePieces(std::string_view text) {
  std::vector<Piece> pieces;
  while (!text.empty()) {
    const std::size_t open = text.find("${");
    if (open != 0) pieces.push_back({text.substr(0, open), {}, std::nullopt});
    if (open == std::string_view::npos) break;
    text.remove_prefix(open + 2);
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos) {
      return absl::InvalidArgumentError("unclosed `${`: add the `}`");
    }
    const absl::StatusOr<Piece> piece = ParseReference(text.substr(0, close));
    if (!piece.ok()) return piece.status();
    pieces.push_back(*piece);
    text.remove_prefix(close + 1);
  }
  return pieces;
}

absl::StatusOr<std::string> Resolve(const Piece& piece, const VariableLookup& lookup) {
  std::optional<std::string> value = lookup(piece.variable);
  const bool use_fallback = piece.fallback && value.value_or("").empty();
  if (use_fallback) return std::string(*piece.fallback);
  if (value) return *std::move(value);
  return absl::NotFoundError(absl::StrFormat(
      "variable %s is not set and has no default: set it, or write ${NAME:-default}",
      QuoteKey(piece.variable)));
}

}  // namespace

absl::StatusOr<std::string> Expand(std::string_view text, const VariableLookup& lookup,
                                   std::vector<std::string>* names) {
  const absl::StatusOr<std::vector<Piece>> pieces = ParsePieces(text);
  if (!pieces.ok()) return pieces.status();
  std::string expanded;
  for (const Piece& piece : *pieces) {
    if (piece.variable.empty()) {
      expanded += piece.literal;
    } else {
      if (names != nullptr &&
          std::find(names->begin(), names->end(), piece.variable) == names->end()) {
        names->emplace_back(piece.variable);
      }
      const absl::StatusOr<std::string> value = Resolve(piece, lookup);
      if (!value.ok()) return value.status();
      expanded += *value;
    }
    if (expanded.size() > kMaxExpandedBytes) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("expands to more than %d bytes", kMaxExpandedBytes));
    }
  }
  return expanded;
}

absl::Status CheckExpansion(std::string_view text) { return ParsePieces(text).status(); }

}  // namespace warder::manifest
