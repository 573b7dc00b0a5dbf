import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listAudit } from '@/server/audit-log/list'
import { rerunRun } from '@/server/runs/rerun'
import { resumeRun } from '@/server/runs/resume'
import { revealField } from '@/server/runs/reveal'
import { readWholeValue } from '@/server/runs/whole-value'
import { setVaultSecret } from '@/server/vault/set'
import { browseRuns } from '@/server/views/runs/browse'
import { runsContaining } from '@/server/views/runs/containing'
import { readDataAtStep } from '@/server/views/runs/data-at-step'
import { exportRuns } from '@/server/views/runs/export'
import { readOutputs } from '@/server/views/runs/outputs'
import { getRunOverview } from '@/server/views/runs/overview'
import { refreshRuns } from '@/server/views/runs/refresh'
import { readStatusText } from '@/server/views/runs/status-text'
import { readStep } from '@/server/views/runs/step-detail'
import { readStepValues } from '@/server/views/runs/step-values'
import { readTimeline } from '@/server/views/runs/timeline'
import { getTask } from '@/server/views/tasks/get'
import { listTasks } from '@/server/views/tasks/list'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { withRole } from '../support/tenant'

// Fields that a workflow marks as sensitive: screens hide their values, and people with the right reveal one at a time.

const IBAN = 'DE02 1203 0000 0000 2020 51'
const PIN = 'four-nine-seven'

let database: FreshDatabase
let runtime: TestRuntime
let runId: string
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
  runId = await runtime.start(
    {
      payload: {
        iban: { type: 'string', sensitive: true },
        limit: { type: 'number', sensitive: true },
        city: { type: 'string' },
      },
      steps: [
        { id: 'ask', type: 'collect-inputs', output: { pin: { type: 'string', sensitive: true } } },
        { id: 'write', type: 'set-data', values: { letter: 'To ${iban} in ${city}', nested: { iban: '${iban}' } } },
        { id: 'log', type: 'run-script', code: 'console.log("pays to", args.to); return 1', args: { to: '${iban}' } },
        { id: 'decide', type: 'request-user-action', title: 'Pay ${city}?', actions: [{ id: 'yes', label: 'Yes' }] },
        { id: 'end', type: 'end-flow', output: { iban: '${iban}', city: '${city}' } },
      ],
      edges: ['ask', 'write', 'log', 'decide'].map((from, at) => ({ from, to: ['write', 'log', 'decide', 'end'][at] })),
    },
    { iban: IBAN, limit: 7, city: 'Bonn' },
  )
  await runtime.wait(runId, ({ currentStepId }) => currentStepId === 'ask')
  await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { pin: PIN } } })
  await runtime.wait(runId, ({ status, currentStepId }) => status === 'paused' && currentStepId === 'decide')
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

/** Everything that screens show of the run. */
async function screens(): Promise<Record<string, string>> {
  const actor = { kind: 'user', id: 'usr_1', name: 'Viv', sessionId: 'ses_1', role: 'viewer' } as const
  const ctx = { ...runtime.ctx, actor }
  const { rows } = await readTimeline(ctx, { runId })
  const seqs = rows.map(([seq]) => seq)
  const [overview, status, tasks, task, steps, values] = await Promise.all([
    getRunOverview(ctx, { runId }),
    readStatusText(ctx, { runId, whole: true }),
    listTasks(ctx, {}),
    getTask(ctx, { runId, pauseId: 'decide' }),
    Promise.all(seqs.map((seq) => readStep(ctx, { runId, seq }))),
    Promise.all([
      readWholeValue(ctx, { of: 'run', runId, field: 'input' }),
      readWholeValue(ctx, { of: 'run', runId, field: 'data' }),
      ...seqs.map((seq) => readWholeValue(ctx, { of: 'step', runId, seq, field: 'output' })),
    ]),
  ])
  const { workflowId } = await runtime.status(runId)
  const [outputs, before, ended] = await Promise.all([
    readOutputs(ctx, { runId }),
    readStepValues(ctx, { workflowId, stepId: 'decide', names: ['_'] }),
    readStepValues(ctx, { workflowId, stepId: 'new', names: ['_', 'ask', 'write'], anyRun: true }),
  ])
  const at = await readDataAtStep(ctx, { runId, stepId: 'decide' })
  const shown = { at, outputs, before, ended, overview, status: status.text, tasks, task, steps, values }
  return Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, JSON.stringify(value)]))
}

test('no screen shows the value of a sensitive field, under its name or in another text', async () => {
  for (const [name, text] of Object.entries(await screens())) {
    expect(text, name).not.toContain(IBAN)
    expect(text, name).not.toContain(PIN)
    expect(text, name).toContain('Bonn')
  }
  const { input, hidden } = await getRunOverview(runtime.ctx, { runId })
  // A number is too short to search for, but hidden in its field.
  expect(input).toMatchObject({ value: { iban: '***', limit: '***', city: 'Bonn' } })
  expect(hidden.input.toSorted()).toEqual(['iban', 'limit'])
  expect(hidden.data.toSorted()).toEqual(['iban', 'limit', 'nested.iban', 'pin'])
})

