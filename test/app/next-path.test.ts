import { expect, test } from 'vitest'
import { nextPath } from '@/app/(auth)/next-path'

test.each([
  ['/acme/runs?status=failed#top', '/acme/runs?status=failed#top'],
  ['http://localhost:3000/acme', '/acme'],
  ['/w/a%20b', '/w/a%20b'],
  [undefined, '/'],
  ['', '/'],
  ['https://evil.example/acme', '/acme'],
  ['//evil.example', '/'],
  ['//evil.example//evil.example', '/evil.example'],
  ['/\\evil.example', '/'],
  ['\\\\evil.example\\x', '/x'],
  ['/%0d%0aSet-Cookie:x', '/%0d%0aSet-Cookie:x'],
  ['/\t/evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['data:text/html,x', '/'],
  ['http://[', '/'],
  ['/sign-in?next=/sign-in', '/'],
  ['/api/auth/signout', '/'],
  ['/api-keys', '/api-keys'],
])('after signing in, %j leads to %j', (wanted, path) => {
  expect(nextPath(wanted)).toBe(path)
  expect(new URL(nextPath(wanted), 'http://localhost:3000').origin).toBe('http://localhost:3000')
})
