# title: tracing one's own children is off, and says so
# denied: ptrace
# needs: strace
strace -o /dev/null true 2>message && echo traced
grep -om1 'Operation not permitted' message
#=> Operation not permitted
#free=> traced
