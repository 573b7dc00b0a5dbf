import { afterAll, beforeAll, expect, test } from 'vitest'
import { atOnce } from '@/server/definition/sliced'
import { maskerOf } from '@/server/vault/mask'
import { withoutHidden } from '@/server/workflows/replay/hidden'
import { Unknowns } from '@/server/workflows/replay/unknown'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { backtests, inARow } from './backtests'

// Two runs that differ only in what screens hide get equal verdicts, also where a value is hidden for what it is and not
// for its name, and where two hidden values are equal in one of the runs.

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
const payload = {
  iban: { type: 'string', sensitive: true, required: false },
  n: { type: 'any', required: false },
  city: { type: 'string', required: false },
  log: { type: 'any', required: false },
}
const end = { id: 'end', type: 'end-flow', output: { city: '${city}' } }
const a = { id: 'a', type: 'end-flow', output: {} }
const script = (id: string, code: string, args: object) => ({ id, type: 'run-script', code, args, saveAs: id })
const call = (body: object, id = 'call') => ({ id, type: 'test-effect', body, saveAs: 'paid' })
const splits = (when: string) => ({ id: 'split', type: 'condition', when })
/** Steps in a row, then two ways. */
const splitting = (when: string, ...steps: { id: string; [setting: string]: unknown }[]) => {
  const row = inARow(...steps, splits(when))
  const edges = [...row.edges, { from: 'split', to: 'a', on: 'true' }, { from: 'split', to: 'end', on: 'false' }]
  return { steps: [...row.steps, a, end], edges }
}

async function expectEqual(id: string): Promise<void> {
  const [newer, older, ...more] = (await tried(id)).map(({ verdict }) => verdict)
  expect(newer).toBeDefined()
  expect(newer).toEqual(older)
  expect(more).toEqual([])
}

test('the value that came with a decision is hidden where it is that of a field', async () => {
  const ask = { id: 'ask', type: 'request-user-action', title: 'x', actions: [{ id: 'ok', label: 'OK' }] }
  const id = await published({ payload, ...inARow(ask, end) })
  for (const iban of IBANS)
    await ran(id, { iban, city: 'Bonn' }, { type: 'request_user_action', actionId: 'ok', actionValue: iban })
  await changed(id, splitting("startsWith(${ask.actionValue}, 'DE02')", ask))
  await expectEqual(id)
  // What the product itself says is no secret.
  await changed(id, splitting("${ask.actionId} == 'ok'", ask))
  expect((await tried(id)).map(({ verdict }) => verdict.is)).toEqual(['way', 'way'])
})

test('a value that a step computed into a hidden field is hidden where it came from', async () => {
  const acct = script('acct', "return { number: args.n === 0 ? 'DE02' + ' 1203 0000' : 'AT61' + ' 1904 3002' }", {
    n: '${n}',
  })
  const set = { id: 'set', type: 'set-data', values: { iban: '${acct.number}' } }
  const id = await published({ payload, ...inARow(acct, set, end) })
  for (const n of [0, 1]) await ran(id, { n, city: 'Bonn' })
  await changed(id, splitting("startsWith(${acct.number}, 'DE02')", acct))
  await expectEqual(id)
})

test('an output that was saved in a hidden field is hidden in the facts, however short', async () => {
  const vip = script('iban', 'return args.n === 0', { n: '${n}' })
  const id = await published({ payload, ...inARow(vip, end) })
  for (const n of [0, 1]) await ran(id, { n, city: 'Bonn' })
  await changed(id, splitting('${other} == true', { ...vip, saveAs: 'other' }))
  await expectEqual(id)
})

test('a draft that hides long lists does not show what the run hides', async () => {
  const paid = script('paid', "return { echo: 'Paid to ' + args.to }", { to: '${iban}' })
  const id = await published({ payload, ...inARow(paid, end) })
  const log = Array.from({ length: 250 }, (_, n) => `line number ${n} that is longer than an iban`)
  for (const iban of IBANS) await ran(id, { log, iban, city: 'Bonn' })
  await changed(id, {
    ...splitting("contains(${paid.echo}, 'DE02')", paid),
    payload: { ...payload, log: { type: 'any', sensitive: true, required: false } },
  })
  await expectEqual(id)
  expect((await tried(id)).map(({ verdict }) => verdict)).toMatchObject(Array(2).fill({ needs: { why: 'hidden' } }))
})

