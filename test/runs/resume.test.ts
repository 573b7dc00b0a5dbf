import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectChange, expectedChange, notifyLocally, wake } from '@/server/interpreter/notice/watch'
import { resumeRun } from '@/server/runs/resume'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// A resume is answered once its consequences are written, but never waits for a slow step.

let database: FreshDatabase
let runtime: TestRuntime
let effects: EffectServer
let release = () => {}

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  effects = await startEffects(() => ({ after: released }))
})
afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const NEVER_MS = 3_600_000

test('a resume is answered while the step that follows still runs', async () => {
  const steps = [
    { id: 'ask', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] },
    { id: 'slow', type: 'test-effect', url: `${effects.url}/slow` },
    { id: 'end', type: 'end-flow' },
  ]
  const edges = [
    { from: 'ask', to: 'slow' },
    { from: 'slow', to: 'end' },
  ]
  const runId = await runtime.start({ steps, edges })
  await runtime.wait(runId, ({ status }) => status === 'paused')
  const body = { type: 'request_user_action', actionId: 'ok' }
  expect(await resumeRun(runtime.ctx, { runId, body })).toEqual({ success: true, runId, status: 'running' })
  expect((await runtime.status(runId)).status).toBe('running')
  release()
  expect((await runtime.wait(runId)).status).toBe('completed')
})

test('a status waits for the change that is expected of its run, and not for an announcement of an earlier one', async () => {
  const changed: string[] = []
  const wait = (id: string) => expectedChange(id)?.then(() => changed.push(id))
  expectChange('run_a', NEVER_MS)
  expectChange('run_b', NEVER_MS)
  const waits = [wait('run_a'), wait('run_a'), wait('run_b')]
  wake('run_a')
  expect(expectedChange('run_a')).toBeDefined()
  notifyLocally('run_a')
  await Promise.all(waits.slice(0, 2))
  expect(changed).toEqual(['run_a', 'run_a'])
  expect(expectedChange('run_a')).toBeUndefined()
  expectChange('run_b', NEVER_MS)
  await waits[2]
  notifyLocally('run_b')
  expect(expectedChange('run_b')).toBeUndefined()
})

test('a status does not wait for long', async () => {
  expectChange('run_a', 5)
  await expectedChange('run_a')
  expect(expectedChange('run_a')).toBeUndefined()
})
