#include "approval/preview_words.h"

#include <gtest/gtest.h>

#include "tests/support/sample_call.h"

namespace warder::approval {
namespace {

using testing::SampleTicket;

TEST(PreviewWords, StoredWordsAreTheManifestsOwn) {
  const Ticket ticket = SampleTicket();
  EXPECT_TRUE(HidesWords(ticket, Words::kStored));
  EXPECT_EQ(CommandWords(ticket, Words::kStored), ticket.stored_argv);
  EXPECT_FALSE(HidesWords(ticket, Words::kExpanded));
  EXPECT_EQ(CommandWords(ticket, Words::kExpanded), ticket.shown_argv);
}

TEST(PreviewWords, AnUnknownFormHides) {
  EXPECT_TRUE(HidesWords(SampleTicket(), static_cast<Words>(7)));
}

TEST(PreviewWords, PathsAreHiddenOnlyWhereAVariableIsInThem) {
  Ticket ticket = SampleTicket();
  EXPECT_EQ(WorkingDirectory(ticket, Words::kStored), "/ws/sub");
  EXPECT_EQ(FilePath(ticket, ticket.files[1], Words::kStored), "/ws/report.py");
  ticket.stored_cwd = "${D}";
  ticket.stored_argv[0] = "${D}/report.py";
  EXPECT_EQ(WorkingDirectory(ticket, Words::kStored), "${D}");
  EXPECT_EQ(FilePath(ticket, ticket.files[1], Words::kStored), "${D}/report.py");
  EXPECT_EQ(FilePath(ticket, ticket.files[0], Words::kStored), "/usr/bin/python3");
  EXPECT_EQ(WorkingDirectory(ticket, Words::kExpanded), "/ws/sub");
}

}  // namespace
}  // namespace warder::approval
