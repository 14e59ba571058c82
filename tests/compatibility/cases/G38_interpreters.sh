# title: scripts with unusual first lines
# needs: python3
printf '#!/usr/bin/env -S python3 -u\nprint("env -S")\n' >a
printf '#!/bin/sh\r\necho never\r\n' >b
printf '#!/bin/%s/sh\necho long path\n' "$(printf './%.0s' $(seq 100))" >c
chmod +x a b c
./a
./b 2>/dev/null || echo "b $?"
./c
#=> env -S
#=> b 127
#=> long path
