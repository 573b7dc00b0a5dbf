import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { archiveTool, createTool } from '@/server/tools/lifecycle'
import { TOOL } from '@/server/tools/noun'
import { runToolCases } from '@/server/tools/run-cases'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import {
  changeToolExpected,
  deleteToolCase,
  type KeepToolCase,
  keepToolCase,
  renameToolCase,
} from '@/server/tools/test-cases'
import { setVaultSecret } from '@/server/vault/set'
import { runCases } from '@/server/versioned/run-cases'
import { toolCases } from '@/server/views/test-cases'
import { openTool } from '@/server/views/tools/open'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
import { outcome } from '../workflows/support'

let database: FreshDatabase
let ctx: ServiceContext
let id: string
const never = new AbortController().signal
beforeAll(async () => {
  database = await freshDatabase()
})
beforeEach(async () => {
  ctx = await newTenant(database)
  id = (await createTool(ctx, { name: 'Double', ...DOUBLE })).id
})
afterAll(async () => {
  await stopSandbox()
  await database.close()
})

const script = (code: string) => ({ kind: 'script', config: { code } })
const DOUBLE = {
  ...script('return { twice: args.n * 2, at: Date.now() }'),
  inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
}
const TWICE = { kind: 'fields' as const, fields: [{ path: ['twice'], value: 42 }] }

const keep = (name: string, given: object, expected: KeepToolCase['expected']) =>
  keepToolCase(ctx, { id, body: { name, given, expected } })
const run = (draft: object, more: object = {}, as = ctx) => runToolCases(as, { id, body: { draft, ...more } }, never)
const names = async () => (await toolCases(ctx, { id })).map(({ name }) => name)

test('cases are run against the draft that is given, and say where its results differ', async () => {
  await keep('Twice', { args: { n: 21 } }, TWICE)
  await keep('No number', { args: {} }, { kind: 'fails', code: 'INVALID_INPUT' })
  await keep('Any', { args: { n: 1 } }, { kind: 'succeeds' })
  const { results } = await run({})
  expect(results.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['Twice', 'passed'],
    ['No number', 'passed'],
    ['Any', 'passed'],
  ])
  const changed = await run({
    ...script('if (args.n === 1) throw new Error("one"); return { twice: 0 }'),
    inputSchema: null,
  })
  expect(changed.results).toMatchObject([
    { outcome: 'failed', differences: [{ path: 'twice', expected: '42', actual: '0' }] },
    { outcome: 'failed', differences: [{ expected: 'fails with INVALID_INPUT' }] },
    { outcome: 'failed', differences: [{ expected: 'succeeds', actual: expect.stringContaining('EXECUTION_ERROR') }] },
  ])
  const [one] = await toolCases(ctx, { id })
  expect((await run({}, { only: [one?.id ?? ''] })).results).toMatchObject([{ name: 'Twice' }])
})

test('a case is renamed and deleted; the tool’s page says how many there are', async () => {
  const { id: caseId } = await keep('Twice', { args: { n: 21 } }, TWICE)
  await keep('Other', { args: { n: 1 } }, { kind: 'succeeds' })
  expect(await openTool(ctx, { id })).toMatchObject({ testCases: 2 })
  await renameToolCase(ctx, { id, caseId, name: ' Doubles ' })
  expect(await names()).toEqual(['Doubles', 'Other'])
  await deleteToolCase(ctx, { id, caseId })
  expect(await names()).toEqual(['Other'])
  expect(await outcome(deleteToolCase(ctx, { id, caseId }))).toBe('NOT_FOUND')
  expect(await outcome(renameToolCase(ctx, { id, caseId, name: 'Gone' }))).toBe('NOT_FOUND')
})