/** In one of the two runs, both hidden values are equal. */
const TWINS: [string, object, object][] = [
  [
    'writes one into the other',
    inARow({ id: 's', type: 'set-data', values: { x: 1 } }),
    inARow({ id: 's', type: 'set-data', values: { x: 1, other: { iban: '${iban}' } } }),
  ],
  ['passes the other on', inARow(call({ to: '${iban}' }), end), inARow(call({ to: '${other.iban}' }), end)],
  [
    'calls with the other under another id',
    inARow(call({ to: '${iban}' }), end),
    { ...inARow(call({ to: '${other.iban}' }, 'again'), end), initialStep: 'again' },
  ],
  [
    'passes on what was the other, in a text',
    inARow(call({ to: 'To ${other.iban}.' }), end),
    inARow(call({ to: 'To ${iban}.' }), end),
  ],
  [
    'gives the other as the result',
    inARow({ ...end, output: { is: '${iban}' } }),
    inARow({ ...end, output: { is: '${other.iban}' } }),
  ],
]

test.each(TWINS)('a draft that %s does not learn whether two hidden values are equal', async (_what, was, now) => {
  for (const [one, two] of [IBANS, [true, false]]) {
    const typed = { ...payload, iban: { type: 'any', sensitive: true }, other: { type: 'any' } }
    const id = await published({ payload: typed, ...was })
    for (const other of [one, two]) await ran(id, { iban: one, other: { iban: other }, city: 'Bonn' } as never)
    await changed(id, now)
    await expectEqual(id)
  }
})

test('what is passed on unchanged is the same, and a changed text around it is another argument', async () => {
  const first = call({ to: '${iban}', all: '${_}', of: 'Dear ${iban}' })
  const id = await published({ payload, ...inARow(first, end) })
  for (const iban of IBANS) await ran(id, { iban, city: 'Bonn' })
  const verdicts = async () => (await tried(id)).map(({ verdict: { is, calls } }) => ({ is, changed: calls.changed }))
  expect(await verdicts()).toEqual(Array(2).fill({ is: 'same', changed: [] }))
  await changed(id, inARow({ ...first, body: { ...first.body, of: 'Hello ${iban}' } }, end))
  expect(await verdicts()).toEqual(Array(2).fill({ is: 'same', changed: ['call'] }))
  // Another result of the end beside what it passes on.
  await changed(id, inARow(first, { ...end, output: { ...end.output, iban: '${iban}' } }))
  expect(await verdicts()).toMatchObject([{ changed: [] }, { changed: [] }])
})

test('hiding the values of a large run takes little time, and gives way', () => {
  const log = Array.from({ length: 60 }, (_, n) => `value ${n} of the list`)
  const hides = new Set([...Array.from({ length: 100 }, (_, n) => `field_${n}`), 'log'])
  const input = { log, big: Array.from({ length: 5_000 }, (_, n) => ({ n: `row ${n}` })) }
  const run = {
    ...{ id: 'run', version: 1, startTime: '', way: { visits: [], end: { result: {} } } },
    facts: { input, edits: [], arrivals: {}, visits: [] },
  }
  const hiding = () => withoutHidden(run, new Unknowns(), { vault: maskerOf([]), hides, values: [] })
  const began = process.cpuUsage()
  expect(atOnce(hiding())).toHaveProperty('run')
  const { user } = process.cpuUsage(began)
  expect(user / 1_000).toBeLessThan(1_000)
  const slices = hiding()
  for (let nth = 0; nth < 100; nth++) expect(slices.next(0).done).toBe(false)
  let last = slices.next(5_000)
  while (!last.done) last = slices.next(5_000)
  expect(last.value).toEqual({ needs: { why: 'too large' } })
})
