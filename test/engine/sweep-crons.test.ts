import { beforeEach, expect, test, vi } from 'vitest'

const DATABASE = { DATABASE_URL: 'postgres://nowhere/db', LOG_LEVEL: 'fatal' }
const KEYS = { INNGEST_EVENT_KEY: 'event', INNGEST_SIGNING_KEY: `signkey-test-${'ab'.repeat(32)}` }
const MINUTES_A_MONTH = 30 * 24 * 60

beforeEach(() => {
  vi.resetModules()
  // The environment is read once per process.
  Reflect.deleteProperty(globalThis, Symbol.for('millrace.env'))
  vi.unstubAllEnvs()
})

/** The schedule that the Inngest server gets, depending on the environment. */
async function cronsOf(settings: Record<string, string>): Promise<string[]> {
  for (const [name, value] of Object.entries({ ...DATABASE, ...KEYS, ...settings })) vi.stubEnv(name, value)
  const { callFunctions } = await import('@/inngest/serve')
  const url = 'https://app.example.com/api/inngest'
  const headers = { host: 'app.example.com', 'x-inngest-sync-kind': 'in_band' }
  const { body } = await callFunctions({ method: 'PUT', url, headers, body: { url } })
  const { functions } = JSON.parse(body) as { functions: { triggers: { cron?: string }[] }[] }
  expect(functions.length).toBeGreaterThan(5)
  return functions.flatMap(({ triggers }) => triggers.flatMap(({ cron }) => cron ?? []))
}

test.each([
  ['production', MINUTES_A_MONTH],
  ['preview', MINUTES_A_MONTH / 60],
])('on Vercel, the sweeps of %s are one function, with %i executions a month', async (VERCEL_ENV, executions) => {
  const crons = await cronsOf({ VERCEL: '1', VERCEL_ENV, VERCEL_URL: 'app.example.com' })
  expect(crons).toHaveLength(1)
  const [minute, ...rest] = crons[0]?.split(' ') ?? []
  expect(rest).toEqual(['*', '*', '*', '*'])
  expect(minute === '*' ? MINUTES_A_MONTH : MINUTES_A_MONTH / 60).toBe(executions)
})

test('on an Inngest server of one’s own, they are one function too', async () => {
  expect(await cronsOf({ PUBLIC_URL: 'https://app.example.com' })).toEqual(['* * * * *'])
})
