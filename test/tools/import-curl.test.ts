import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { curl } from '@/app/(dashboard)/[tenant]/_versioned/curl'
import { withArguments } from '@/app/(dashboard)/[tenant]/tools/[toolId]/add-arguments'
import { valuesOf, withValues } from '@/app/(dashboard)/[tenant]/tools/[toolId]/curl-arguments'
import { importCurl, shellWords } from '@/app/(dashboard)/[tenant]/tools/[toolId]/import-curl'
import { missingArguments, usedArguments } from '@/app/(dashboard)/[tenant]/tools/[toolId]/tool-arguments'
import { bodyOf } from '@/app/(dashboard)/[tenant]/tools/new-tool-body'
import { HttpConfig } from '@/server/tools/kinds/http-config'
import { SecretName } from '@/server/vault/schema'
import { rounds } from '../support/rounds'

const call = (command: string) => importCurl(command).call
const required = (...names: string[]) => names.map((name) => ({ name, required: true }))
const BODIES = ['json', 'form', 'text']

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

  test('with its secrets beside it, under names that the vault accepts', () => {
    const { call, secrets } = importCurl("curl -H 'Authorization: Bearer abc' https://api.e.com")
    expect(call.headers).toEqual({ authorization: 'Bearer ${secrets.E_TOKEN}' })
    expect(secrets).toEqual([{ name: 'E_TOKEN', value: 'abc', place: 'authorization' }])
    const { call: withUser, secrets: users } = importCurl('curl -u ada:pass123 https://10.0.0.1:8443')
    expect(withUser.headers).toEqual({ authorization: 'Basic ${secrets.HOST_10_0_0_TOKEN}' })
    expect(users).toMatchObject([{ value: btoa('ada:pass123') }])
    // A variable of the shell has a name, and no value.
    expect(importCurl('curl -H "x-api-key: $CRM_KEY" https://e.com')).toMatchObject({
      call: { headers: { 'x-api-key': '${secrets.CRM_KEY}' } },
      secrets: [{ name: 'CRM_KEY', value: null }],
    })
  })

  test('with a secret without a value where only the shell knows it', () => {
    const secretsOf = (command: string) => importCurl(command).secrets.map(({ name, value }) => [name, value])
    expect(secretsOf('curl -u "$STRIPE_KEY:" https://api.stripe.com')).toEqual([['STRIPE_TOKEN', null]])
    expect(secretsOf('curl https://$USER:$PASS@e.com')).toEqual([['E_TOKEN', null]])
    expect(secretsOf('curl -H "Authorization: Bearer $(cat token)" https://e.com')).toEqual([['E_TOKEN', null]])
    expect(secretsOf('curl -d "password=`pass show e`" https://e.com')).toEqual([['E_PASSWORD', null]])
    expect(importCurl('curl -u "$STRIPE_KEY:" https://e.com').notes.join()).toContain('Base64')
  })

  test('with the user and password of its URL as a secret header', () => {
    const { call, secrets } = importCurl('curl https://ada:p%40ss+1@e.com/a@b?x=1')
    expect(call).toMatchObject({
      url: 'https://e.com/a@b?x=1',
      headers: { authorization: 'Basic ${secrets.E_TOKEN}' },
    })
    expect(secrets).toMatchObject([{ value: btoa('ada:p@ss+1') }])
    expect(call.headers).toEqual(importCurl('curl -u ada:other https://bob:x@e.com').call.headers)
  })

  test('with a note on values that may be secrets and stay', () => {
    const notesOf = (command: string) => importCurl(`curl ${command}`).notes
    expect(notesOf('https://e.com/customer-subscriptions/v2 -d \'{"max_tokens":4096,"a":"b"}\'')).toEqual([])
    expect(notesOf('-d \'{"pin":1234,"user":{"otp":"99"}}\' https://e.com?token=abc')).toEqual([
      expect.stringContaining('pin, otp, token'),
    ])
    expect(notesOf('https://e.com/hooks/$HOOK')).toEqual([expect.stringContaining('path')])
  })

  test('never with a secret in it, wherever the command has one, unless a note says so', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9]{20,40}$/)
    const password = fc.stringMatching(/^[A-Za-z0-9]{6,40}$/)
    const place = fc.oneof(
      fc.tuple(fc.constantFrom('authorization', 'x-api-key', 'cookie', 'query', 'form', 'path', 'text'), secret),
      fc.tuple(fc.constantFrom('json', 'user', 'address'), password),
    )
    fc.assert(
      fc.property(fc.array(place, { maxLength: 5 }), (placed) => {
        const last = new Map(placed)
        const words = placed.map(([where, value]) => {
          if (where === 'query') return `-G --data-urlencode 'access_token=${value}'`
          if (where === 'json') return `-d '{"a":{"password":"${value}"}}'`
          if (where === 'form') return `-d 'client_secret=${value}'`
          if (where === 'text') return `-d '<key>${value}</key>'`
          if (where === 'path' || where === 'address') return ''
          return where === 'user' ? `-u 'ada:${value}'` : `-H '${where}: ${value}'`
        })
        const address = last.has('address') ? `ada:${last.get('address')}@` : ''
        const path = last.has('path') ? `bot${last.get('path')}` : 'a'
        const { call, secrets, notes } = importCurl(
          `curl ${words.join(' ')} 'https://${address}api.example.com/${path}?token=${'s'.repeat(20)}'`,
        )
        const { url, body, ...rest } = call
        const [plainPath = '', query = ''] = url.split('?')
        for (const [where, value] of last) {
          expect(JSON.stringify(rest)).not.toContain(value)
          if (!notes.some((note) => note.startsWith('The body')))
            expect(JSON.stringify(body ?? '')).not.toContain(value)
          if (!notes.some((note) => note.startsWith('The path'))) expect(plainPath).not.toContain(value)
          if (where === 'query' && placed.filter(([one]) => BODIES.includes(one)).length === 0)
            expect(query).not.toContain(value)
        }
        expect(url).not.toContain('s'.repeat(20))
        expect(new Set(secrets.map(({ name }) => name)).size).toBe(secrets.length)
        for (const { name } of secrets) expect(SecretName.safeParse(name).success).toBe(true)
      }),
      { numRuns: rounds(200, 5000) },
    )
  })

  test('with the values that differ from call to call as arguments', () => {
    const { call } = importCurl(
      `curl 'https://e.com/a?lang=en&page=2' -d '{"order":{"id":"N-1","lines":[1]},"amount":42,"sure":true}' -H 'content-type: application/json'`,
    )
    const values = valuesOf(call)
    expect(values.map(({ name, value }) => [name, value])).toEqual([
      ['lang', 'en'],
      ['page', '2'],
      ['id', 'N-1'],
      ['lines', [1]],
      ['amount', 42],
      ['sure', true],
    ])
    const some = values.filter(({ name }) => ['page', 'id', 'amount'].includes(name))
    const { call: made, types } = withValues(call, some)
    expect(made).toMatchObject({
      url: 'https://e.com/a?lang=en&page=${args.page}',
      body: { order: { id: '${args.id}', lines: [1] }, amount: '${args.amount}', sure: true },
    })
    expect(types).toEqual({ page: {}, id: { type: 'string' }, amount: { type: 'number' } })
    expect(HttpConfig.safeParse(made).error).toBeUndefined()
    expect(withValues(call, [])).toEqual({ call, types: {} })
    const form = { kind: 'http' as const, config: { ...made } }
    expect(usedArguments(form)).toEqual(required('page', 'id', 'amount'))
    expect(
      missingArguments({ ...form, inputSchema: withArguments(null, required(...Object.keys(types)), { types }) }),
    ).toEqual([])
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

describe('the arguments of a tool', () => {
  test('are those that its request or script uses', () => {
    const http = {
      kind: 'http' as const,
      config: { url: 'https://e.com/${args.id}?q=${args.q ?? "x"}', headers: { a: '${args.id}' } },
    }
    expect(usedArguments(http)).toEqual([...required('id'), { name: 'q', required: false }])
    const code = 'return args.a + args?.b + my.args.c + args.a // ${args.d}'
    expect(usedArguments({ kind: 'script', config: { code } })).toEqual(required('a', 'b'))
    expect(usedArguments({ kind: 'mcp', config: { url: 'https://e.com' } })).toEqual([])
    expect(usedArguments({ kind: 'http', config: { url: 'https://e.com/${args.' } })).toEqual([])
  })

  test('are required unless the request or script can do without them', () => {
    const code = `/* args.no */ const q = args.q ?? 'args.no', r = args.r || "args.no", s = args.s?.t
      if (args.u === 1) return \`args.no \${args.v} https://e.com\` // args.no
      return args.q2 ? 1 : args.w ?? args.u`
    expect(usedArguments({ kind: 'script', config: { code } })).toEqual([
      ...['q', 'r', 's'].map((name) => ({ name, required: false })),
      ...required('u', 'v'),
      ...['q2', 'w'].map((name) => ({ name, required: false })),
    ])
    const both = { kind: 'http' as const, config: { url: 'https://e.com/${args.id ?? 1}/${args.id}' } }
    expect(usedArguments(both)).toEqual(required('id'))
  })

  test('are added beside those that a schema has, which stay as they are', () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } }, required: [], description: 'kept' }
    const used = [...required('a', 'b'), { name: 'c', required: false }]
    expect(withArguments(schema, used, { types: { a: { type: 'string' }, b: { type: 'string' } } })).toEqual({
      ...{ type: 'object', description: 'kept', required: ['b'] },
      properties: { a: { type: 'number' }, b: { type: 'string' }, c: {} },
    })
    expect(withArguments(null, [])).toBeNull()
  })

  test('of a new tool need no schema written by hand', () => {
    const blank = { name: 'A', url: 'https://e.com/${args.id}', toolName: '', code: 'return args.n' }
    expect(bodyOf({ ...blank, kind: 'http' })).toMatchObject({
      config: { url: 'https://e.com/${args.id}' },
      inputSchema: { required: ['id'], additionalProperties: false },
    })
    const { inputSchema } = bodyOf({ ...blank, kind: 'script' }) as { inputSchema?: object }
    expect(inputSchema).toMatchObject({ required: ['n'] })
    // A script may read arguments by other means.
    expect(inputSchema).not.toHaveProperty('additionalProperties')
    expect(bodyOf({ ...blank, kind: 'mcp' })).not.toHaveProperty('inputSchema')
  })
})
