# title: two megabytes of arguments and a large environment
# needs: python3
exec python3 - <<'PY'
import os, subprocess
arguments = ["x" * 1000] * 1900
print(subprocess.run(["sh", "-c", 'echo $#', "sh", *arguments], capture_output=True, text=True).stdout.strip())
print(subprocess.run(["sh", "-c", 'echo ${#BIG}'], env={**os.environ, "BIG": "y" * 102400}, capture_output=True, text=True).stdout.strip())
PY
#=> 1900
#=> 102400
