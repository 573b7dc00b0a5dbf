import { afterAll, beforeAll, expect, test } from 'vitest'
import { listAudit } from '@/server/audit-log/list'
import type { JsonObject } from '@/server/definition/json'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { backtests, inARow, signedIn } from './backtests'

// The author of a draft must not read a hidden field off the way that old runs would take on it. Two runs that differ
// only in that field get equal verdicts, for each thing that a draft may do with it.

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const { published, ran, changed, tried } = backtests(() => runtime)

const IBANS = ['DE02 1203 0000', 'AT61 1904 3002']
const SALARIES = [52_000, 48_000]
const payload = {
  iban: { type: 'string', sensitive: true },
  salary: { type: 'number', sensitive: true },
  code: { type: 'any', sensitive: true },
  city: { type: 'string' },
}
const ask = { id: 'ask', type: 'collect-inputs', output: { pin: { type: 'string', sensitive: true } } }
const german = { id: 'german', type: 'condition', when: "startsWith(${iban}, 'DE')" }
const short = { id: 'short', type: 'set-data', values: {}, compute: { short: 'upper(${iban})' } }
const call = {
  id: 'call',
  type: 'test-effect',
  body: { to: '${iban}', short: '${short}', of: 'To ${iban}' },
  saveAs: 'paid',
}
const end = { id: 'end', type: 'end-flow', output: { city: '${city}', iban: '${iban}', short: '${short}' } }
/** Both exits lead to the next step. */
const both = (from: string, to: string) => ['true', 'false'].map((on) => ({ from, to, on }))
const edges = [
  ...[
    { from: 'ask', to: 'short' },
    { from: 'short', to: 'german' },
    { from: 'call', to: 'end' },
  ],
  ...both('german', 'call'),
]
const steps = [ask, short, german, call, end]

/** Two runs that differ only in what is hidden: those of the first and of the second value. */
async function twoRuns(definition: object = { payload, steps, edges }): Promise<string> {
  const id = await published(definition)
  for (const nth of [0, 1]) {
    const data = { iban: IBANS[nth] ?? '', salary: SALARIES[nth] ?? 0, code: nth === 0 ? 7 : 'seven', city: 'Bonn' }
    await ran(id, data, { type: 'collect_inputs', data: { pin: `pin-${nth}${nth}${nth}${nth}` } })
  }
  return id
}

/** The verdicts on both runs, the newer one first. */
async function judged(id: string, options: JsonObject = {}) {
  const found = await tried(id, options)
  expect(found).toHaveLength(2)
  const text = JSON.stringify(found)
  for (const value of [...IBANS, 'pin-0000', 'pin-1111']) expect(text).not.toContain(value)
  return found.map(({ verdict }) => verdict)
}

const inRow = (...more: { id: string; type: string; [setting: string]: unknown }[]) =>
  inARow(ask, ...more, { id: 'end', type: 'end-flow', output: { city: '${city}' } })
const set = (compute: JsonObject) => ({ id: 'set', type: 'set-data', values: {}, compute })
const split = (when: string, saved: { id: string; type: string; [setting: string]: unknown }[] = []) => ({
  steps: [ask, ...saved, { id: 'split', type: 'condition', when }, { id: 'a', type: 'end-flow', output: {} }, end2],
  edges: [
    ...[ask, ...saved].map(({ id }, at) => ({ from: id, to: saved[at]?.id ?? 'split' })),
    { from: 'split', to: 'a', on: 'true' },
    { from: 'split', to: 'end', on: 'false' },
  ],
})
const end2 = { id: 'end', type: 'end-flow', output: { city: '${city}' } }

