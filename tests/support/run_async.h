// RunAsync: runs one coroutine to its end on a loop of its own.
#ifndef WARDER_TESTS_SUPPORT_RUN_ASYNC_H_
#define WARDER_TESTS_SUPPORT_RUN_ASYNC_H_

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <exception>
#include <optional>
#include <utility>

namespace warder::testing {

// What `task` returns. An exception of the task is thrown here. Returns when `loop` has nothing
// left to do, so a coroutine that a task leaves behind hangs the test.
template <class T>
T RunAsync(asio::io_context& loop, asio::awaitable<T> task) {
  std::optional<T> result;
  std::exception_ptr fault;
  asio::co_spawn(loop, std::move(task), [&](std::exception_ptr thrown, T value) {
    fault = std::move(thrown);
    if (!fault) result.emplace(std::move(value));
  });
  loop.restart();
  loop.run();
  if (fault) std::rethrow_exception(fault);
  return *std::move(result);
}

template <class T>
T RunAsync(asio::awaitable<T> task) {
  asio::io_context loop;
  return RunAsync(loop, std::move(task));
}

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_RUN_ASYNC_H_
