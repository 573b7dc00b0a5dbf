import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { startRun } from '@/server/runs/start'
import type { StepThrough } from '@/server/runs/step-through/schema'
import { type Stood, stepThrough } from '@/server/runs/step-through/step-through'
import { createTool } from '@/server/tools/lifecycle'
import { setVaultSecret } from '@/server/vault/set'
import { readStep } from '@/server/views/runs/step-detail'
import { readTimeline } from '@/server/views/runs/timeline'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { inARow, signedIn } from './backtests'

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterEach(() => void vi.unstubAllGlobals())
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const never = new AbortController().signal
type Fact = NonNullable<StepThrough['facts']>[number]

async function drafted(definition: object): Promise<string> {
  const { id } = await createWorkflow(runtime.ctx, { name: 'Stepped', ...definition })
  return id
}

function step(id: string, body: Partial<StepThrough> = {}, ctx: ServiceContext = signedIn(runtime.ctx, 'editor')) {
  return stepThrough(ctx, { id, body: { version: 1, ...body } }, never)
}

const at = (stepId: string, came: Fact['came'], branch = 'main', visit = 1): Fact => ({ branch, stepId, visit, came })
const way = ({ visits }: Stood) => visits.map(({ step, exit }) => (exit === null ? step : `${step}:${exit}`))
const effect = (id: string, more: object = {}) => ({ id, type: 'test-effect', body: { id }, saveAs: id, ...more })
const set = (id: string, values: JsonObject, compute: JsonObject = {}) => ({ id, type: 'set-data', values, compute })
/** Shows all data of the run. */
const end = { id: 'end', type: 'end-flow', output: { all: '${_}' } }

test('a draft stands before each visit: what it would do, what it read, and where that comes from', async () => {
  const id = await drafted({
    payload: { amount: { type: 'number' } },
    ...inARow(
      set('double', {}, { twice: '${amount} * 2' }),
      effect('charge', { body: { sum: '${twice}', of: '${amount}' } }),
      { id: 'ask', type: 'collect-inputs', title: 'Send ${charge.id}?', output: { ok: { type: 'boolean' } } },
      { id: 'rest', type: 'delay', for: 'P1D' },
      end,
    ),
  })
  const input = { amount: 21 }
  expect(await step(id, { input })).toMatchObject({ visits: [], next: { step: 'double', does: 'computes' } })
  const called = await step(id, { input, passed: 1 })
  expect(way(called)).toEqual(['double'])
  expect(called.next).toMatchObject({
    ...{ at: { branch: 'main', stepId: 'charge', visit: 1 }, does: 'calls', fails: null, problem: null },
    config: { body: { sum: 42, of: 21 }, saveAs: 'charge' },
    reads: [
      { name: 'amount', value: 21, from: 'start', of: null },
      { name: 'twice', value: 42, from: 'gave', of: 'double' },
    ],
    exits: [{ exit: 'next', to: 'ask' }],
    data: { amount: 21, twice: 42 },
  })
  // Without its result, nobody knows what follows.
  expect(await step(id, { input, passed: 9 })).toMatchObject({ visits: [{}], next: { step: 'charge' } })
  const facts = [at('charge', { output: { id: 'ch_1' } })]
  const asks = await step(id, { input, passed: 9, facts })
  expect(asks.next).toMatchObject({ step: 'ask', does: 'asks', signal: { title: 'Send ch_1?' } })
  const answered = [...facts, at('ask', { answer: { data: { ok: 'yes' } } })]
  expect((await step(id, { input, passed: 9, facts: answered })).next).toMatchObject({
    ...{ step: 'ask', problem: 'The answer does not fit the form of ask: ok must be a boolean, not string.' },
  })
  const fits = [...facts, at('ask', { answer: { data: { ok: true } } })]
  expect((await step(id, { input, passed: 3, facts: fits })).next).toMatchObject({ step: 'rest', does: 'waits' })
  expect((await step(id, { input, passed: 4, facts: fits })).next).toMatchObject({ step: 'end', does: 'ends' })
  expect(await step(id, { input, passed: 5, facts: fits })).toMatchObject({
    ...{ next: null, end: { result: { all: { amount: 21, twice: 42, charge: { id: 'ch_1' }, ok: true } } } },
  })
})

