import { execFile } from 'node:child_process'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import { backUp } from '@/cli/backup/back-up'
import { findDatabase } from '@/cli/find-database'
import { openDatabase } from '@/db/index'
import { secretPlace } from '@/server/auth/jwt'
import { open, readKeyring } from '@/server/crypto'
import { readEnv } from '@/server/env'
import { call } from '../support/api'
import { expectInvariants } from '../support/invariants/check'
import { type Service, startService, temporaryDir } from '../support/service'

// Boots the real service twice.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })

const run = promisify(execFile)
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

async function admin(dataDir: string, ...args: string[]): Promise<Outcome> {
  const command = ['--import', 'tsx', '--conditions=react-server', 'cli/admin.ts', ...args, '--json']
  const env = { ...process.env, DATA_DIR: dataDir, DATABASE_URL: '', ENCRYPTION_KEY: '', INIT_CWD: '' }
  try {
    return { code: 0, ...(await run(process.execPath, command, { env })) }
  } catch (error) {
    return error as Outcome
  }
}

async function started(dataDir: string): Promise<Service> {
  const service = await startService({ dataDir })
  cleanups.push(service.stop)
  return service
}

async function stopped(service: Service): Promise<void> {
  service.kill('SIGTERM')
  expect(await service.exited).toBe(0)
}

const WORKFLOW = {
  name: 'Ask',
  payload: { n: { type: 'number' } },
  steps: [
    { id: 'ask', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] },
    { id: 'end', type: 'end-flow', output: { n: '${n}' } },
  ],
  edges: [{ from: 'ask', to: 'end' }],
}

async function publish(service: Service): Promise<string> {
  const created = await call(service, 'POST', '/api/workflows', WORKFLOW)
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  expect((await call(service, 'POST', `/api/workflows/${created.body.id}/publish`, {})).status).toBe(200)
  return created.body.id
}

async function upload(service: Service, text: string): Promise<string> {
  const body = new FormData()
  body.append('attachment', new File([text], 'note.txt'))
  const request = { method: 'POST', headers: { 'x-api-key': service.apiKey }, body }
  const response = await fetch(`${service.url}/api/workflow/start/wf_document`, request)
  expect(response.status).toBe(200)
  return ((await response.json()) as { data: { fileId: string } }).data.fileId
}

/** Starts runs and uploads files without a break until stopped. Records what was acknowledged. */
function keepBusy(service: Service, workflowId: string) {
  const runs: string[] = []
  const uploads: string[] = []
  let goesOn = true
  const start = async () => {
    while (goesOn) {
      const { status, body } = await call(service, 'POST', `/api/workflow/start-async/${workflowId}`, {
        n: runs.length,
      })
      expect(status).toBe(200)
      runs.push(body.runId)
    }
  }
  const send = async () => {
    while (goesOn) uploads.push(await upload(service, `upload ${uploads.length}`))
  }
  const all = Promise.all([start(), start(), send()])
  const acknowledged = () => ({ runs: [...runs], uploads: [...uploads] })
  const stop = async () => {
    goesOn = false
    await all
  }
  return { acknowledged, stop }
}

test('a backup of a running service, restored elsewhere, continues everything that was acknowledged before it', async () => {
  const home = temporaryDir()
  cleanups.push(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  const [from, to, file] = [join(home, 'first'), join(home, 'second'), join(home, 'millrace.tgz')]
  const first = await started(from)
  const workflowId = await publish(first)
  const made = JSON.parse((await admin(from, 'secret', 'create', '--tenant', first.tenantId, '--name', 'S')).stdout)
  const paused = (await call(first, 'POST', `/api/workflow/start-async/${workflowId}`, { n: 7 })).body.runId
  const busy = keepBusy(first, workflowId)
  await expect.poll(() => busy.acknowledged().uploads.length).toBeGreaterThan(2)

  const before = busy.acknowledged()
  const backup = await admin(from, 'backup', '--to', file)
  expect(backup, backup.stderr).toMatchObject({ code: 0 })
  expect(busy.acknowledged().runs.length).toBeGreaterThan(before.runs.length)
  await busy.stop()
  expect(JSON.parse(backup.stdout)).toMatchObject({ file, bytes: statSync(file).size, encryptionKey: 'in the backup' })
  expect(statSync(file).mode & 0o777).toBe(0o600)

  await expect(backUp(readEnv({ DATA_DIR: from }), { to: file })).rejects.toThrow(/exists already/)
  expect(readdirSync(home).sort()).toEqual(['first', 'millrace.tgz'])
  await stopped(first)

  const restored = await admin(to, 'restore', '--from', file)
  expect(restored, restored.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse(restored.stdout)).toMatchObject({ dataDir: to, replaced: null, encryptionKey: 'in the backup' })
  const second = await started(to)
  expect(second).toMatchObject({ tenantId: first.tenantId, apiKey: first.apiKey })
  for (const runId of before.runs) expect((await call(second, 'GET', `/api/workflow/status/${runId}`)).status).toBe(200)
  for (const [n, fileId] of before.uploads.entries()) {
    const response = await fetch(`${second.url}/api/files/${fileId}`, { headers: { 'x-api-key': second.apiKey } })
    expect(await response.text()).toBe(`upload ${n}`)
  }
  const answer = { type: 'request_user_action', actionId: 'ok' }
  expect((await call(second, 'POST', `/api/workflow/resume/${paused}`, answer)).status).toBe(200)
  const status = async () => (await call(second, 'GET', `/api/workflow/status/${paused}`)).body
  await expect.poll(status, { timeout: 20_000 }).toMatchObject({ status: 'completed', result: { n: 7 } })

  const { sql, close } = openDatabase(findDatabase(readEnv({ DATA_DIR: to })), { max: 2 })
  cleanups.push(close)
  const [secret] = await sql<{ sealed: string }[]>`select sealed from signing_secrets where id = ${made.id}`
  expect(open(secret?.sealed ?? '', secretPlace(first.tenantId, made.id), readKeyring({ dataDir: to }))).toBe(
    made.secret,
  )
  // Every row by way of its table and every index on it: a page that was copied half-written would fail its checksum.
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`
  expect(tables.length).toBeGreaterThan(20)
  for (const { name } of tables) await sql.unsafe(`reindex table ${name}`)
  await expectInvariants(sql)
})
