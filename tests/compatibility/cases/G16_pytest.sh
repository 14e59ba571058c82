# title: pytest with tmp_path, captured descriptors and subprocesses
# needs: pytest
set -e
cat >test_it.py <<'PY'
import subprocess

def test_tmp(tmp_path):
    (tmp_path / "f").write_text("x")

def test_capfd(capfd):
    subprocess.run(["echo", "out"], check=True)
    assert capfd.readouterr().out == "out\n"
PY
pytest -q 2>&1 | grep -o '2 passed'
[ -d .pytest_cache ] && echo cached
#=> 2 passed
#=> cached