test('it goes on to a breakpoint, and a value that is changed counts from its visit on', async () => {
  const id = await drafted(
    inARow(
      set('a', { n: 1 }),
      set('b', {}, { n: '${n} + 1' }),
      set('c', {}, { n: '${n} + 1' }),
      set('d', { d: 1 }),
      end,
    ),
  )
  expect(await step(id, { stop: ['c'] })).toMatchObject({ visits: [{}, {}], next: { step: 'c', data: { n: 2 } } })
  const changes = [{ before: { branch: 'main', stepId: 'c', visit: 1 }, fields: { n: 10 } }]
  const changed = await step(id, { stop: ['c'], changes })
  expect(changed.next).toMatchObject({ data: { n: 10 }, reads: [{ name: 'n', from: 'changed', of: 'c' }] })
  // The step at which it stands is behind it, also with a breakpoint on it.
  expect(await step(id, { stop: ['c', 'd'], passed: 3, changes })).toMatchObject({
    next: { step: 'd', data: { n: 11 } },
  })
  expect(await step(id, { stop: [], changes })).toMatchObject({ next: null, end: { result: { all: { n: 11 } } } })
})

test('failures take their exits, votes are as many as an action needs, and an event is made of its data', async () => {
  const id = await drafted({
    initialStep: 'call',
    steps: [
      effect('call'),
      {
        ...{ id: 'vote', type: 'request-user-action', remark: 'optional', needs: { yes: 2 }, title: 'Refund?' },
        ...{
          assignees: ['role:viewer'],
          actions: [
            { id: 'yes', label: 'Yes' },
            { id: 'no', label: 'No' },
          ],
        },
      },
      { id: 'wait', type: 'wait-for-event', event: 'paid', key: '${call.key}', saveAs: 'paid', expiresIn: 'P1D' },
      set('late', { late: true }),
      set('failed', { failed: true }),
    ],
    edges: [
      { from: 'call', to: 'vote' },
      { from: 'call', to: 'failed', on: 'error' },
      { from: 'vote', to: 'wait', on: 'yes' },
      { from: 'wait', to: 'late', on: 'timeout' },
    ],
  })
  const fails = at('call', { failed: { code: 'HTTP_500', message: 'No' } })
  const failed = await step(id, { passed: 1, facts: [fails] })
  expect(way(failed)).toEqual(['call:error'])
  expect(failed.next).toMatchObject({ step: 'failed', data: { error: { code: 'HTTP_500' } } })
  const facts = [at('call', { output: { key: 'k1' } }), at('vote', { answer: { actionId: 'yes', remark: 'Fine' } })]
  const waits = await step(id, { passed: 2, facts })
  expect(way(waits)).toEqual(['call', 'vote:yes'])
  expect(waits.next).toMatchObject({
    ...{ step: 'wait', does: 'waits for an event', event: { name: 'paid', key: 'k1' }, expires: true },
  })
  const came = at('wait', { answer: { event: { sum: 3 } } })
  expect(await step(id, { passed: 3, facts: [...facts, came] })).toMatchObject({
    ...{ next: null, end: { result: { paid: { name: 'paid', key: 'k1', data: { sum: 3 } } } } },
  })
  const late = at('wait', { failed: { code: 'TIMED_OUT', message: 'No matching event came in time.' } })
  expect(await step(id, { passed: 3, facts: [...facts, late] })).toMatchObject({ next: { step: 'late' } })
})

test('branches are walked one after the other, and items can be left out', async () => {
  const id = await drafted({
    initialStep: 'each',
    steps: [
      { id: 'each', type: 'for-each', items: [1, 2, 3, 4], saveAs: 'all', result: '${done}' },
      set('one', {}, { done: '${item} * 10' }),
      set('after', { after: true }),
    ],
    edges: [
      { from: 'each', to: 'one', on: 'each' },
      { from: 'each', to: 'after', on: 'done' },
    ],
  })
  const first = await step(id, { passed: 1 })
  expect(first.next).toMatchObject({
    ...{ step: 'one', data: { item: 1 }, reads: [{ name: 'item', value: 1, from: 'gave', of: 'each' }] },
    branches: [{ scope: 'main/each#1', step: 'each', key: '0', keys: ['0', '1', '2', '3'] }],
  })
  const second = await step(id, { passed: 2 })
  expect(second.next).toMatchObject({ at: { branch: 'main/each#1/1' }, data: { item: 2 } })
  const skips = [{ scope: 'main/each#1', from: '1', to: '3' }]
  const skipped = await step(id, { passed: 2, skips })
  expect(skipped.next).toMatchObject({ at: { branch: 'main/each#1/3' }, data: { item: 4 } })
  expect(await step(id, { passed: 3, skips })).toMatchObject({
    ...{ next: { step: 'after', reads: [], data: { all: { results: [10, 40] } } } },
  })
  const none = [{ scope: 'main/each#1', from: '0', to: null }]
  expect(await step(id, { passed: 1, skips: none })).toMatchObject({ next: { step: 'after' } })
})

