import { expect, test } from 'vitest'
import { AllowedHosts } from '@/lib/ip'
import { vet } from '@/server/net/vet'
import { refuseElsewhere } from '@/server/vault/hosts'
import { SetSecret } from '@/server/vault/schema'

const KEY = { name: 'KEY', hosts: ['api.example.com'] }
const resolve = (address: string) => async () => [{ address, family: 4 }]

function call(
  url: string,
  address: string,
  { allow = '', bindings = [KEY] }: { allow?: string; bindings?: (typeof KEY)[] } = {},
) {
  return vet(url, {
    allowed: AllowedHosts.parse(allow) ?? AllowedHosts.none,
    check: (to, inTheOpen) => refuseElsewhere(bindings, to, inTheOpen),
    resolve: resolve(address),
  })
}

test('a secret is not sent over plain http to the public internet', async () => {
  await expect(call('http://api.example.com/x', '93.184.216.34')).rejects.toMatchObject({
    code: 'SECRET_NOT_ALLOWED',
    message: 'The secret KEY would be sent to api.example.com without encryption. Use https.',
  })
  await expect(call('https://api.example.com/x', '93.184.216.34')).resolves.toBeTruthy()
  // No secret is sent.
  await expect(call('http://api.example.com/x', '93.184.216.34', { bindings: [] })).resolves.toBeTruthy()
})

test('private hosts that the operator allowed may get one over http', async () => {
  await expect(call('http://api.example.com/x', '10.0.0.8', { allow: '10.0.0.0/8' })).resolves.toBeTruthy()
  await expect(call('http://api.example.com/x', '10.0.0.8', { allow: 'api.example.com' })).resolves.toBeTruthy()
})

test('blanks and line breaks around a secret are not part of it', () => {
  const read = (value: string) => SetSecret.parse({ name: 'K', value }).value
  expect(read(' \ta-long-secret-value-123\r\n')).toBe('a-long-secret-value-123')
  expect(read('-----BEGIN-----\nlines of a key\n-----END-----\n')).toBe(
    '-----BEGIN-----\nlines of a key\n-----END-----',
  )
  expect(SetSecret.safeParse({ name: 'K', value: `short${' '.repeat(20)}` }).success).toBe(false)
})
