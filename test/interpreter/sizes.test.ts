import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { resumeRun } from '@/server/runs/resume'
import { newAgent } from '../agents/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { forge } from '../support/invariants/finality'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let effects: EffectServer | undefined
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url)
})
afterEach(() => effects?.stop())
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

const MB = 1_000_000
const chain = (steps: { id: string }[]) => ({
  steps,
  edges: steps.slice(1).map((step, i) => ({ from: steps[i]?.id, to: step.id })),
})
const payload = { s: { type: 'string' }, o: { type: 'object', required: false } }

describe('the size of a resolved configuration is checked before it is built', () => {
  const many = <T>(item: T) => Array<T>(60).fill(item)
  const question = { type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] }
  test.each<[string, object]>([
    ['a value in a list', { type: 'end-flow', output: { x: many('${s}') } }],
    ['a value inside of text', { type: 'end-flow', output: { x: many('${s}').join('') } }],
    ['an object', { type: 'end-flow', output: { x: many('${o}') } }],
    ['an object inside of text', { type: 'end-flow', output: { x: many('${o}').join(',') } }],
    ['all of the data', { type: 'end-flow', output: { x: many('${_}') } }],
    ['a fallback', { type: 'end-flow', output: { x: many('${none ?? 1}${s}') } }],
    [
      'arguments of a tool',
      { type: 'call-tool', toolId: 'tool_text', args: { operation: 'join', items: many('${s}') } },
    ],
    ['a message for an agent', { type: 'call-agent', agentId: '', message: many('${s}').join(' ') }],
    ['data for an agent', { type: 'call-agent', agentId: '', message: 'x', dataContext: { x: many('${s}') } }],
    ['the text of a question', { ...question, message: many('${s}').join('') }],
    ['the default of a field', { type: 'collect-inputs', output: { a: { type: 'array', default: many('${s}') } } }],
  ])('%s, used sixty times, fails the step permanently', async (_, step) => {
    const s = 'x'.repeat(40_000)
    const named = 'agentId' in step ? { ...step, agentId: (await newAgent(runtime.ctx, {})).id } : step
    const runId = await runtime.start({ payload, steps: [{ id: 'all', ...named }] }, { s, o: { s } })
    const run = await runtime.wait(runId)
    const message = 'With its values filled in, the configuration would be larger than 2 MiB'
    expect(run.error).toEqual({ code: 'CONFIG_TOO_LARGE', message, stepId: 'all' })
    expect(run.stepExecutionHistory).toMatchObject([{ status: 'failed', attempt: 1, errorCode: 'CONFIG_TOO_LARGE' }])
  })

  test('up to 2 MiB are passed on unchanged', async () => {
    const s = 'x'.repeat(40_000)
    const runId = await runtime.start(
      { payload, steps: [{ id: 'all', type: 'end-flow', output: { x: Array(50).fill('${s}'), y: '${s}${s}' } }] },
      { s },
    )
    expect((await runtime.wait(runId)).result).toEqual({ x: Array(50).fill(s), y: s + s })
  })

  test('the question of a pause has at most 256 KiB', async () => {
    const step = { id: 'ask', type: 'collect-inputs', output: { a: { type: 'string', default: '${s}' } } }
    const ask = async (length: number) => {
      const runId = await runtime.start({ payload, steps: [step] }, { s: 'x'.repeat(length) })
      return runtime.wait(runId, ({ status }) => status !== 'running')
    }
    expect((await ask(300_000)).error).toMatchObject({
      code: 'CONFIG_TOO_LARGE',
      message: 'What the step asks is larger than 256 KiB',
    })
    expect(await ask(200_000)).toMatchObject({ status: 'paused' })
  })

  test('outputs of steps referred to by id are not read beyond 16 MiB', async () => {
    effects = await startEffects(() => ({ body: { small: 7 } }))
    const url = effects.url
    const works = ['a', 'b'].map((id) => ({ id, type: 'test-effect', url, saveAs: 'last' }))
    const ask = { id: 'ask', type: 'collect-inputs', output: { note: { type: 'string' } } }
    const end = { id: 'end', type: 'end-flow', output: { x: ['${a.small}', '${b.small}'] } }
    const endWith = async (bytes: number) => {
      const runId = await runtime.start(chain([...works, ask, end]))
      await runtime.wait(runId, ({ status }) => status === 'paused')
      await forge(database.sql, [runId])
      await database.sql`
        update step_records set output_bytes = ${bytes} where run_id = ${runId} and step_id in ('a', 'b')`
      await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { note: 'x' } } })
      return runtime.wait(runId)
    }
    expect(await endWith(8 * 1024 * 1024)).toMatchObject({ result: { x: [7, 7] } })
    expect((await endWith(8 * 1024 * 1024 + 1)).error).toMatchObject({ code: 'CONFIG_TOO_LARGE', stepId: 'end' })
  })
})

