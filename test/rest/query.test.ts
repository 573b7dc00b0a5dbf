import { describe, expect, test } from 'vitest'
import { byName } from '@/server/http/by-name'
import { OPERATIONS } from '@/server/rest/openapi-document'
import { readQuery } from '@/server/rest/query'

const at = 'http://test.invalid/api'
const read = async (method: string, path: string, query: string) => {
  const operation = OPERATIONS.find((one) => one.method === method && one.path === path)
  return readQuery(new Request(`${at}?${query}`, { method }), Object.keys(operation?.query?.shape ?? {}))
}

describe.each(OPERATIONS.map(({ method, path, query }) => [`${method} ${path}`, method, path, query] as const))(
  '%s',
  (_, method, path, query) => {
    const names = Object.keys(query?.shape ?? {})

    test('takes each of its parameters once, and no other', async () => {
      const all = names.map((name): [string, string] => [name, 'v'])
      expect(await read(method, path, new URLSearchParams(all).toString())).toEqual(byName(all))
      for (const name of names) {
        await expect(read(method, path, `${name}=a&${name}=a`)).rejects.toMatchObject({
          code: 'INVALID_INPUT',
          details: [{ path: name, message: 'was sent more than once' }],
        })
      }
      await expect(read(method, path, 'no-such-parameter=1')).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        details: [{ path: 'no-such-parameter' }],
      })
    })
  },
)

test('the nearest name is offered', async () => {
  await expect(read('GET', '/api/workflow/runs', 'startedby=a&statuss=failed&zzz=1')).rejects.toMatchObject({
    details: [
      { path: 'startedby', message: 'This call has no such parameter.' },
      { path: 'statuss', message: 'This call has no such parameter. Did you mean status?' },
      { path: 'zzz', message: 'This call has no such parameter.' },
    ],
  })
})

test('Next’s own parameters belong to nobody', async () => {
  expect(await read('GET', '/api/workflow/runs', 'nxtPid=1&_rsc=x&limit=5')).toEqual({ limit: '5' })
})
