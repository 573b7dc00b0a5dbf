import { describe, expect, test } from 'vitest'
import { curl } from '@/app/(dashboard)/[tenant]/_versioned/curl'
import { importCurl, shellWords } from '@/app/(dashboard)/[tenant]/tools/[toolId]/import-curl'
import { HttpConfig } from '@/server/tools/kinds/http-config'

const call = (command: string) => importCurl(command).call

describe('a curl command becomes a tool', () => {
  test.each([
    ['curl https://api.example.com/v1', { method: 'GET', url: 'https://api.example.com/v1' }],
    ['$ curl -sS example.com', { method: 'GET', url: 'http://example.com' }],
    ['curl -XDELETE https://e.com/a', { method: 'DELETE' }],
    ['curl -I https://e.com', { method: 'HEAD' }],
    ['curl -d \'{"a":1}\' https://e.com', { method: 'POST', body: { a: 1 }, bodyType: 'json' }],
    ['curl --json \'{"a":[1]}\' --url https://e.com', { method: 'POST', body: { a: [1] } }],
    ['curl -X PUT -d a=1 -d "b=x y" https://e.com', { method: 'PUT', body: { a: '1', b: 'x y' }, bodyType: 'form' }],
    [
      'curl -G -d q=1 --data-urlencode "r=a b" https://e.com/s?x=y',
      { method: 'GET', url: 'https://e.com/s?x=y&q=1&r=a%20b' },
    ],
    [
      "curl -H 'Content-Type: text/plain' --data-raw '@not a file' https://e.com",
      { body: '@not a file', bodyType: 'text' },
    ],
    ['curl -m 2.5 https://e.com', { timeoutMs: 2500 }],
    ["curl 'https://e.com' \\\n  -H 'Accept: a/b' \\\n  --compressed", { headers: { accept: 'a/b' } }],
    ['curl -H "X-Q: say \\"hi\\"" https://e.com', { headers: { 'x-q': 'say "hi"' } }],
    ['curl --data-raw $\'{"a":"it\\\'s\\u0021"}\' https://e.com', { body: { a: "it's!" } }],
  ])('%s', (command, expected) => {
    expect(call(command)).toMatchObject(expected)
    expect(HttpConfig.safeParse(call(command)).error).toBeUndefined()
  })

  test('with a secret says so', () => {
    expect(importCurl("curl -H 'Authorization: Bearer abc' https://e.com").notes.join()).toContain('vault')
    const { call: withUser, notes } = importCurl('curl -u ada:pass123 https://e.com')
    expect(JSON.stringify(withUser)).not.toContain('pass123')
    expect(notes.join()).toContain('password')
  })

  test('with an option that a tool does not have says so', () => {
    expect(importCurl('curl -d @big.json -x proxy:1 --tlsv1.3 https://e.com').notes).toHaveLength(3)
  })

  test.each(['', 'wget https://e.com', 'curl', 'curl "https://e.com', 'curl https://e.com -H'])('not %j', (command) => {
    expect(() => importCurl(command)).toThrow(/\.$/)
  })
})

test('written by us is read back exactly', () => {
  const body = { message: 'it\'s "so" $HOME `x` \\ \n${secrets.A}' }
  const text = curl({ origin: 'http://localhost:3000', tenantId: 'ten_1', path: '/api/x', body })
  const words = shellWords(text)
  expect(JSON.parse(words.at(-1) ?? '')).toEqual(body)
  expect(call(text)).toMatchObject({ method: 'POST', url: 'http://localhost:3000/api/x', body })
})