/** Drafts that try to find the value out: by way, result, failure, arguments, forms and forks. */
const DRAFTS: [string, object][] = [
  ['compares it', split("${iban} == 'DE02 1203 0000'")],
  ['compares a number', split('${salary} > 50000')],
  ['compares an answer', split("${pin} == 'pin-0000'")],
  ['cuts it', split("${first} == 'DE02 1203 0000!'", [set({ first: "${iban} + '!'" })])],
  [
    'copies and compares it',
    split("${copy} == 'DE02 1203 0000'", [{ id: 'copy', type: 'set-data', values: { copy: '${iban}' } }]),
  ],
  [
    'looks into a text',
    split("contains(${text}, 'DE')", [{ id: 'text', type: 'set-data', values: { text: 'To ${iban}' } }]),
  ],
  ['counts it', split('size(${iban}) == 14')],
  ['matches it', split("matches(${iban}, 'DE.*')")],
  ['falls back on it', split('${iban ?? "none"} == "none"')],
  ['asks whether it is there', split('has(${iban})')],
  ['fails on it', inRow(set({ n: '${code} * 2' }))],
  ['gives it as a result', { ...inRow(), steps: [ask, { ...end2, output: { a: '${iban}', b: '${salary}' } }] }],
  ['gives all data', { ...inRow(), steps: [ask, { id: 'end', type: 'end-flow' }] }],
  [
    'writes its value into a result',
    { ...inRow(), steps: [ask, { ...end2, output: { city: '${city}', iban: IBANS[0], short: IBANS[0] } }] },
  ],
  [
    'passes its value on',
    {
      steps: [ask, short, { ...call, body: { to: IBANS[0], short: '${short}', of: 'x' } }, end2],
      edges: [
        { from: 'ask', to: 'short' },
        { from: 'short', to: 'call' },
        { from: 'call', to: 'end' },
      ],
    },
  ],
  ['passes it on cut', inRow(set({ first: "${iban} + '!'" }), { ...call, body: { to: '${first}' } })],
  ['passes another field on', inRow({ ...call, body: { to: '${pin}', short: '${iban}', of: 'To ${iban}' } })],
  [
    'repeats as often',
    {
      steps: [ask, { id: 'each', type: 'for-each', items: '${code}' }, { ...call, body: {} }, end2],
      edges: [
        { from: 'ask', to: 'each' },
        { from: 'each', to: 'call', on: 'each' },
        { from: 'each', to: 'end', on: 'done' },
      ],
    },
  ],
  ['takes it as a time', inRow({ id: 'wait', type: 'delay', for: '${iban}' })],
  [
    'names it in a failure',
    {
      steps: [ask, { id: 'no', type: 'fail-flow', code: 'NO', message: 'Not ${iban}' }],
      edges: [{ from: 'ask', to: 'no' }],
    },
  ],
  ['asks for it in START with a pattern', { payload: { ...payload, iban: { ...payload.iban, options: [IBANS[0]] } } }],
  ['asks for it as a number', { payload: { ...payload, salary: { type: 'string', sensitive: true } } }],
  [
    'asks for an answer with options',
    { steps: [{ ...ask, output: { pin: { ...ask.output.pin, options: ['pin-0000'] } } }, ...steps.slice(1)] },
  ],
  [
    'no longer hides it, and compares it',
    { payload: { ...payload, iban: { type: 'string' } }, ...split("${iban} == 'DE02 1203 0000'") },
  ],
  [
    'computes it in a script',
    inRow({
      id: 'script',
      type: 'run-script',
      code: 'return { a: args.iban.length, b: data }',
      args: { iban: '${iban}' },
    }),
  ],
  [
    'lets a script look at all data',
    inRow({ id: 'script', type: 'run-script', code: 'return JSON.stringify(dataContext)', args: {} }),
  ],
]

test.each(DRAFTS)('a draft that %s learns nothing about it', async (_what, draft) => {
  const id = await twoRuns()
  await changed(id, draft)
  const [newer, older] = await judged(id)
  expect(newer).toEqual(older)
})

test('an unchanged workflow is the same, although it decides on, cuts and passes on what is hidden', async () => {
  const id = await twoRuns()
  const same = { is: 'same', calls: { new: [], gone: [], changed: [] }, assumed: [] }
  expect(await judged(id)).toEqual([same, same])
  // Elsewhere changed.
  await changed(id, { steps: [...steps.slice(0, 4), { ...end, output: { ...end.output, city: 'In ${city}' } }] })
  expect(await judged(id)).toMatchObject(Array(2).fill({ is: 'result', fields: ['city'], assumed: [] }))
})

test('a step that decides on something hidden is not known where it, or a step that it reads from, has changed', async () => {
  const hidden = (stepId: string) => ({ is: 'untold', needs: { why: 'hidden', place: { stepId } } })
  const id = await twoRuns()
  await changed(id, { steps: [ask, short, { ...german, when: "!startsWith(${iban}, 'DE')" }, call, end] })
  expect(await judged(id)).toMatchObject([hidden('german'), hidden('german')])
  await changed(id, {
    steps: [ask, { ...short, values: { iban: 'FR' } }, german, call, end],
  })
  // The draft itself says what it is now.
  expect((await judged(id)).map(({ is }) => is)).not.toContain('untold')
  await changed(id, { steps: [ask, { ...short, values: { iban: '${pin}' } }, german, call, end] })
  expect(await judged(id)).toMatchObject([hidden('german'), hidden('german')])
})

test('a field that only the draft hides, or only the version of the run, is hidden', async () => {
  const shown = { ...payload, iban: { type: 'string' } }
  const id = await twoRuns({ payload: shown, steps, edges })
  await changed(id, { payload, ...split("${iban} == 'DE02 1203 0000'") })
  const [newer, older] = await judged(id)
  expect(newer).toEqual(older)
})

test('with reveal a hidden field decides, for those who may see it, and the audit log says so', async () => {
  const id = await twoRuns()
  await changed(id, { steps: [ask, short, { ...german, when: "startsWith(${iban}, 'AT')" }, call, end] })
  const admin = signedIn(runtime.ctx, 'admin')
  const found = await tried(id, { reveal: true }, admin)
  expect(found.map(({ verdict }) => verdict.is)).toEqual(['way', 'way'])
  const { entries } = await listAudit(runtime.ctx, { action: 'workflow.backtested', thing: id })
  expect(entries).toMatchObject([{ action: 'workflow.backtested', details: { hidden: true } }])
  await expect(tried(id, { reveal: true })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  // A key reads the stored values of runs anyway.
  expect((await tried(id, {}, runtime.ctx)).map(({ verdict }) => verdict.is)).toEqual(['way', 'way'])
})
