# title: asyncio with subprocesses, executors and signal handlers
# needs: python3
exec python3 - <<'PY'
import asyncio, os, signal

async def main():
    child = await asyncio.create_subprocess_exec("echo", "child", stdout=asyncio.subprocess.PIPE)
    print((await child.communicate())[0].decode().strip())
    loop = asyncio.get_running_loop()
    print("executor", await loop.run_in_executor(None, lambda: 42))
    got = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, got.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(got.wait(), 5)
    print("signal")
    server = await asyncio.start_server(lambda r, w: (w.write(b"served\n"), w.close()), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    print((await reader.readline()).decode().strip())
    writer.close()
    server.close()

asyncio.run(main())
PY
#=> child
#=> executor 42
#=> signal
#=> served
