import { describe, expect, test } from 'vitest'
import { looksSecret } from '@/server/definition/secret-name'

describe('a name is judged by its words', () => {
  test.each([
    'authorization',
    'Proxy-Authorization',
    'x-auth-token',
    'x-oauth-token',
    'cookie',
    'token',
    'access_token',
    'accessToken',
    'accesstoken',
    'x-gitlab-token',
    'api-key',
    'apiKey2',
    'x-api-key',
    'x_private_key',
    'key',
    'sig',
    'x-hub-signature-256',
    'client_secret',
    'clientsecret',
    'pwd',
    'passwd',
    'db-pass',
    'pass',
    'pin',
    'card_pin',
    'private',
    'access',
    'jwt',
    'code',
    'password',
    'userPassword',
    'session',
    'PHPSESSID',
    'sessionToken',
    'x-vercel-protection-bypass',
  ])('%s looks secret', (name) => expect(looksSecret(name)).toBe(true))

  test.each([
    'author',
    'x-author-name',
    'x-authority',
    'authorized_amount',
    'x-token-count',
    'x-session-count',
    'tokenType',
    'country_code',
    'postalCode',
    'issue-key',
    'sort_key',
    'keyword',
    'passenger',
    'passport_country',
    'pinned',
    'access_level',
    'is_private',
    'secretary',
    'kind',
    'x-github-event',
    'signed',
    '',
  ])('%s does not', (name) => expect(looksSecret(name)).toBe(false))

  test('a key alone by its value, if known', () => {
    for (const value of ['PROJ-1', 'orders/2026/scan-0001.pdf', 'customers-of-the-northern-region', '', ['a', 'b']])
      expect([value, looksSecret('key', value)]).toEqual([value, false])
    for (const value of ['AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY', ['PROJ-1', 'sk_4f9a8b7c6d5e4f3a2b1c0d9e']])
      expect([value, looksSecret('X-Key', value)]).toEqual([value, true])
    expect(looksSecret('api_key', 'PROJ-1')).toBe(true)
  })
})
