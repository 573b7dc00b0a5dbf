import { expect, test } from 'vitest'
import { byName } from '@/server/http/by-name'
import { keptParts, sentOf } from '@/server/inbound/content'

test('a name that is sent more than once has all its values, in a form and in the query', () => {
  const query = byName(new URLSearchParams('id=1&id=2&one=3'))
  const kept = keptParts([], query, null)
  const content = { contentType: 'application/x-www-form-urlencoded', body: 'tag=red&tag=blue&tag=&size=L', ...kept }
  expect(sentOf(content)).toEqual({
    body: { tag: ['red', 'blue', ''], size: 'L' },
    query: { id: ['1', '2'], one: '3' },
    headers: {},
  })
})

test('only fields whose names look secret are left out', () => {
  const named = (...names: string[]) => names.map((name): [string, string] => [name, 'v'])
  const kept = keptParts(
    named('x-author-name', 'x-authority', 'x-session-count', 'x-db-pass', 'x-pin', 'x-jwt', 'x-access-token'),
    byName(named('author', 'authorized_amount', 'kind', 'pwd', 'passwd', 'private', 'access', 'code')),
    null,
  )
  expect(Object.keys(kept.headers)).toEqual(['x-author-name', 'x-authority', 'x-session-count'])
  expect(Object.keys(kept.query)).toEqual(['author', 'authorized_amount', 'kind'])
})