test('a case’s expectation is changed, and a secret that is sent back as shown stays unchanged', async () => {
  const fields = [
    { path: ['twice'], value: 42 },
    { path: ['key'], value: 'sk-1234567890ab' },
    { path: ['at'], value: 1 },
  ]
  const { id: caseId } = await keep('Twice', { args: { n: 21 } }, { kind: 'fields', fields })
  await setVaultSecret(ctx, { name: 'KEY', value: 'sk-1234567890ab', hosts: ['api.example.com'] })
  const [shown] = await toolCases(ctx, { id })
  if (shown?.expected.kind !== 'fields') throw new Error('It expects fields.')
  expect(shown.expected.fields[1]).toEqual({ path: ['key'], value: '***' })
  const sent = { kind: 'fields', fields: [{ path: ['twice'], value: 44 }, ...shown.expected.fields.slice(1, 2)] }
  await changeToolExpected(ctx, { id, caseId, expected: sent })
  const code = (key: string) => script(`return { twice: args.n * 2, key: ${key} }`)
  expect((await run(code("'sk-1234567' + '890ab'"))).results).toMatchObject([
    { outcome: 'failed', differences: [{ path: 'twice', expected: '44', actual: '42' }] },
  ])
  await changeToolExpected(ctx, { id, caseId, expected: { kind: 'succeeds' } })
  expect((await run(code('1'))).results).toMatchObject([{ outcome: 'passed' }])
  const contains = { kind: 'contains', text: 'x' }
  expect(await outcome(changeToolExpected(ctx, { id, caseId, expected: contains }))).toBe('INVALID_INPUT')
  const viewer = withRole(ctx, 'viewer')
  expect(await outcome(changeToolExpected(viewer, { id, caseId, expected: { kind: 'succeeds' } }))).toBe('FORBIDDEN')
})

test('secrets stay unchanged where values beside them are changed, moved or removed', async () => {
  const [one, two] = ['sk-1234567890ab', 'pw-0987654321zy']
  const fields = [
    { path: ['twice'], value: 42 },
    { path: ['login'], value: { user: 'ann', key: one, all: [one, two] } },
    { path: ['list'], value: [one, two, 'x'] },
  ]
  const { id: caseId } = await keep('Login', { args: { n: 21 } }, { kind: 'fields', fields })
  for (const [name, value] of Object.entries({ ONE: one, TWO: two }))
    await setVaultSecret(ctx, { name, value, hosts: ['api.example.com'] })
  const stored = async () => (await database.sql`select expected from test_cases where id = ${caseId}`)[0]?.expected
  const change = (expected: object) => changeToolExpected(ctx, { id, caseId, expected })
  const login = { path: ['login'], value: { user: 'bob', key: '***', all: ['***', '***'] } }
  await change({ kind: 'fields', fields: [{ path: ['list'], value: ['***', '***', 'y'] }, login] })
  const kept = { path: ['login'], value: { user: 'bob', key: one, all: [one, two] } }
  expect(await stored()).toEqual({ kind: 'fields', fields: [{ path: ['list'], value: [one, two, 'y'] }, kept] })
  await change({ kind: 'fields', fields: [{ path: ['list'], value: ['y', '***', '***'] }, login] })
  expect(await stored()).toMatchObject({ fields: [{ value: ['y', two, one] }, kept] })
})

test('a tool has at most 50, none of them too large', async () => {
  await database.sql`
    insert into test_cases (tenant_id, noun, object_id, id, name, given, expected, created_by, created_at)
    select ${ctx.tenantId}, 'tool', ${id}, 'case_' || n, 'Case', '{"args":{}}', '{"kind":"succeeds"}', 'usr_1', now()
    from generate_series(100, 148) n`
  expect(await outcome(keep('Large', { args: { n: 'x'.repeat(200_000) } }, TWICE))).toBe('INVALID_INPUT')
  await keep('The last', { args: { n: 21 } }, TWICE)
  expect(await outcome(keep('One more', { args: { n: 21 } }, TWICE))).toBe('CONFLICT')
  expect(await outcome(keep('', {}, TWICE))).toBe('INVALID_INPUT')
  expect(await outcome(keep('No field', {}, { kind: 'fields', fields: [] }))).toBe('INVALID_INPUT')
})