test('the data at a step has its fields by their declaration or their value, and only fields that preceded it', async () => {
  const at = (stepId: string) => readDataAtStep(runtime.ctx, { runId, stepId })
  expect(await at('log')).toEqual({
    fields: {
      iban: { type: 'string', sensitive: true },
      limit: { type: 'number', sensitive: true },
      city: { type: 'string' },
      pin: { type: 'string', sensitive: true },
      letter: { type: 'string' },
      nested: { type: 'object' },
    },
    values: { iban: '***', limit: '***', city: 'Bonn', pin: '***', letter: 'To *** in Bonn', nested: { iban: '***' } },
    leftOut: [],
  })
  expect(Object.keys((await at('ask')).fields)).toEqual(['iban', 'limit', 'city'])
  await expect(at('end')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('a search for a value that screens hide finds no run', async () => {
  expect(await runsContaining(runtime.ctx, 'Bonn', undefined)).toEqual([runId])
  expect(await runsContaining(runtime.ctx, IBAN.slice(0, 8), undefined)).toEqual([])
})

test('the API shows it, as it was sent', async () => {
  expect(await runtime.status(runId)).toMatchObject({ data: { iban: IBAN, pin: PIN, limit: 7 } })
})

test('an admin reveals one value, and the audit log says so without the value', async () => {
  const admin = withRole(runtime.ctx, 'admin')
  expect(await revealField(admin, { runId, of: 'input', field: 'iban' })).toEqual({ value: IBAN })
  expect(await revealField(admin, { runId, of: 'data', field: 'pin' })).toEqual({ value: PIN })
  const { entries } = await listAudit(admin, { action: 'run.revealed' })
  expect(entries.map(({ thing, details }) => [thing.id, details])).toEqual([
    [runId, { of: 'data', field: 'pin' }],
    [runId, { of: 'input', field: 'iban' }],
  ])
  expect(JSON.stringify(entries)).not.toMatch(/DE02|four-nine/)
})

test('nobody below admin reveals anything, nothing else is revealed, and neither leaves an entry', async () => {
  const { ctx } = runtime
  const entries = async () => (await listAudit(withRole(ctx, 'admin'), { action: 'run.revealed' })).entries.length
  const before = await entries()
  for (const role of ['viewer', 'operator', 'editor'] as const)
    await expect(revealField(withRole(ctx, role), { runId, of: 'input', field: 'iban' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
  for (const field of ['city', 'none', '__proto__', 'pin'])
    await expect(revealField(withRole(ctx, 'admin'), { runId, of: 'input', field })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  expect(await entries()).toBe(before)
})

test('each field of a value can be revealed, however large the value is', async () => {
  const definition = {
    payload: {
      iban: { type: 'string', sensitive: true },
      limit: { type: 'number', sensitive: true, required: false },
      note: { type: 'string', sensitive: true, required: false },
      text: { type: 'string' },
    },
    steps: [{ id: 'end', type: 'end-flow', output: { iban: '${iban}', text: '${text}' } }],
  }
  const admin = withRole(runtime.ctx, 'admin')
  for (const size of [40_000, 1_100_000]) {
    const large = await runtime.start(definition, { iban: IBAN, limit: 7, note: '', text: 'x'.repeat(size) })
    await runtime.wait(large)
    const { input, result, hidden } = await getRunOverview(admin, { runId: large })
    expect([input, result]).toMatchObject([{ preview: expect.any(String) }, { preview: expect.any(String) }])
    expect(hidden).toEqual({ input: ['iban', 'limit'], data: ['iban', 'limit'], result: ['iban'] })
    for (const of of ['input', 'data', 'result'] as const)
      expect(await revealField(admin, { runId: large, of, field: 'iban' })).toEqual({ value: IBAN })
    expect(await revealField(admin, { runId: large, of: 'input', field: 'limit' })).toEqual({ value: 7 })
  }
})

test('lists of runs mask hidden values in the message of a failure, as its page does; so does an export', async () => {
  const definition = (sensitive: boolean) => ({
    payload: { iban: { type: 'string', sensitive }, text: { type: 'string' } },
    steps: [{ id: 'no', type: 'fail-flow', code: 'REFUSED', message: 'No account ${iban}' }],
  })
  const failed = async (sensitive: boolean, text: string, iban = IBAN) => {
    const run = await runtime.start(definition(sensitive), { iban, text })
    return (await runtime.wait(run))?.runId ?? ''
  }
  const random = randomBytes(20_000).toString('hex')
  const ids = [
    await failed(true, ''),
    await failed(false, ''),
    // Too large to be read for a list.
    await failed(true, random),
    await failed(true, random.slice(0, 2_000)),
    // Truncation must not leave a part of the value that is not found.
    await failed(true, '', 'long'.repeat(100)),
  ]
  const { runs } = await browseRuns(runtime.ctx, { states: ['failed'] })
  const messages = (items: typeof runs) => ids.map((id) => items.find(({ runId: of }) => of === id)?.failure?.message)
  const shown = ['No account ***', `No account ${IBAN}`, 'REFUSED', 'No account ***', 'No account ***']
  expect(messages(runs)).toEqual(shown)
  expect(messages(await refreshRuns(runtime.ctx, { runIds: ids }))).toEqual(shown)
  expect((await getRunOverview(runtime.ctx, { runId: ids[0] ?? '' })).error?.message).toBe('No account ***')
  expect((await exportRuns(runtime.ctx, { states: ['failed'] })).csv.split(`No account ${IBAN}`)).toHaveLength(2)
})

test('a value of the vault stays masked when its field is revealed', async () => {
  await setVaultSecret(runtime.ctx, { name: 'ACCOUNT', value: IBAN })
  const admin = withRole(runtime.ctx, 'admin')
  expect(await revealField(admin, { runId, of: 'input', field: 'iban' })).toEqual({ value: '***' })
})

test('a rerun with edited data keeps a sensitive field that is still hidden', async () => {
  const again = await rerunRun(runtime.ctx, { runId, body: { data: { iban: '***', limit: 8, city: 'Köln' } } })
  const { data } = await runtime.wait(again.runId, ({ status }) => status === 'paused')
  expect(data).toMatchObject({ limit: 8, city: 'Köln' })
  expect(await database.sql`select input->>'iban' as iban from runs where id = ${again.runId}`).toEqual([
    { iban: IBAN },
  ])
})