test('a script is computed once, and what came of it is given back as a fact', async () => {
  const tool = await createTool(runtime.ctx, {
    ...{ name: 'Chance', kind: 'script', config: { code: 'return { chance: Math.random() }' } },
  } as never)
  const id = await drafted(inARow({ id: 'roll', type: 'call-tool', toolId: tool.id }, end))
  expect(await step(id)).toMatchObject({ next: { does: 'computes' } })
  const rolled = await step(id, { passed: 1 })
  const [fact] = rolled.computed
  expect(fact).toMatchObject({ stepId: 'roll', came: { output: { chance: expect.any(Number) } } })
  const facts = rolled.computed as Fact[]
  expect((await step(id, { passed: 1, facts })).next?.data).toEqual(rolled.next?.data)
  expect((await step(id, { passed: 1, facts })).computed).toEqual([])
  const typed = [at('roll', { output: { chance: 7 } })]
  expect((await step(id, { passed: 1, facts: typed })).next?.data).toEqual({ chance: 7 })
})

test('a visit of a run says under which name it saved a value that is no object', async () => {
  const tool = await createTool(runtime.ctx, { name: 'Five', kind: 'script', config: { code: 'return 5' } } as never)
  const id = await drafted(
    inARow({ id: 'five', type: 'call-tool', toolId: tool.id, saveAs: 'n' }, effect('call', { saveAs: 'sum' })),
  )
  const { runId } = await startRun(runtime.ctx, { workflowId: id, body: {}, version: 'latest' })
  await runtime.wait(runId, undefined, 10_000)
  const steps = await Promise.all([0, 1].map(async (nth) => (await visitsOf(runId))[nth] ?? -1))
  const [five, call] = await Promise.all(steps.map((seq) => readStep(runtime.ctx, { runId, seq })))
  expect(five).toMatchObject({ savedAs: 'n', output: { value: { n: 5 } } })
  expect(call).toMatchObject({ savedAs: null })
})

async function visitsOf(runId: string): Promise<number[]> {
  return (await readTimeline(runtime.ctx, { runId })).rows.map(([seq]) => seq)
}

test('shows no secret and no sensitive value, and what was hidden decides nothing', async () => {
  await setVaultSecret(runtime.ctx, { name: 'KEY', value: 'sk_live_topsecret', hosts: ['example.com'] })
  const id = await drafted({
    payload: { iban: { type: 'string', sensitive: true } },
    ...inARow(
      { id: 'get', type: 'http-request', url: 'https://example.com/${iban}', headers: { key: '${secrets.KEY}' } },
      set('copy', { note: 'IBAN ${iban}, ${get.body}' }),
      { id: 'ask', type: 'collect-inputs', output: { pin: { type: 'string', sensitive: true, default: 'pin-1234' } } },
      { id: 'which', type: 'condition', when: '${iban} == "DE123456"' },
    ),
  })
  const input = { iban: 'DE123456' }
  const facts = [
    at('get', { output: { status: 200, body: 'sk_live_topsecret' } }),
    at('ask', { answer: { data: { pin: 'pin-9876' } } }),
  ]
  const all: Stood[] = []
  for (const passed of [0, 1, 2, 3, 4, 5]) all.push(await step(id, { input, facts, passed }))
  for (const stood of all) {
    expect(JSON.stringify(stood)).not.toContain('topsecret')
    expect(JSON.stringify(stood)).not.toMatch(/DE123456|pin-\d/)
  }
  expect(all[0]?.next?.config).toMatchObject({ url: 'https://example.com/***', headers: { key: '${secrets.KEY}' } })
  expect(all[2]?.next?.data).toMatchObject({ iban: '***', note: 'IBAN ***, ***' })
  // The form still asks for it.
  expect(all[2]?.next?.signal).toMatchObject({ fields: { pin: { type: 'string', sensitive: true } } })
  expect(way(all[4] as Stood)).toEqual(['get', 'copy', 'ask', 'which:true'])
  // What a screen has hidden comes back as such: it decides nothing.
  const blind = await step(id, { input: { iban: '***' }, facts, passed: 9 })
  expect(blind).toMatchObject({
    visits: [{ step: 'get' }, { step: 'copy' }, { step: 'ask' }],
    next: { step: 'which', problem: 'This depends on a value that is hidden here. Type the value before you go on.' },
  })
  expect(JSON.stringify(blind)).not.toMatch(/unknown [0-9a-f]{32}/)
})

