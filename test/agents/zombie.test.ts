import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../engine/support'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let outside: Outside
let runtime: TestRuntime | undefined
let zombie: ChildProcess | undefined
/** The requests to the model, which are answered by hand. */
const asked: ServerResponse[] = []
const paid: unknown[] = []

beforeAll(async () => {
  database = await freshDatabase()
  outside = await startOutside(({ url, body }, response) => {
    if (url.includes('/v1/')) {
      asked.push(response)
      return
    }
    paid.push(JSON.parse(body))
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
})
afterAll(async () => {
  zombie?.kill('SIGKILL')
  await runtime?.stop()
  await outside?.stop()
  await database?.close()
})

function say(at: number, message: object) {
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  const body = { id: 'r', object: 'chat.completion', created: 1, model: 'm', choices: [choice], usage }
  asked[at]?.setHeader('content-type', 'application/json').end(JSON.stringify(body))
}
const payment = (toolId: string, by: string) => ({
  tool_calls: [{ id: 'c', type: 'function', function: { name: toolId, arguments: JSON.stringify({ by }) } }],
})

test('A4: a process that was stopped during a call, while another took over, records no call and begins none', async () => {
  const child = fileURLToPath(new URL('./zombie-child.ts', import.meta.url))
  zombie = fork(child, [database.url, outside.url], { execArgv: ['--import', 'tsx', '--conditions=react-server'] })
  const [{ runId, toolId }] = (await once(zombie, 'message')) as [{ runId: string; toolId: string }]
  await until(() => asked.length === 1)
  zombie.kill('SIGSTOP')

  // As if its leases had ended.
  await database.sql`update engine.jobs set due_at = now() - interval '1 s' where owner is not null`
  runtime = await startTestRuntime(database.url, { MILLRACE_HOST_ID: 'heir', ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
  await until(() => asked.length === 2, 60_000)
  const recorded = () => database.sql`
    select c.seq, c.output->'calls'->0->'input'->>'by' as by from agent_turns t
    join agent_calls c on c.tenant_id = t.tenant_id and c.turn_id = t.id where t.run_id = ${runId} order by c.seq`

  // The heir's attempt is still open, so only its number distinguishes the two.
  say(0, payment(toolId, 'zombie'))
  zombie.kill('SIGCONT')
  await sleep(3_000)
  expect(await recorded()).toEqual([])
  expect([paid, asked.length]).toEqual([[], 2])

  say(1, payment(toolId, 'heir'))
  await until(() => asked.length === 3)
  say(2, { content: '{"item":"chairs","amount":12}' })
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { item: 'chairs' } })
  expect(paid).toEqual([{ by: 'heir' }])
  expect(await recorded()).toMatchObject([{ seq: 1, by: 'heir' }, { seq: 2 }, { seq: 3 }])
  zombie.send('end')
}, 120_000)
