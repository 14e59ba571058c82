// Strings against formats and patterns: the two places where ajv uses JavaScript and Warder does not.
import { k2020 } from './suite.mjs';

const kFormatTexts = {
  date: ['2024-02-29', '2023-02-29', '1900-02-29', '2000-02-29', '2024-13-01', '2024-00-10', '2024-04-31', '24-01-01', '2024-1-1', '2024-01-01T', ' 2024-01-01', '２024-01-01', '0000-01-01'],
  time: ['12:00:00Z', '12:00:00', '24:00:00Z', '23:59:60Z', '22:59:60Z', '23:59:60+01:00', '00:59:60+01:00', '12:00:00.123456+02:00', '12:00:00.Z', '12:00:00+24:00', '12:00:00+0200', '12:60:00Z', '1:00:00Z', '12:00:00z', '12:00:61Z'],
  'date-time': ['2024-02-29T12:00:00Z', '2023-02-29T12:00:00Z', '2024-01-01t00:00:00z', '2024-01-01 00:00:00Z', '2024-01-01T00:00:00', '2016-12-31T23:59:60Z', '2016-12-31T23:58:60Z', '2024-01-01T00:00:00+25:00', '2024-01-01', 'T12:00:00Z', '2024-01-01T12:00:00Z\n'],
  uri: ['http://example.org', 'http://example.org/a b', 'mailto:x@y.org', 'urn:isbn:123', '//host/path', '/path', 'a', 'http:', 'http://', 'http://[::1]:80/', 'http://[::g]/', 'http://a:b/', 'http://a:80', 'http://é.org', 'http://a/%zz', 'http://a/%20', 'http://a?x=1#y', 'http://a#x#y', '1http://a', 'file:///etc/passwd', 'http://u:p@h/', 'a:b', 'http://a/[b]', 'http://a/{b}', 'http://a\\b', 'http://a/"', 'data:text/plain,hi', 'http://[v1.a]/', 'tel:+1-2'],
  uuid: ['123e4567-e89b-12d3-a456-426614174000', '123E4567-E89B-12D3-A456-426614174000', '123e4567e89b12d3a456426614174000', '123e4567-e89b-12d3-a456-42661417400', '123e4567-e89b-12d3-a456-42661417400g', '{123e4567-e89b-12d3-a456-426614174000}', '00000000-0000-0000-0000-000000000000', ''],
  email: ['a@b.org', 'a@b', '@b.org', 'a@', 'a b@c.org', '"a b"@c.org', 'a..b@c.org', '.a@b.org', 'a.@b.org', 'a@-b.org', 'a@b-.org', 'a+b@c.org', 'a@b@c.org', 'é@b.org', 'a@b..org', 'a@[127.0.0.1]', 'a@b.org.', 'A@B.ORG', `${'x'.repeat(65)}@b.org`],
  ipv4: ['1.2.3.4', '256.1.1.1', '01.2.3.4', '1.2.3', '1.2.3.4.5', '1.2.3.4 ', '0x1.2.3.4', '127.1', '255.255.255.255', '1.2.3.4/24', '', '٠.2.3.4'],
  ipv6: ['::', '::1', '1::', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8:9', '::ffff:1.2.3.4', '::ffff:01.2.3.4', '12345::', '::g', '1::2::3', ':1', '1:', 'fe80::1%eth0', '[::1]', '::1/64', '1:2:3:4:5:6:7', '1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:7:1.2.3.4', '::1.2.3.256', 'ABCD::'],
  hostname: ['a', 'a.b', 'example.org', 'example.org.', '-a', 'a-', 'a_b', 'a..b', '.a', '', '1.2.3.4', 'é.org', 'xn--caf-dma.org', `${'x'.repeat(63)}.a`, `${'x'.repeat(64)}.a`, Array(64).fill('abc').join('.'), 'a b', 'a--b'],
};

const kPatterns = ['a.c', '^a$', '^\\s+$', '^\\S+$', '^[\\s]$', '^[^\\s]$', '^[\\S]$', '^\\w+$', '^\\W$', '^\\d$', '^[\\d-]+$', '^[a-c-]+$', '^\\D$', 'a\\b', '\\Ba',
  '^\\u0041$', '^\\u{1F600}$', '^\\uD83D\\uDE00$', '^\\x41$', '^\\cJ$', '^\\t$', '^[\\b]$', '^\\/$', '^\\.$', '^[[]$', '^[\\]]$', '^[^]$', '^[]$', '[]', '^[[:alpha:]]$',
  '^\\p{L}+$', '^\\p{Lu}$', '^\\P{L}$', '^\\p{Script=Greek}$', '^\\p{Letter}$', '^\\p{gc=Nd}$', '^(?:a|b)+$', '^(a)(b)?$', '^(?<year>\\d+)$', 'a{2}', '^a{2,}$', '^a{1,3}?$', 'a*?b', '^(a+)+$',
  '^$', '', '|a', '(|a)b', '^a|b$', '^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}$', '^(25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.(25[0-5]|2[0-4]\\d|1?\\d?\\d)){3}$', '^[^\\n]+$', '^[\\w.]+$', '^[!-~]+$', '\\0', '^[a\\-z]$', '^.{1,3}$',
  // Not for a linear-time engine, or not ECMA-262:
  '(?=a)', '(?!a)b', '(?<=a)b', '(a)\\1', '(?i)a', 'a**', '*a', '(a', 'a)', '[a', '\\', '\\q', '(?P<n>a)', '\\A', '\\z', '\\Qa\\E', 'a{1001}', '\\p{Nonsense}', '\\pL', '\\k<n>', '^*', 'a++', '\\u12', '\\uD800', '(?#a)'];
const kTexts = ['', 'a', 'b', 'A', 'aa', 'aaa', 'aaaa', 'ab', 'abc', 'a\nc', 'a\rc', 'a\u2028c', 'aéc', 'a😀c', '😀', 'é', 'α', 'Α', 'ß', '1', '٣', '12', '1-2', ' ', '\u00a0', '\ufeff', '\u200b', '\u3000', '\v', '\t', '\n', 'a\n', '\u0085', '\u180e',
  '_', '-', '.', '/', '\\', '[', ']', ':', ':]', 'a]', '\b', 'x@y.org', '10.0.0.1', '256.0.0.1', 'aé', 'a b', '2024', '~', '!', 'ſ', 'K', '\u0008', 'aaaaaaaaaaaaaaaaaaaaaaaaaa!'];

const textCase = (keyword, value, text) => ({
  name: `${keyword} ${value}`,
  test: JSON.stringify(text),
  schema: { $schema: k2020, [keyword]: value },
  instance: text,
  oracle: 'ajv2020',
});

export function textCases() {
  const formats = Object.entries(kFormatTexts).flatMap(([format, texts]) => texts.map((text) => textCase('format', format, text)));
  const patterns = kPatterns.flatMap((pattern) => kTexts.map((text) => textCase('pattern', pattern, text)));
  return [...formats, ...patterns];
}
