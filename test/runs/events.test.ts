import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventStream } from '@/server/http/sse'
import { openRunEvents, type RunEvent } from '@/server/runs/events'
import { resumeRun } from '@/server/runs/resume'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { forge } from '../support/invariants/finality'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ path }, times) =>
    path === '/flaky' && times === 1 ? { status: 503 } : { delayMs: 30, body: {} },
  )
  runtime = await startTestRuntime(database.url)
})

afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const definition = () => ({
  steps: [
    { id: 'a', type: 'test-effect', url: `${effects.url}flaky`, retry: { initialDelayMs: 50 } },
    { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
    { id: 'b', type: 'test-effect', url: `${effects.url}b` },
    { id: 'end', type: 'end-flow' },
  ],
  edges: [
    { from: 'a', to: 'ask' },
    { from: 'ask', to: 'b' },
    { from: 'b', to: 'end' },
  ],
})

async function open(runId: string, lastEventId: string | null, signal: AbortSignal) {
  const events = await openRunEvents(runtime.ctx, { runId, lastEventId })
  return events ? events(signal) : null
}

async function answer(runId: string) {
  await runtime.wait(runId, (run) => run.status === 'paused')
  await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { n: 1 } } })
}

describe('events of a run', () => {
  it('report each change in order and finish with the run', async () => {
    const runId = await runtime.start(definition())
    const seen: RunEvent[] = []
    const stream = await open(runId, null, AbortSignal.timeout(60_000))
    const answered = answer(runId)
    for await (const event of stream ?? []) seen.push(event)
    await answered
    expect(seen.at(-1)).toMatchObject({ event: 'end', data: { runId, status: 'completed', outcome: 'succeeded' } })
    const ids = seen.slice(0, -1).map((event) => Number(event.id))
    expect(ids).toEqual([...ids].sort((x, y) => x - y))
    expect(new Set(ids).size).toBe(ids.length)
    const statuses = seen
      .filter((event) => event.event === 'run')
      .map((event) => (event.data as { status: string }).status)
    expect(statuses).toContain('paused')
    expect(statuses.at(-1)).toBe('completed')
    expect(lastStates(seen)).toEqual(await statesOf(runId))
    const text = JSON.stringify(seen)
    expect(text).not.toMatch(/inputData|outputData/)
  })

  it('resume after the last one seen, however often the connection breaks, without loss or repeats', async () => {
    const runId = await runtime.start(definition())
    const answered = answer(runId)
    const seen: RunEvent[] = []
    let last: string | null = null
    for (let connection = 0; connection < 100 && seen.at(-1)?.event !== 'end'; connection++) {
      const gone = new AbortController()
      const stream = await open(runId, last, gone.signal)
      for await (const event of stream ?? []) {
        seen.push(event)
        last = event.id
        if (seen.length % 2 === 0) break
      }
      gone.abort()
    }
    await answered
    expect(new Set(seen.map((event) => event.id)).size).toBe(seen.length)
    expect(lastStates(seen)).toEqual(await statesOf(runId))
    expect(await open(runId, last, AbortSignal.timeout(1))).toBeNull()
  })

  it('start with the whole state for a late reader, and send only the end to one who has seen all of it', async () => {
    const runId = await runtime.start({ steps: [{ id: 'end', type: 'end-flow' }] })
    await runtime.wait(runId)
    const seen: RunEvent[] = []
    for await (const event of (await open(runId, null, AbortSignal.timeout(60_000))) ?? []) seen.push(event)
    expect(seen.map((event) => event.event).sort()).toEqual(['end', 'run', 'step'])
    const again: RunEvent[] = []
    const before = seen.at(-2)?.id ?? null
    for await (const event of (await open(runId, before, AbortSignal.timeout(60_000))) ?? []) again.push(event)
    expect(again).toEqual(seen.slice(-1))
  })

  it('are found by polling when no notification arrives', async () => {
    const runId = await runtime.start(definition())
    await runtime.wait(runId, (run) => run.status === 'paused')
    const stream = await open(runId, null, AbortSignal.timeout(60_000))
    let last: RunEvent | undefined
    const read = (async () => {
      for await (const event of stream ?? []) {
        last = event
        if ((event.data as { currentStepId?: string }).currentStepId === 'elsewhere') return true
      }
      return false
    })()
    await sleep(1_300)
    await forge(database.sql, [runId])
    await database.sql`update runs set current_step_id = 'elsewhere', change = nextval('changes') where id = ${runId}`
    expect(await read).toBe(true)
    expect(last?.event).toBe('run')
  })

  it('leave nothing behind when the caller disconnects', async () => {
    const runId = await runtime.start(definition())
    await runtime.wait(runId, (run) => run.status === 'paused')
    const watchers = Reflect.get(globalThis, Symbol.for('millrace.runs.watchers')) as { every: Map<string, unknown> }
    const gone = new AbortController()
    const events = await openRunEvents(runtime.ctx, { runId, lastEventId: null })
    if (!events) throw new Error('no stream')
    const reader = eventStream(events, gone.signal).getReader()
    const first = await reader.read()
    expect(new TextDecoder().decode(first.value)).toBe('retry: 2000\n\n')
    const second = await reader.read()
    expect(new TextDecoder().decode(second.value)).toMatch(/^id: \d+\nevent: (run|step)\ndata: \{.*\}\n\n$/)
    const watched = () => watchers.every.has(runId)
    await expect.poll(watched).toBe(true)
    await reader.cancel()
    await expect.poll(watched).toBe(false)

    const other = eventStream(events, gone.signal).getReader()
    await other.read()
    const drained = (async () => {
      while (!(await other.read()).done);
    })()
    await expect.poll(watched).toBe(true)
    gone.abort()
    await drained
    await expect.poll(watched).toBe(false)
  })

  const computes = (id: string) => ({ id, type: 'set-data', values: { [id]: 1 } })
  const line = (...steps: { id: string }[]) => ({
    steps: [...steps, { id: 'end', type: 'end-flow' }],
    edges: steps.map(({ id }, nth) => ({ from: id, to: steps[nth + 1]?.id ?? 'end' })),
  })
  const calls = (id: string) => ({ id, type: 'test-effect', url: `${effects.url}${id}` })
  it.each([
    ['a step ends and the run with it', () => line(calls('a'))],
    ['a step ends and another begins', () => line(calls('a'), calls('b'))],
    ['a step ends and others are computed', () => line(calls('a'), computes('b'), computes('c'))],
    ['the run is computed as it starts', () => line(computes('a'), computes('b'), computes('c'))],
    [
      'steps are computed and one begins',
      () => line(computes('a'), computes('b'), calls('c'), computes('d'), calls('e')),
    ],
  ])('come in the order of time where %s, also after a reconnect', async (_, made) => {
    const runId = await runtime.start(made())
    await runtime.wait(runId)
    const all: RunEvent[] = []
    for await (const event of (await open(runId, null, AbortSignal.timeout(60_000))) ?? []) all.push(event)
    const { stepExecutionHistory } = await runtime.status(runId)
    const steps = stepExecutionHistory.map(({ stepId }) => stepId)
    expect(all.map(({ event, data }) => (event === 'step' && 'stepId' in data ? data.stepId : event))).toEqual([
      ...steps,
      'run',
      'end',
    ])
    const times = all.flatMap(({ data }) => ('endTime' in data ? [data.endTime] : []))
    expect(times).toEqual([...times].sort())
    for (const [nth, { id }] of all.slice(0, -1).entries()) {
      const rest: RunEvent[] = []
      for await (const event of (await open(runId, id, AbortSignal.timeout(60_000))) ?? []) rest.push(event)
      expect(rest).toEqual(all.slice(nth + 1))
    }
  })

  it.each(['x', '-1', '1.5', '1-end-end', '9'.repeat(30)])('refuse the last event id %s', async (lastEventId) => {
    const runId = await runtime.start({ steps: [{ id: 'end', type: 'end-flow' }] })
    await expect(openRunEvents(runtime.ctx, { runId, lastEventId })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  it("are hidden for unknown runs and other tenants' runs", async () => {
    const runId = await runtime.start({ steps: [{ id: 'end', type: 'end-flow' }] })
    const foreign = await runtime.as('owner', 'ten_other')
    for (const [ctx, id] of [
      [foreign, runId],
      [runtime.ctx, 'run_unknown'],
      [runtime.ctx, "'"],
    ] as const) {
      await expect(openRunEvents(ctx, { runId: id, lastEventId: null })).rejects.toMatchObject({
        code: 'RUN_NOT_FOUND',
      })
    }
  })
})

/** A client's knowledge of each step and the run after all events. */
function lastStates(events: RunEvent[]): Record<string, unknown> {
  const known: Record<string, unknown> = {}
  for (const { event, data } of events) {
    const { stepId, visit, status, attempt } = data as Record<string, unknown>
    if (event === 'step') known[`${stepId}#${visit}`] = `${status} ${attempt}`
    if (event === 'run') known.run = status
  }
  return known
}

async function statesOf(runId: string): Promise<Record<string, unknown>> {
  const run = await runtime.status(runId)
  return Object.fromEntries([
    ...run.stepExecutionHistory.map((step) => [`${step.stepId}#${step.visit}`, `${step.status} ${step.attempt}`]),
    ['run', run.status],
  ])
}