test('values of the vault are masked, also one where a long result is cut', async () => {
  await setVaultSecret(ctx, { name: 'PASS', value: 'swordfish_8472' })
  await keep('Long', { args: { n: 1 } }, { kind: 'equals', value: 'short' })
  const { results } = await run(script("return 'x'.repeat(1_990) + ['sword', 'fish_8472'].join('')"))
  expect(results[0]?.differences[0]?.actual).toMatch(/x\*\*\*"$/)
  expect(JSON.stringify(results)).not.toContain('sword')
})

test('a case that does not end in time counts as not run; the rest keeps its results', async () => {
  for (const name of ['Quick', 'Slow', 'Too late']) await keep(name, { args: {} }, { kind: 'succeeds' })
  const aborted: boolean[] = []
  const { results } = await runCases(
    ctx,
    TOOL,
    id,
    {
      only: undefined,
      atOnce: 1,
      limitMs: 300,
      run: async (_given, signal) => {
        aborted.push(signal.aborted)
        if (aborted.length === 2) await new Promise((done) => signal.addEventListener('abort', done))
        return { ended: { data: 1 } }
      },
    },
    never,
  )
  expect(results.map(({ outcome }) => outcome)).toEqual(['passed', 'not run', 'not run'])
  expect(results[1]?.reason).toContain('no time left')
  expect(aborted).toEqual([false, false])
})

test('when nobody waits any more, the work ends and no further case begins', async () => {
  for (const name of ['First', 'Second']) await keep(name, { args: {} }, { kind: 'succeeds' })
  const caller = new AbortController()
  let begun = 0
  const run = async (_given: unknown, signal: AbortSignal) => {
    begun += 1
    caller.abort()
    signal.throwIfAborted()
    return { ended: { data: 1 } }
  }
  const options = { only: undefined, atOnce: 1, limitMs: 60_000, run }
  expect(await outcome(runCases(ctx, TOOL, id, options, caller.signal))).toBe('CONFLICT')
  expect(begun).toBe(1)
})

test('only editors of the workspace change and run cases, and nobody those of an archived or built-in tool', async () => {
  const { id: caseId } = await keep('Twice', { args: { n: 21 } }, TWICE)
  const body = { name: 'Theirs', given: {}, expected: TWICE }
  const operator = withRole(ctx, 'operator')
  expect(await toolCases(withRole(ctx, 'viewer'), { id })).toHaveLength(1)
  for (const refused of [
    keepToolCase(operator, { id, body }),
    renameToolCase(operator, { id, caseId, name: 'Theirs' }),
    deleteToolCase(operator, { id, caseId }),
    run({}, {}, operator),
  ])
    expect(await outcome(refused)).toBe('FORBIDDEN')
  const other = await newTenant(database)
  expect(await outcome(toolCases(other, { id }))).toBe('TOOL_NOT_FOUND')
  expect(await outcome(deleteToolCase(other, { id, caseId }))).toBe('TOOL_NOT_FOUND')
  // A case belongs to one tool.
  const { id: mine } = await createTool(ctx, { name: 'Mine', ...DOUBLE })
  expect(await outcome(deleteToolCase(ctx, { id: mine, caseId }))).toBe('NOT_FOUND')
  expect((await runToolCases(ctx, { id: mine, body: { draft: {}, only: [caseId] } }, never)).results).toEqual([])
  await archiveTool(ctx, { id })
  expect(await outcome(keepToolCase(ctx, { id, body }))).toBe('TOOL_ARCHIVED')
  expect(await outcome(run({}))).toBe('TOOL_ARCHIVED')
  expect(await outcome(keepToolCase(ctx, { id: 'tool_text', body }))).toBe('CONFLICT')
})

test('values of the vault are masked in cases and in their results', async () => {
  await setVaultSecret(ctx, { name: 'PRICE_KEY', value: 'a-very-secret-value' })
  await keep(
    'With a secret',
    { args: { n: 1, key: 'a-very-secret-value' } },
    { kind: 'equals', value: 'a-very-secret-value' },
  )
  const { results } = await run(script('return args.key + "!"'))
  expect(results).toMatchObject([{ outcome: 'failed', differences: [{ expected: '"***"', actual: '"***!"' }] }])
  expect(JSON.stringify(await toolCases(ctx, { id }))).not.toContain('a-very-secret-value')
  expect((await run(script('return args.key'))).results).toMatchObject([{ outcome: 'passed' }])
})
