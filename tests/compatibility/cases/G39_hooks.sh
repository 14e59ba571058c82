# title: hooks and install scripts run, in the same cell
# needs: git npm
set -e
git init -q repo
cd repo
printf '#!/bin/sh\necho formatted >formatted && git add formatted\n' >.git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
echo x >f
git add f
git -c user.name=a -c user.email=a@example.org commit -qm one
git ls-files
cd ..
mkdir dependency pkg
echo '{"name":"dependency","version":"1.0.0","scripts":{"postinstall":"echo ran > ran"}}' >dependency/package.json
cd pkg
echo '{"name":"p","version":"1.0.0"}' >package.json
npm install --offline --no-audit --no-fund --silent --install-links ../dependency
cat node_modules/dependency/ran
#=> f
#=> formatted
#=> ran
