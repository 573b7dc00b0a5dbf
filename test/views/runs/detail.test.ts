import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cancelRun } from '@/server/runs/cancel'
import { listRuns } from '@/server/runs/list'
import { resumeRun } from '@/server/runs/resume'
import { retryRun } from '@/server/runs/retry'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { readWholeValue } from '@/server/runs/whole-value'
import { setVaultSecret } from '@/server/vault/set'
import { getRunDefinition } from '@/server/views/runs/definition'
import { getRunOverview } from '@/server/views/runs/overview'
import { SEGMENT_KINDS } from '@/server/views/runs/segments'
import { readStatusText } from '@/server/views/runs/status-text'
import { readStep } from '@/server/views/runs/step-detail'
import { readTimeline, type Timeline, VISIT_STATUS } from '@/server/views/runs/timeline'
import { PREVIEW_CHARS } from '@/server/views/value'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { type EffectServer, startEffects } from '../../support/effects'
import { startTestRuntime, type TestRuntime } from '../../support/runtime'
import { seedLongRun } from '../../support/seed-runs'

const SECRET = 'swordfish-8472'
let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime

let endSlow = () => {}
const slowMayEnd = new Promise<void>((done) => {
  endSlow = done
})
beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ path }, times) => {
    if (path === '/flaky' && times === 1) return { status: 503 }
    if (path === '/flaky-once' && times === 1) return { status: 503 }
    if (path === '/slow') return { after: slowMayEnd, body: {} }
    if (path === '/broken') return { status: 400 }
    if (path === '/down') return { status: 503 }
    if (path === '/large') return { body: { text: 'x'.repeat(100_000) } }
    return { delayMs: 60, body: { said: SECRET } }
  })
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
  await setVaultSecret(runtime.ctx, { name: 'PASSWORD', value: SECRET })
})

afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const line = (...steps: object[]) => ({
  steps,
  edges: steps.slice(1).map((step, index) => ({
    from: (steps[index] as { id: string }).id,
    to: (step as { id: string }).id,
  })),
})
const ask = {
  id: 'ask',
  type: 'collect-inputs',
  name: 'The number',
  title: 'How many?',
  output: { n: { type: 'number' } },
}
const effect = (id: string, path: string, more = {}) => ({
  id,
  type: 'test-effect',
  url: `${effects.url}${path}`,
  ...more,
})

/** The rows by step, with words instead of numbers. */
function readable({ steps, rows }: Timeline) {
  return rows.map(([seq, step, visit, status, start, end, attempts, flat]) => ({
    seq,
    stepId: steps[step]?.[0],
    visit,
    status: VISIT_STATUS[status],
    start,
    end,
    attempts,
    segments: Array.from({ length: flat.length / 3 }, (_, index) => ({
      kind: SEGMENT_KINDS[flat[index * 3] ?? -1],
      from: flat[index * 3 + 1] ?? Number.NaN,
      to: flat[index * 3 + 2] ?? Number.NaN,
    })),
  }))
}

async function answer(runId: string, n = 1) {
  await runtime.wait(runId, (run) => run.status === 'paused')
  await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { n } } })
}

