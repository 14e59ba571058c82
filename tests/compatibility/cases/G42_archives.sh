# title: tar and rsync keep modes, links and times
# needs: tar rsync gzip
set -e
mkdir -p a/b
echo x >a/b/f
chmod 750 a/b
ln -s b/f a/link
ln a/b/f a/hard
tar -czf a.tgz a
mkdir out
tar -xzf a.tgz -C out
stat -c '%a %h' out/a/b/f out/a/b
rsync -aH a/ copy/
readlink copy/link
stat -c %h copy/hard
#=> 644 2
#=> 750 2
#=> b/f
#=> 2
