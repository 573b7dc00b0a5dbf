import type { JsonValue } from '@/server/definition/json'

const LONG = 'a'.repeat(10_000)
const words = (text: string) => text.trim().split(/\s+/)
const lines = (text: string) => text.trim().split('\n')

/** Path segments. */
export const SEGMENTS = [
  ...words(`
    %00 a%00b %ff %ed%a0%80 % %zz %f0%9f%92%a9 .. %2e%2e . ..%2f..%2fetc%2fpasswd %5c..%5c %2f %252e%252e
    %0d%0aset-cookie:x=1 '%20or%201=1-- %25 %e2%80%ae %c0%af -1 0 1e400 null undefined __proto__ constructor * :id {id}
    [id] ;a=b %20 ~ wf_ run_%00 wf_hello%00 WF_HELLO 00000000-0000-0000-0000-000000000000
    0B9C3C5E-58A3-4F0E-9A8E-6D2F5F1D7C11`),
  LONG,
]

/** Query values. */
export const VALUES = [
  ...words(`
    -1 0 1.5 NaN Infinity 1e9 1e400 999999999 9999999999999999999 0x10 %ef%bc%91 %00 a%00 %ff %ed%a0%80 %25 %5c % _ ' "
    true TRUE null [] %7b%7d %f0%9f%92%a9 %e2%80%ae %20 + %0d%0a draft running latest published = .. WyIyMDI2Il0 W10 e30
    bnVsbA WyIyMDI2LTAxLTAxVDAwOjAwOjAwWiIsInJ1bl94Il0 WyIyOTk5OS0wMS0wMVQwMDowMDowMFoiLCJ4Il0
    WyIyMDI2LTAyLTMxVDAwOjAwOjAwWiIsIngiXQ`),
  '',
  'a'.repeat(201),
  'a'.repeat(2_000),
]

/** JSON values that trip up databases, parsers and schemas. */
export const JSON_VALUES: JsonValue[] = [
  ...lines(String.raw`
null
true
false
0
-1
1.5
9007199254740992
1e308
""
" "
"\u0000"
"a\u0000b"
"\ud800"
"\udc00\ud800"
"\uffff"
[]
{}
[[]]
[null]
{"":""}
{"\u0000":1}
{"\ud800":1}
{"constructor":1,"prototype":2,"toString":3}
"\u0024{"
"\u0024{_}"
"\u0024{a.b[0]}"
"\u0024{__proto__}"
"\u0024{constructor.constructor(\"x\")()}"
"\u0024\u0024{"
"\u0024{a ?? }"
"1e400"
"2026-02-30"
["a",1,null]
{"$ref":"#"}
{"type":"object"}
{"then":1}
"'; drop table runs; --"
"\\"
"%"
"<script>"`).map((text) => JSON.parse(text) as JsonValue),
  LONG,
]

const nested = (depth: number, open: string, inner: string, close: string) =>
  open.repeat(depth) + inner + close.repeat(depth)

/** Whole bodies, byte for byte. */
export const BODIES = [
  ...lines(String.raw`
null
true
0
"x"
[]
[{}]
{
}
{"a"}
{"a":}
{'a':1}
{"a":1,}
{"a":01}
{"a":NaN}
{"a":1e400}
{"a":-1e400}
{"a":-0}
{"a":1}{"a":2}
{"a":1,"a":2}
{"__proto__":{"admin":true},"name":"x"}
{"data":{"__proto__":{"a":1}},"type":"collect_inputs"}
{"a":"\u0000"}
{"\u0000":1}
{"a":"\ud800"}
{"a":"\udc00"}
{"a":"\x"}
{"a":123456789012345678901234567890}
{"a":0.1e-400}
/* */{}
{"name":"x","steps":[{"id":"a","type":"x","a":"\u0000"}]}
{"name":"x","payload":{"__proto__":{"type":"string"}}}
{"type":"collect_inputs","data":[]}
{"runId":{}}
{"version":1e21,"name":"x"}`),
  '',
  ' ',
  '{"a":"\t"}',
  '\ufeff{}',
  nested(64, '{"a":', '1', '}'),
  nested(65, '{"a":', '1', '}'),
  nested(20_000, '[', '', ']'),
  `{"a":${nested(20_000, '[', '', ']')}}`,
  '['.repeat(50_000),
  `{${Array.from({ length: 10_001 }, (_, index) => `"k${index}":1`).join(',')}}`,
  `{"a":"${'x'.repeat(1_100_000)}"}`,
  `{"${LONG}":"${LONG}"}`,
].map((text) => Buffer.from(text))

