# title: who am I: ssh -V, id, whoami, getpwuid
# needs: ssh python3
# control: named user
set -e
ssh -V 2>&1 | cut -d_ -f1
[ "$(id -u)" -ge 0 ] && [ -n "$(whoami)" ] && echo named
python3 -c 'import os, pwd; print("home", pwd.getpwuid(os.getuid()).pw_dir != "")'
#=> OpenSSH
#=> named
#=> home True