test('facts that are odd, too many or too large are refused, and so is an endless loop', async () => {
  const id = await drafted({
    payload: { n: { type: 'number' } },
    initialStep: 'loop',
    steps: [set('loop', { a: 1 }), { id: 'more', type: 'condition', when: '${n} > 0', maxVisits: 9_999 }],
    edges: [
      { from: 'loop', to: 'more' },
      { from: 'more', to: 'loop', on: 'true' },
    ],
  })
  const refused = (body: object) => expect(step(id, body as never)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await refused({ input: {} })
  await refused({ input: { n: 1 }, stop: [] })
  await refused({ input: { n: 1, deep: JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`) } })
  await refused({ input: { n: 1, large: 'x'.repeat(2 ** 20) } })
  await refused({ input: { n: 1 }, facts: [{ branch: 'main', stepId: 'loop', visit: 0, came: { output: 1 } }] })
  await refused({ input: { n: 1 }, facts: [{ branch: 'main', stepId: 'loop', visit: 1, came: {} }] })
  await refused({ input: { n: 1 }, passed: -1 })
  expect(await step(id, { input: { n: 1 }, passed: 1_500 })).toMatchObject({
    earlier: 500,
    next: { at: { visit: 751 } },
  })
  await expect(step(id, {}, signedIn(runtime.ctx, 'viewer' as never))).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('each step type is stepped through without a row that is written and without a request', async () => {
  const { stepTypes } = await import('@/server/steps/registry')
  const { Arriving, Halt } = await import('@/server/workflows/replay/arriving')
  const { computingIn } = await import('@/server/workflows/replay/compute')
  const { drive } = await import('@/server/workflows/replay/drive')
  const { startOf } = await import('@/server/workflows/replay/ends')
  const { Origins } = await import('@/server/workflows/replay/origins')
  const { Unknowns, Undetermined } = await import('@/server/workflows/replay/unknown')
  const { Walker } = await import('@/server/workflows/replay/walk')
  const refusing = <T>(what: string): T =>
    new Proxy(() => undefined, {
      get: (_target, name) => {
        throw new Error(`stepping used ${what}: ${String(name)}`)
      },
      apply: () => {
        throw new Error(`stepping called ${what}`)
      },
    }) as T
  vi.stubGlobal('fetch', refusing('fetch'))
  const ctx: ServiceContext = { ...runtime.ctx, db: refusing('the database') }
  const ends = new Map<string, string>()
  for (const type of stepTypes()) {
    const definition = {
      ...{ name: 'One', description: '', initialStep: 'step', payload: {}, edges: [] },
      steps: [
        {
          id: 'step',
          type: type.type,
          ...JSON.parse(
            JSON.stringify(type.sample).replaceAll('""', '"x"').replaceAll('"https://"', '"https://x.test"'),
          ),
        },
      ],
    } as never
    for (const came of [null, { output: { done: true } }, { failed: { code: 'FAILED', message: 'No' } }] as const) {
      const facts = came ? [at('step', came)] : []
      const stepping = {
        facts,
        changes: [],
        skips: [],
        passed: 1,
        stop: 'each',
        voter: { id: 'a', name: 'A' },
      } as const
      const source = new Arriving(stepping, computingIn(ctx, never, new Set()), new Unknowns(), new Origins())
      const begun = startOf(ctx, definition, {})
      if ('failed' in begun) throw new Error(begun.failed.message)
      const walk = new Walker(definition, source, ctx.now()).walk(begun.state, 'step')
      const budget = { visits: 100, ms: 1_000, computeMs: 1_000 }
      const end = await drive(ctx.tenantId, walk, budget).catch((err: unknown) => err)
      const stood = end instanceof Halt ? 'halts' : end instanceof Undetermined ? end.reason.why : 'ends'
      if (end instanceof Error && stood === 'ends') throw end
      if (!came) ends.set(type.type, stood)
    }
  }
  const halting = stepTypes().filter(({ mode, type }) => (mode === 'effect' || mode === 'pause') && type !== 'delay')
  // The sample of a script computes at once, or takes too long without the sandbox.
  for (const { type } of halting) expect(ends.get(type), type).toMatch(/^(halts|ends|script)$/)
  expect(ends.get('http-request')).toBe('halts')
  expect(ends.get('call-agent')).toBe('halts')
  expect(ends.get('run-workflow')).toBe('halts')
  expect(ends.get('collect-inputs')).toBe('halts')
  expect(ends.get('delay')).toBe('ends')
})