describe('the timeline of a run', () => {
  it('distinguishes waiting, running and queued time', async () => {
    const retry = { retry: { initialDelayMs: 150, backoff: 'fixed' } }
    const runId = await runtime.start(line(effect('a', 'flaky', retry), ask, { id: 'end', type: 'end-flow' }))
    await runtime.wait(runId, (run) => run.status === 'paused')
    const paused = readable(await readTimeline(runtime.ctx, { runId }))
    expect(paused.at(-1)).toMatchObject({ stepId: 'ask', status: 'running', end: null })
    expect(paused.at(-1)?.segments.at(-1)).toMatchObject({ kind: 'waiting', to: -1 })
    await sleep(150)
    await answer(runId)
    await runtime.wait(runId)
    const [a, asked, end] = readable(await readTimeline(runtime.ctx, { runId }))
    expect(a).toMatchObject({ stepId: 'a', status: 'completed', attempts: 2 })
    expect(a?.segments.map(({ kind }) => kind)).toEqual(['running', 'queued', 'running'])
    const waited = asked?.segments.find(({ kind }) => kind === 'waiting')
    expect((waited?.to ?? 0) - (waited?.from ?? 0)).toBeGreaterThanOrEqual(140)
    expect(end).toMatchObject({ stepId: 'end', status: 'completed', segments: [] })
    for (const { start, end: to, segments } of [a, asked].flatMap((row) => row ?? [])) {
      expect(segments[0]?.from).toBe(start)
      expect(segments.at(-1)?.to).toBe(to)
      for (const [index, segment] of segments.entries()) {
        if (index > 0) expect(segment.from).toBe(segments[index - 1]?.to)
      }
    }
  })

  it('returns only changes after a change; with the earlier rows they make the whole', async () => {
    const runId = await runtime.start(line(effect('a', 'a'), ask, effect('b', 'b'), { id: 'end', type: 'end-flow' }))
    await runtime.wait(runId, (run) => run.status === 'paused')
    const before = await readTimeline(runtime.ctx, { runId })
    await answer(runId)
    await runtime.wait(runId)
    const since = readable(await readTimeline(runtime.ctx, { runId, after: before.change }))
    expect(since.map(({ stepId }) => stepId)).toEqual(['ask', 'b', 'end'])
    const whole = await readTimeline(runtime.ctx, { runId })
    const merged = new Map([...readable(before), ...since].map((row) => [row.seq, row]))
    expect([...merged.values()].sort((x, y) => x.seq - y.seq)).toEqual(readable(whole))
    expect((await readTimeline(runtime.ctx, { runId, after: whole.change })).rows).toEqual([])
  })

  it('of five thousand visits is small and complete', async () => {
    const { runId, failedSeq } = await seedLongRun(database.sql, runtime.ctx.tenantId)
    const timeline = await readTimeline(runtime.ctx, { runId })
    expect(timeline.rows).toHaveLength(5_000)
    expect(timeline.rows.at(-1)?.slice(0, 4)).toEqual([failedSeq, 199, 25, 2])
    expect(JSON.stringify(timeline).length / 5_000).toBeLessThan(80)
  })
})

describe('a step of a run', () => {
  it('shows input and output, with vault secrets masked', async () => {
    const runId = await runtime.start(line(effect('a', 'a', { body: { note: `it is ${SECRET}` } })))
    await runtime.wait(runId)
    const [seq] = (await readTimeline(runtime.ctx, { runId })).rows[0] ?? []
    const step = await readStep(runtime.ctx, { runId, seq })
    expect(step).toMatchObject({
      stepId: 'a',
      status: 'completed',
      input: { value: { body: { note: 'it is ***' } } },
      output: { value: { said: '***' } },
      attempts: [{ attempt: 1 }],
    })
    const shown = [
      step,
      await getRunOverview(runtime.ctx, { runId }),
      await readStatusText(runtime.ctx, { runId }),
      // The API masks it too, although the caller sent the data and may have known the secret.
      await getRunStatus(runtime.ctx, { runId }),
      await listRuns(runtime.ctx, {}),
      await readWholeValue(runtime.ctx, { of: 'step', runId, seq, field: 'output' }),
      await readWholeValue(runtime.ctx, { of: 'run', runId, field: 'data' }),
    ]
    expect(JSON.stringify(shown)).not.toContain(SECRET)
  })

  it('cuts a large value, reports its size, and returns the whole on request', async () => {
    const runId = await runtime.start(line(effect('a', 'large')))
    await runtime.wait(runId)
    const [seq] = (await readTimeline(runtime.ctx, { runId })).rows[0] ?? []
    const { output } = await readStep(runtime.ctx, { runId, seq })
    if (!output || !('preview' in output)) throw new Error('not cut')
    expect(output.size).toBe(100_000 + '{"text":""}'.length)
    expect(output.preview).toHaveLength(PREVIEW_CHARS)
    const { value } = await readWholeValue(runtime.ctx, { of: 'step', runId, seq, field: 'output' })
    expect(value).toEqual({ text: 'x'.repeat(100_000) })
  })
})

