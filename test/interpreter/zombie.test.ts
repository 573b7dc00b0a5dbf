import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime | undefined
let zombie: ChildProcess | undefined

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects()
})

afterAll(async () => {
  zombie?.kill('SIGKILL')
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

test('a process that was stopped between two steps, while another took over, begins no effect when it continues', async () => {
  const child = fileURLToPath(new URL('./zombie-child.ts', import.meta.url))
  zombie = fork(child, [database.url, effects.url], { execArgv: ['--import', 'tsx', '--conditions=react-server'] })
  const [{ runId }] = (await once(zombie, 'message')) as [{ runId: string }]
  zombie.kill('SIGSTOP')

  // As if its leases had ended.
  await database.sql`update engine.jobs set due_at = now() - interval '1 s' where owner is not null`
  runtime = await startTestRuntime(database.url, { MILLRACE_HOST_ID: 'heir' })
  const run = await runtime.wait(runId)
  expect(run.stepExecutionHistory.map(({ stepId, status, attempt }) => [stepId, status, attempt])).toEqual([
    ['a', 'completed', 1],
    ['b', 'completed', 2],
    ['end', 'completed', 1],
  ])

  const left = once(zombie, 'message')
  zombie.send('go on')
  zombie.kill('SIGCONT')
  expect(await left).toMatchObject([{ left: true }, undefined])
  expect(effects.seen.map(({ path }) => path)).toEqual(['/a', '/b'])
  expect(await runtime.status(runId)).toEqual(run)
})
