// Keeps the library non-empty.
int warder_test_support_anchor();
int warder_test_support_anchor() { return 0; }
