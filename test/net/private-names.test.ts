import { inspect } from 'node:util'
import { afterAll, expect, test, vi } from 'vitest'
import { AllowedHosts } from '@/lib/ip'
import { guardedFetch } from '@/server/net/guarded-fetch'
import type { Resolve } from '@/server/net/vet'

const logged = vi.hoisted((): object[] => [])
vi.mock('@/server/log', () => ({ log: () => ({ info: (fields: object) => logged.push(fields) }) }))
// Later files in this process have the real one.
afterAll(() => void vi.doUnmock('@/server/log'))

const NAMES: Record<string, { reason: string; resolve: Resolve }> = {
  'payroll.internal': { reason: 'private address', resolve: async () => [{ address: '10.1.2.3', family: 4 }] },
  'wages.internal': { reason: 'no address', resolve: () => Promise.reject(failed('ENOTFOUND')) },
  'salary.internal': { reason: 'no address', resolve: () => Promise.reject(failed('ENODATA')) },
  'bonus.internal': { reason: 'no address', resolve: async () => [] },
}

function failed(code: string): Error {
  return Object.assign(new Error(`getaddrinfo ${code}`), { code })
}

test('a caller cannot distinguish a private name from one that does not exist; the log can', async () => {
  const refusals = await Promise.all(
    Object.entries(NAMES).map(async ([host, { resolve }]) => {
      const startedAt = performance.now()
      const error: unknown = await guardedFetch(`http://${host}/`, {}, { allowed: AllowedHosts.none, resolve }).catch(
        (err: unknown) => err,
      )
      const { stack: _stack, ...rest } = error as Error & Record<string, unknown>
      // A timer may fire a millisecond early.
      const soon = performance.now() - startedAt < 245
      return inspect({ ...rest, message: (error as Error).message, soon }).replaceAll(host, 'HOST')
    }),
  )
  expect(new Set(refusals).size).toBe(1)
  expect(refusals[0]).toMatch(/BLOCKED_HOST/)
  expect(refusals[0]).toMatch(/soon: false/)
  expect(logged).toEqual(expect.arrayContaining(Object.entries(NAMES).map(([host, { reason }]) => ({ host, reason }))))
})
