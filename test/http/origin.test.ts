import { expect, test } from 'vitest'
import { reachedAt } from '@/server/http/origin'

const headers = new Headers({
  host: 'own.example:3000',
  'x-forwarded-host': 'seen.example, inner.example',
  'x-forwarded-proto': 'https, http',
})

test.each([
  [
    { TRUST_PROXY: 0, VERCEL: false },
    { protocol: 'http', host: 'own.example:3000' },
  ],
  [
    { TRUST_PROXY: 1, VERCEL: false },
    { protocol: 'https', host: 'seen.example' },
  ],
  [
    { TRUST_PROXY: 0, VERCEL: true },
    { protocol: 'https', host: 'seen.example' },
  ],
])('what proxies say counts only where they are trusted: %j', (settings, expected) => {
  expect(reachedAt(headers, settings)).toEqual(expected)
})

test('without proxy headers, a trusted proxy changes nothing', () => {
  expect(reachedAt(new Headers({ host: 'own.example' }), { TRUST_PROXY: 1, VERCEL: false })).toEqual({
    protocol: 'http',
    host: 'own.example',
  })
})
