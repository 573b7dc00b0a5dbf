import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startPooler } from '../support/pooler'
import { startWorker, temporaryDir } from '../support/service'

// Real processes, and workers because they need no build: every process starts through the same `startRuntime`.

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const KEY = '0a'.repeat(32)

async function database(): Promise<FreshDatabase> {
  const database = await freshDatabase()
  cleanups.push(() => database.close())
  return database
}

async function started(databaseUrl: string, env: Record<string, string> = {}) {
  const worker = await startWorker({ databaseUrl, env: { ENCRYPTION_KEY: KEY, ...env } })
  cleanups.push(() => worker.stop())
  return worker
}

/** The output of a process that must not start. */
async function refused(databaseUrl: string, env: Record<string, string>): Promise<string> {
  const outcome = await started(databaseUrl, env).catch((reason: Error) => reason)
  if (!(outcome instanceof Error)) throw new Error('The process started.')
  expect(outcome.message).toContain('it ended with code 1')
  expect(outcome.message).not.toMatch(/^\s+at /m)
  return outcome.message
}

test('a process with another ENCRYPTION_KEY, or files of its own, says so in one sentence and ends; the first continues', async () => {
  const { url, sql } = await database()
  const first = await started(url)
  const folder = temporaryDir()
  cleanups.push(async () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const [otherKey, otherFiles] = await Promise.all([
    refused(url, { ENCRYPTION_KEY: '0b'.repeat(32) }),
    refused(url, { DATA_DIR: folder }),
  ])
  expect(otherKey).toContain(
    'The worker could not start: ENCRYPTION_KEY is not the key that this database is used with.',
  )
  expect(otherKey).not.toContain('0b0b')
  expect(otherFiles).toContain(
    `The worker could not start: The files of this service are stored elsewhere than in ${join(folder, 'files')}.`,
  )
  const [workers] = await sql`select count(*)::int as n from engine.workers`
  expect(workers?.n).toBe(1)
  first.kill('SIGTERM')
  expect(await first.exited).toBe(0)
})

test('a process behind a pooler that loses prepared statements says so in one sentence and serves without them', async () => {
  const { url } = await database()
  const pooler = await startPooler(url)
  cleanups.push(() => pooler.close())
  const worker = await started(url, { DATABASE_URL: pooler.url, DATABASE_URL_UNPOOLED: url })
  expect(worker.logs().match(/the pooler of DATABASE_URL loses prepared statements/g)).toHaveLength(1)
  expect(worker.logs()).not.toMatch(/prepared statement \S+ does not exist/)
})
