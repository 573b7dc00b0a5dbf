import { NextRequest } from 'next/server'
import { afterEach, expect, test, vi } from 'vitest'
import { proxy } from '@/proxy'

afterEach(() => vi.unstubAllEnvs())

test.each([
  ['in a folder', {}, "connect-src 'self'"],
  ['in a Blob store', { BLOB_READ_WRITE_TOKEN: 't' }, "connect-src 'self' https://vercel.com/api/blob/"],
  [
    'in S3, beside a Blob store',
    { BLOB_READ_WRITE_TOKEN: 't', FILES_S3_URL: 'https://k:s@s3/b' },
    "connect-src 'self'",
  ],
])('pages send files to the Blob store only if the files are there: %s', (_, settings, expected) => {
  for (const name of ['BLOB_READ_WRITE_TOKEN', 'FILES_S3_URL']) vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  const policy = proxy(new NextRequest('https://m.example/')).headers.get('content-security-policy') ?? ''
  expect(policy.split('; ').find((one) => one.startsWith('connect-src'))).toBe(expected)
})
