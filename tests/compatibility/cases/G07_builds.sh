# title: g++ with threads, make -j, cmake with ninja
# needs: g++ make cmake ninja
set -e
cat >m.cc <<'CC'
#include <iostream>
#include <thread>
int main() { std::thread t([] { std::cout << "threaded\n"; }); t.join(); }
CC
printf 'all: a b c d\n\techo made\n%%:\n\tsleep 0.05; touch $@\n' >Makefile
make -s -j4 all
printf 'cmake_minimum_required(VERSION 3.10)\nproject(m LANGUAGES CXX)\nfind_package(Threads REQUIRED)\nadd_executable(m m.cc)\ntarget_link_libraries(m Threads::Threads)\n' >CMakeLists.txt
cmake -G Ninja -S . -B out >/dev/null
ninja -C out >/dev/null
out/m
#=> made
#=> threaded