describe('the data of a run is limited', () => {
  test('a step with more than 4 MiB of output fails permanently and is not repeated', async () => {
    effects = await startEffects(() => ({ body: { big: 'x'.repeat(4.5 * MB) } }))
    const runId = await runtime.start({ steps: [{ id: 'work', type: 'test-effect', url: effects.url }] })
    const run = await runtime.wait(runId)
    const message = 'The output is larger than 4 MiB'
    expect(run).toMatchObject({ data: {}, error: { code: 'OUTPUT_TOO_LARGE', message, stepId: 'work' } })
    expect(effects.seen).toHaveLength(1)
  })

  test('the step whose output makes the data larger than 8 MiB fails, and the data stay as they were', async () => {
    effects = await startEffects(() => ({ body: { big: 'x'.repeat(3 * MB) } }))
    const url = effects.url
    const works = ['a', 'b', 'c', 'd'].map((id) => ({ id, type: 'test-effect', url, saveAs: id }))
    const run = await runtime.wait(await runtime.start(chain(works)))
    expect(run.error).toMatchObject({ code: 'DATA_TOO_LARGE', stepId: 'c' })
    expect(Object.keys(run.data as object)).toEqual(['a', 'b'])
    expect(effects.seen).toHaveLength(3)
  })

  test('an answer that makes the data larger than 8 MiB is rejected, and the run keeps waiting', async () => {
    effects = await startEffects(() => ({ body: { big: 'x'.repeat(4.1 * MB) } }))
    const url = effects.url
    const works = ['a', 'b'].map((id) => ({ id, type: 'test-effect', url, saveAs: id }))
    const ask = { id: 'ask', type: 'collect-inputs', output: { note: { type: 'string' } } }
    const runId = await runtime.start(chain([...works, ask]))
    await runtime.wait(runId, ({ status }) => status === 'paused')
    const answer = (note: string) =>
      resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { note } } }).then(({ status }) => status)
    await expect(answer('x'.repeat(300_000))).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(await answer('short')).toBe('running')
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
    const [row] = await database.sql`select data->>'note' as note from runs where id = ${runId}`
    expect(row).toEqual({ note: 'short' })
  })

  test('output that is nested too deeply fails its step', async () => {
    const deep = JSON.parse(`${'['.repeat(250)}${']'.repeat(250)}`) as unknown
    effects = await startEffects(() => ({ body: { deep } }))
    const run = await runtime.wait(
      await runtime.start({ steps: [{ id: 'work', type: 'test-effect', url: effects.url }] }),
    )
    const message = 'The value is nested deeper than 200 levels.'
    expect(run.error).toEqual({ code: 'VALUE_TOO_LARGE', message, stepId: 'work' })
  })
})

describe('a value that Postgres rejects fails the step', () => {
  /** Makes a table reject some rows, as Postgres rejects a value beyond its own limits. */
  async function refusing(table: string, when: string, work: () => Promise<void>): Promise<void> {
    const [event = '', condition = ''] = when.split(' of ')
    await database.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin
        if ${condition} then raise exception 'too large' using errcode = '54000'; end if;
        return new;
      end $$;
      create trigger refuse before ${event} on ${table} for each row execute function refuse()`)
    await work().finally(() => database.sql.unsafe('drop function refuse() cascade'))
  }
  async function engineRuns(): Promise<number> {
    const [row] = await database.sql<
      { count: number }[]
    >`select count(*)::int from engine.runs where status = 'running'`
    return row?.count ?? 0
  }
  const effect = (id: string) => ({ id, type: 'test-effect', url: effects?.url })
  const question = { id: 'ask', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] }

  test.each<[string, string, string, () => { id: string }[], number]>([
    ['the first step begins', 'step_records', "insert of new.step_id = 'a'", () => [effect('a')], 0],
    ['a later step begins', 'step_records', "insert of new.step_id = 'b'", () => [effect('a'), effect('b')], 1],
    ['a result is recorded', 'step_records', "update of new.status = 'completed'", () => [effect('a')], 1],
    ['a question is shown', 'pauses', "insert of new.step_id = 'ask'", () => [question], 0],
  ])('when %s: the run ends, no effect is repeated, the engine keeps nothing', async (_, table, when, steps, done) => {
    effects = await startEffects(() => ({ body: { done: true } }))
    const before = await engineRuns()
    await refusing(table, when, async () => {
      const run = await runtime.wait(await runtime.start(chain(steps())))
      expect(run).toMatchObject({ status: 'failed', outcome: 'failed', error: { code: 'VALUE_TOO_LARGE' } })
      expect(run.stepExecutionHistory.every(({ status }) => status !== 'running')).toBe(true)
      expect(effects?.seen).toHaveLength(done)
      await expect.poll(engineRuns).toBeLessThanOrEqual(before)
    })
  })
})
