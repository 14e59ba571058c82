# title: writable and executable memory, JIT compilers of node, PCRE and Java
# needs: python3 node perl java
set -e
python3 - <<'PY'
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\xb8\x2a\x00\x00\x00\xc3")
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
PY
node -e 'let s = 0; for (let i = 0; i < 1e7; i++) s = (s + i) | 0; console.log(s)'
echo aaab | grep -cP '(a+)+b'
printf 'public class Hello { public static void main(String[] a) throws Exception { long s = 0; for (int i = 0; i < 50000000; i++) s += i; Thread t = new Thread(() -> System.out.println("java")); t.start(); t.join(); System.out.println(s); } }\n' >Hello.java
java Hello.java
#=> 42
#=> -2014260032
#=> 1
#=> java
#=> 1249999975000000
