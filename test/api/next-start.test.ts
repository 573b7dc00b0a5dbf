import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAX_URL } from '@/cli/guards.mjs'
import { firstBoot } from '@/server/tenants/boot/seed'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { freePort } from '../support/free-port'
import { rawHttp } from '../support/raw-http'
import { ensureBuilt, temporaryDir } from '../support/service'

const apiKey = `sk_${'n'.repeat(16)}`
let database: FreshDatabase
let url: string
let output = ''
let stop = async () => {}

// Serves the app where its own web process is not used.
beforeAll(async () => {
  await ensureBuilt()
  database = await freshDatabase()
  await firstBoot(database.db, { BOOTSTRAP_TENANT_ID: 'ten_next', BOOTSTRAP_API_KEY: apiKey })
  const port = await freePort()
  const env = { PATH: process.env.PATH, DATABASE_URL: database.url, DATA_DIR: temporaryDir(), RATE_LIMIT_FAILURES: '3' }
  const child = nextStart(port, env)
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const ended = new Promise((done) => child.once('exit', done))
  stop = async () => {
    child.kill('SIGTERM')
    await Promise.race([ended, sleep(10_000).then(() => child.kill('SIGKILL'))])
  }
  url = `http://127.0.0.1:${port}`
  for (const until = Date.now() + 60_000; Date.now() < until; await sleep(50)) {
    if (
      await fetch(`${url}/api/health`).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      return
  }
  throw new Error(`next start did not become healthy.\n${output}`)
})
afterAll(async () => {
  await stop()
  await database?.close()
})

function nextStart(port: number, env: Record<string, string | undefined>) {
  const command = ['node_modules/next/dist/bin/next', 'start', '-p', String(port), '-H', '127.0.0.1']
  return spawn(process.execPath, command, { env: env as unknown as NodeJS.ProcessEnv })
}

const { send } = rawHttp(() => ({ url, apiKey }))

test('a setting that cannot be used ends the process with its reason', async () => {
  const env = { PATH: process.env.PATH, DATABASE_URL: database.url, DATA_DIR: temporaryDir(), SETUP_TOKEN: 'short' }
  const child = nextStart(await freePort(), env)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data))
  const [code] = await once(child, 'exit')
  expect([code, said]).toEqual([1, expect.stringMatching(/^The service could not start: SETUP_TOKEN .*\.$/m)])
})

test.each(['/api/%E0%A4%A', '/%ff', '/acme/%C3%28'])('the path %s is refused with the usual error', async (path) => {
  const { status, text } = await send('GET', path)
  expect([status, JSON.parse(text)]).toMatchObject([400, { success: false, error: { code: 'INVALID_INPUT' } }])
})

test('a URL too long to be repeated in a redirect is refused', async () => {
  for (const path of [`/api/${'a'.repeat(9_000)}/`, `/acme/runs?q=${'a'.repeat(9_000)}`]) {
    const { status, text } = await send('GET', path)
    const message = `The URL is longer than ${MAX_URL.toLocaleString('en')} characters.`
    expect([status, JSON.parse(text)]).toMatchObject([400, { error: { details: [{ path: 'url', message }] } }])
  }
})

test.each(['TRACE', 'PROPFIND', 'LINK'])('%s is not allowed', async (method) => {
  const { status, headers, text } = await send(method, '/api/workflows')
  expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'])
  expect(JSON.parse(text)).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED' } })
})

test('a client that writes x-forwarded-for itself is counted by its own address', async () => {
  const statuses = []
  for (let i = 0; i < 6; i++) {
    const headers = { 'x-api-key': `sk_wrong_${i}_key`, 'x-forwarded-for': `198.51.100.${i}` }
    statuses.push((await send('GET', '/api/workflows', { key: false, headers })).status)
  }
  expect(statuses.slice(0, 3)).toEqual([401, 401, 401])
  expect(statuses.slice(3)).toEqual([429, 429, 429])
})
