import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { TEST_ENV } from '../support/api'
import { freshDatabase } from '../support/db'
import { freePort } from '../support/free-port'
import { startWeb, temporaryDir } from '../support/service'
import { startProxy } from '../support/tcp-proxy'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function database() {
  const database = await freshDatabase()
  cleanups.push(() => database.close())
  return database
}

test('a process that starts while its database is unavailable waits for it, responds with 503 meanwhile, and then serves', async () => {
  const { url } = await database()
  const proxy = await startProxy(url)
  cleanups.push(() => proxy.close())
  proxy.cut()
  const port = await freePort()
  const starting = startWeb({ databaseUrl: url, env: { ...TEST_ENV, DATABASE_URL: proxy.url, PORT: String(port) } })
  // `await starting` reports rejections of the process.
  starting.catch(() => {})
  await expect.poll(() => proxy.accepted(), { timeout: 30_000 }).toBeGreaterThan(3)
  const early = await fetch(`http://127.0.0.1:${port}/api/health`)
  expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1'])
  expect((await early.json()).error).toMatchObject({ code: 'UNAVAILABLE', message: 'The service is starting.' })
  proxy.recover()
  const web = await starting
  cleanups.push(() => web.stop())
  expect(web.logs()).toContain('waiting for the database')
})

test('a page that is asked for as soon as the API answers is served, although the pages may still be loading', async () => {
  const { url } = await database()
  const port = await freePort()
  const starting = startWeb({ databaseUrl: url, env: { ...TEST_ENV, PORT: String(port) } })
  starting.catch(() => {})
  const asked = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).catch(() => null)
  await expect.poll(async () => (await asked('/api/health'))?.status, { interval: 2 }).toBe(200)
  expect((await asked('/sign-in'))?.status).toBe(200)
  cleanups.push((await starting).stop)
})

test('a process that cannot start exits with one sentence and a failure code, and serves nobody', async () => {
  const { url } = await database()
  const env = { ...TEST_ENV, DATABASE_URL: url.replace(/\/t_\w+/, '/nowhere') }
  const error = await startWeb({ databaseUrl: url, env }).catch((reason: Error) => reason)
  expect(String(error)).toContain('it ended with code 1')
  expect(String(error)).toContain('The web process could not start: database "nowhere" does not exist.')
  expect(String(error)).not.toMatch(/^\s+at /m)
})

test('a process whose pages cannot be prepared first ends the work that its engine has begun', async () => {
  const { url, sql } = await database()
  const error = await startWeb({
    databaseUrl: url,
    root: withoutBuildId(),
    env: { ...TEST_ENV, LOG_LEVEL: 'info' },
  }).catch((reason: Error) => reason)
  expect(String(error)).toContain('it ended with code 1')
  expect(String(error)).toMatch(/The web process could not start: .*production build/)
  expect(String(error)).toMatch(/runtime started[\s\S]*runtime stopped/)
  // A process that was killed is still there.
  expect(await sql`select boot_id from engine.workers`).toHaveLength(0)
})

/** The built sources, so that Next finds no build. */
function withoutBuildId(): string {
  const root = temporaryDir()
  cleanups.push(async () => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, '.next'))
  const link = (name: string) => symlinkSync(join(process.cwd(), name), join(root, name))
  for (const name of readdirSync('.')) if (name !== '.next') link(name)
  for (const name of readdirSync('.next')) if (name !== 'BUILD_ID') link(join('.next', name))
  return root
}
