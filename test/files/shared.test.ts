import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { temporaryDir } from '../support/postgres'
import { newTenant } from '../support/tenant'

// Real processes whose runs are on an Inngest server: only their files show one that there are others.

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let database: FreshDatabase
const folders: string[] = []
const children: ChildProcess[] = []
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await database?.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

function folder(): string {
  const made = temporaryDir()
  folders.push(made)
  return made
}

async function started(dataDir: string, args: string[]) {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--conditions=react-server', 'test/files/upload-child.ts', ...args],
    {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
        ENCRYPTION_KEY: '0a'.repeat(32),
        // Nobody listens there; sent events wait in the database.
        INNGEST_DEV: 'http://127.0.0.1:9',
      } as unknown as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  )
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text))
  await Promise.race([once(child, 'message'), once(child, 'exit')])
  const tell = async (order: object) => {
    child.send(order)
    return (await once(child, 'message'))[0] as { done?: unknown; refused?: string }
  }
  return { child, tell, output: () => output }
}

test('of two processes with files of their own, the one that stores the first file continues, and the other says so in one sentence', async () => {
  const ctx = await newTenant(database)
  const steps = [{ id: 'end', type: 'end-flow', output: {} }]
  const { id } = await createWorkflow(ctx, { name: 'Files', payload: { paper: { type: 'file' } }, steps } as never)
  const [first, second] = [folder(), folder()]
  const a = await started(first, [ctx.tenantId, id])
  const b = await started(second, [ctx.tenantId, id])
  const kept = await a.tell({ upload: true })
  expect(kept).toHaveProperty('done')
  expect(await b.tell({ upload: true })).toEqual({ refused: 'UNAVAILABLE' })
  const sentence = `The files of this service are stored elsewhere than in ${join(second, 'files')}.`
  // A process's output may arrive after its messages.
  await expect.poll(() => b.output().split(sentence)).toHaveLength(2)
  const files = await database.sql<{ id: string }[]>`select id from files`
  expect(files).toHaveLength(1)
  // It has not lost the file: it is the wrong process to ask.
  const [{ id: read = '' } = {}] = files
  expect(await a.tell({ read })).toEqual({ done: 'hello' })
  expect(await b.tell({ read })).toEqual({ refused: 'UNAVAILABLE' })
  expect(await a.tell({ upload: true })).toHaveProperty('done')

  const again = await started(second, [ctx.tenantId, id])
  expect(again.child.exitCode).toBe(1)
  await expect.poll(again.output).toContain(sentence)
})