/** Invalid UTF-8. */
export const BYTES = ['fffe', '7b22c328223a317d', '00', '80'.repeat(1_000)].map((text) => Buffer.from(text, 'hex'))

const part = (disposition: string, content: string) =>
  `--x\r\nContent-Disposition: form-data${disposition}\r\n\r\n${content}\r\n`
const form = (...parts: string[]) => `${parts.join('')}--x--\r\n`

/** Form bodies with the boundary `x`. */
export const FORMS = [
  '',
  '--x--\r\n',
  '--x',
  '--x\r\n\r\n',
  part('', 'a'),
  form(part('; name="attachment"; filename="a.txt"', 'hello')),
  form(part('; name="attachment"; filename="../../etc/passwd"', '\u0000')),
  form(part('; name="name"', '\u0000')),
  form(part('; name="name"', 'Ada')),
  form(part('; name="data"', '{"a":1e400}')),
  form(part('; name="data"', '[')),
  form(part('; name="__proto__"', 'x')),
  form(part('; name="name"', 'x').repeat(101)),
  form(part('; name="fileId"', 'x'), part('; name="attachment"; filename="a"', '')),
].map((text) => Buffer.from(text))

export const CONTENT_TYPES = [
  ...lines(`
application/json; charset=utf-8
APPLICATION/JSON
application/vnd.api+json
application/json; charset=utf-16
text/plain
text/html
application/x-www-form-urlencoded
multipart/form-data
multipart/form-data; boundary=x
multipart/form-data; boundary=""
multipart/mixed; boundary=x
json
/
;
application/json, text/plain
application/json\u00ff`),
  '',
  ' ',
  'a'.repeat(4_000),
]

type HeaderValue = string | string[]
const LATIN = '\u00fc'
const SIZED = [255, 256, 3_000].map((length) => 'x'.repeat(length))

export const HEADERS: Record<string, HeaderValue[]> = {
  'idempotency-key': ['', ' ', 'a', 'same', 'same', ...SIZED, LATIN, ['a', 'b'], '"', "'; --", '%00'],
  'if-match': [
    '*',
    '"1"',
    '1',
    'W/"1"',
    '"1", "2"',
    '""',
    '"99999999999"',
    '"-1"',
    ',',
    LATIN,
    ['"1"', '"2"'],
    ...SIZED,
  ],
  'if-none-match': ['*', '"1"', 'W/"x"', ','],
  'last-event-id': [...words('0 1 -1 999999999999999 9999999999999999 1-end x 1e5'), '', LATIN, ['1', '2']],
  prefer: ['wait=0', 'wait=1', 'wait=-1', 'wait=1e3', 'wait=', 'wait=x', 'return=minimal, wait=0', LATIN, ...SIZED],
  'x-request-id': ['', 'x', 'x'.repeat(64), 'x'.repeat(65), LATIN, '../../x', ['aaaaaaaa', 'bbbbbbbb']],
  'x-tenant-id': ['', 'ten_nobody', LATIN, ['a', 'b']],
  authorization: ['', 'Bearer', 'Bearer x', 'Bearer a.b.c', `Bearer ${'e30.'.repeat(3)}`, 'Basic eDp5'],
  'x-api-key': ['', 'sk_', 'sk_wrong_wrong_wrong', LATIN, ...SIZED],
  accept: ['text/html', '*/*', 'application/xml', ''],
  'accept-encoding': ['gzip', 'identity;q=0', 'x'],
  'content-encoding': ['gzip', 'br', 'x'],
  origin: ['null', 'https://example.com', 'x', LATIN],
  host: ['x', 'a b', '', 'evil.example:99999', '[::1]'],
  range: ['bytes=0-0', 'bytes=9-1', 'x'],
  'x-forwarded-for': ['x', '1.2.3.4', ','],
  'x-http-method-override': ['DELETE'],
  // Headers that the framework below the routes treats as its own.
  'x-middleware-subrequest': ['middleware', 'src/middleware:src/middleware'],
  'next-action': ['x', '0'.repeat(40)],
  rsc: ['1'],
  'next-router-prefetch': ['1', '2'],
  'next-router-state-tree': ['x', '%5B%5D'],
  'x-nextjs-data': ['1'],
  'x-matched-path': ['/api/inngest'],
  'x-prerender-revalidate': ['x'],
  'x-invoke-path': ['/api/inngest'],
}
