# title: python threads, subprocesses, pools, signals, temporary files
# needs: python3
exec python3 - <<'PY'
import concurrent.futures, multiprocessing, os, shutil, signal, subprocess, sys, tempfile, threading

def square(x):
    return x * x

seen = []
threads = [threading.Thread(target=seen.append, args=(i,)) for i in range(20)]
[t.start() for t in threads]
[t.join() for t in threads]
print("threads", len(seen))
print("child", subprocess.run([sys.executable, "-c", "print('hello')"], capture_output=True, text=True).stdout.strip())
context = multiprocessing.get_context("fork")
with context.Pool(2) as pool:
    print("fork pool", pool.map(square, [1, 2, 3]))
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print("executor", sum(pool.map(square, range(10))))
with multiprocessing.Manager() as manager:
    shared = manager.dict(a=1)
    shared["b"] = 2
    print("manager", sorted(shared.items()))
signal.signal(signal.SIGUSR1, lambda *_: print("signal"))
os.kill(os.getpid(), signal.SIGUSR1)
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "a"), "w") as f:
        f.write("x" * 10)
    shutil.copytree(folder, folder + "-copy")
    print("copied", os.path.getsize(folder + "-copy/a"))
    shutil.rmtree(folder + "-copy")
PY
#=> threads 20
#=> child hello
#=> fork pool [1, 4, 9]
#=> executor 285
#=> manager [('a', 1), ('b', 2)]
#=> signal
#=> copied 10
