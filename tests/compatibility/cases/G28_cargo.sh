# title: cargo build without a network, with a build script
# needs: cargo
set -e
export CARGO_HOME=$HOME/cargo
mkdir -p src
printf '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
printf 'fn main() { println!("cargo:rustc-env=BUILT=yes"); }\n' >build.rs
printf 'pub fn answer() -> i32 { 42 }\n' >src/part.rs
printf 'mod part;\nfn main() { println!("{} {}", env!("BUILT"), part::answer()); }\n' >src/main.rs
cargo build --offline -q
target/debug/p
#=> yes 42
