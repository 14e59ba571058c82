# title: git: commit, branch, stash, log, diff, worktree, gc, a clone from a local path
# needs: git
set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
git init -q -b main repo
cd repo
echo one >f
git add f
git commit -qm first
git checkout -qb side
echo two >>f
git stash -q
git stash pop -q
git commit -qam second
git status --short --branch
git log --format=%s
git diff --stat main side | tail -1
git worktree add -q ../tree main
git -C ../tree log --format=%s
git gc -q
git clone -q . ../copy
git -C ../copy status --short --branch
git branch -m side renamed
git --no-pager grep -n two
#=> ## side
#=> second
#=> first
#=>  1 file changed, 1 insertion(+)
#=> first
#=> ## side...origin/side
#=> f:2:two
