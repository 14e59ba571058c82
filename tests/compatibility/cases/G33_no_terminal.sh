# title: no terminal: no colours, no pager that waits
# needs: git
set -e
test -t 1 || echo no terminal
mkdir d
ls --color=auto | cat -v | grep -c '\^\[' || true
git init -q repo
cd repo
git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m one
git log --format=%s
#=> no terminal
#=> 0
#=> one