describe('the overview of a run', () => {
  it('shows its wait, and later who answered, when and how', async () => {
    const runId = await runtime.start(line(ask, { id: 'end', type: 'end-flow', output: { n: '${n}' } }), { extra: 1 })
    await runtime.wait(runId, (run) => run.status === 'paused')
    const waiting = await getRunOverview(runtime.ctx, { runId })
    expect(waiting).toMatchObject({
      state: 'paused',
      pauses: [
        { stepId: 'ask', stepName: 'The number', signal: { title: 'How many?', fields: { n: { type: 'number' } } } },
      ],
      answers: [],
      result: null,
      startedVia: 'apiKey',
      startedBy: { kind: 'apiKey' },
    })
    await answer(runId, 7)
    await runtime.wait(runId)
    expect(await getRunOverview(runtime.ctx, { runId })).toMatchObject({
      state: 'completed',
      pauses: [],
      answers: [{ stepName: 'The number', answeredBy: { id: 'key_owner' }, answer: { value: { data: { n: 7 } } } }],
      result: { value: { n: 7 } },
    })
  })

  it('names the chosen action by its label', async () => {
    const actions = [
      { id: 'yes', label: 'Approve' },
      { id: 'no', label: 'Reject' },
    ]
    const runId = await runtime.start(line({ id: 'decide', type: 'request-user-action', title: 'May it go?', actions }))
    await runtime.wait(runId, (run) => run.status === 'paused')
    expect((await getRunOverview(runtime.ctx, { runId })).pauses).toMatchObject([{ stepId: 'decide', dueAt: null }])
    const body = { type: 'request_user_action', actionId: 'yes', actionValue: 'fine' }
    await resumeRun(runtime.ctx, { runId, body })
    await runtime.wait(runId)
    expect(await getRunOverview(runtime.ctx, { runId })).toMatchObject({
      done: 1,
      answers: [{ title: 'May it go?', label: 'Approve', answer: { value: { actionId: 'yes', actionValue: 'fine' } } }],
    })
  })

  it('counts other runs of the workflow that failed at the same step with the same code', async () => {
    const { id } = await createWorkflow(runtime.ctx, { name: 'Breaks', ...line(effect('a', 'broken')) })
    const other = await createWorkflow(runtime.ctx, { name: 'Breaks too', ...line(effect('a', 'broken')) })
    const ids = [id, id, id, other.id]
    const started = await Promise.all(ids.map((workflowId) => startRun(runtime.ctx, { workflowId, body: {} })))
    for (const { runId } of started) await runtime.wait(runId)
    const alike = async (index: number) =>
      (await getRunOverview(runtime.ctx, { runId: started[index]?.runId ?? '' })).alike
    expect(await alike(0)).toEqual({ count: 2, more: false })
    expect(await alike(3)).toEqual({ count: 0, more: false })
  })

  it('says until when it waits for a time', async () => {
    const runId = await runtime.start(line({ id: 'cool', type: 'delay', name: 'Cool off', for: 'PT1H' }))
    await expect
      .poll(async () => (await getRunOverview(runtime.ctx, { runId })).timer)
      .toMatchObject({ stepName: 'Cool off', dueAt: expect.stringMatching(/^20/) })
    expect((await getRunOverview(runtime.ctx, { runId })).pauses).toEqual([])
  })

  it('says which exit was taken, by its label, and where it led', async () => {
    const runId = await runtime.start(
      {
        payload: { total: { type: 'number' } },
        steps: [
          { id: 'large', type: 'condition', name: 'Is it large?', when: '${total} > 100' },
          { id: 'ask', type: 'end-flow', name: 'Ask the boss' },
          { id: 'go', type: 'end-flow' },
        ],
        edges: [
          { from: 'large', to: 'ask', on: 'true' },
          { from: 'large', to: 'go', on: 'false' },
        ],
      },
      { total: 500 },
    )
    await runtime.wait(runId)
    expect((await getRunOverview(runtime.ctx, { runId })).turns).toEqual([
      {
        stepId: 'large',
        stepName: 'Is it large?',
        exit: 'true',
        at: expect.any(String),
        error: null,
        label: 'True',
        toName: 'Ask the boss',
      },
    ])
  })

  it('names the steps that needed several attempts, and the step under way', async () => {
    const retry = { retry: { initialDelayMs: 10, backoff: 'fixed' } }
    const runId = await runtime.start(
      line(effect('again', 'flaky-once', { ...retry, name: 'Again' }), effect('slow', 'slow')),
    )
    await expect
      .poll(async () => (await getRunOverview(runtime.ctx, { runId })).working)
      .toEqual([{ stepId: 'slow', stepName: expect.any(String) }])
    expect((await getRunOverview(runtime.ctx, { runId })).repeated).toEqual([
      { stepId: 'again', stepName: 'Again', attempts: 2, at: expect.any(String) },
    ])
    endSlow()
    await runtime.wait(runId)
    expect((await getRunOverview(runtime.ctx, { runId })).working).toEqual([])
  })

  it('shows why a run failed, and which runs repeat it', async () => {
    const runId = await runtime.start(line(effect('a', 'broken')))
    await runtime.wait(runId)
    const { runId: again } = await retryRun(runtime.ctx, { runId })
    await runtime.wait(again)
    expect(await getRunOverview(runtime.ctx, { runId })).toMatchObject({
      state: 'failed',
      error: { code: 'HTTP_ERROR', stepId: 'a' },
      again: [{ runId: again, state: 'failed' }],
    })
    expect(await getRunOverview(runtime.ctx, { runId: again })).toMatchObject({ retryOf: runId, again: [] })
  })

  it('names the step that caused its failure path', async () => {
    const refuse = { id: 'no', type: 'fail-flow', name: 'Book a room', code: 'NO_ROOM', message: 'None is free' }
    const tell = effect('tell', 'down', { retry: { initialDelayMs: 60_000 } })
    const runId = await runtime.start({ steps: [refuse, tell], onFailure: 'tell' })
    await expect
      .poll(async () => (await getRunOverview(runtime.ctx, { runId })).failing)
      .toEqual({
        code: 'NO_ROOM',
        message: 'None is free',
        stepId: 'no',
        stepName: 'Book a room',
        outcome: 'failed',
      })
  })

  it('counts the steps that a retry of a failed run keeps, apart from those of its failure path', async () => {
    const { steps, edges } = line(effect('a', 'fine'), effect('b', 'broken'))
    const tell = effect('tell', 'fine', { name: 'Release the stock' })
    const runId = await runtime.start({ steps: [...steps, tell], edges, onFailure: 'tell' })
    await runtime.wait(runId)
    expect(await getRunOverview(runtime.ctx, { runId })).toMatchObject({
      done: 2,
      atFailure: { kept: 1, path: [{ stepName: 'Release the stock', status: 'completed' }] },
    })
  })

  it('shows who cancelled it and why, and withdraws its questions', async () => {
    const runId = await runtime.start(line(ask))
    await runtime.wait(runId, (run) => run.status === 'paused')
    await cancelRun(runtime.ctx, { runId, reason: `no ${SECRET}` })
    expect((await getRunStatus(runtime.ctx, { runId })).cancellation).toMatchObject({ reason: 'no ***' })
    expect(await getRunOverview(runtime.ctx, { runId })).toMatchObject({
      state: 'cancelled',
      pauses: [],
      answers: [],
      cancellation: { kind: 'cancel', reason: 'no ***', requestedBy: { kind: 'apiKey' } },
    })
  })

  it('includes the definition of the run’s version', async () => {
    const runId = await runtime.start(line(ask))
    expect(await getRunDefinition(runtime.ctx, { runId })).toMatchObject({
      version: 1,
      definition: { steps: [{ id: 'ask' }] },
    })
  })

  it('is the exact body of the status, indented', async () => {
    const runId = await runtime.start(line({ id: 'end', type: 'end-flow' }))
    await runtime.wait(runId)
    const { text, cut } = await readStatusText(runtime.ctx, { runId })
    expect(cut).toBe(false)
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(await runtime.status(runId))))
  })
})

it("hides unknown runs and other tenants' runs", async () => {
  const runId = await runtime.start(line(ask))
  const foreign = await runtime.as('owner', 'ten_other')
  const seq = 1
  for (const [ctx, id] of [
    [foreign, runId],
    [runtime.ctx, 'run_unknown'],
    [runtime.ctx, "'"],
  ] as const) {
    for (const call of [
      () => getRunOverview(ctx, { runId: id }),
      () => getRunDefinition(ctx, { runId: id }),
      () => readTimeline(ctx, { runId: id }),
      () => readStep(ctx, { runId: id, seq }),
      () => readWholeValue(ctx, { of: 'run', runId: id, field: 'data' }),
      () => readWholeValue(ctx, { of: 'step', runId: id, seq, field: 'input' }),
      () => readStatusText(ctx, { runId: id }),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    }
  }
  await expect(readStep(runtime.ctx, { runId, seq: 999_999 })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})
