import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { updateAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import { checkDraft } from '@/server/views/workflows/check-draft'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { SAMPLE_WORKFLOWS } from '@/server/workflows/samples'
import { simulateWorkflow } from '@/server/workflows/simulate'
import { type Budget, explore } from '@/server/workflows/simulation/explore'
import { newAgent } from '../agents/support'
import { Dice, definitionOf, randomGraph } from '../graphs/generate'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { LONGEST_HOLD_MS, surelyHeld } from '../support/held'
import { rounds } from '../support/rounds'
import { newTenant, withRole } from '../support/tenant'
import { refusal } from './support'

const BUDGET: Budget = { paths: 100, visits: 20_000, ms: 60_000 }
/** The simulation itself reads only the time and the workspace. */
const HERE = { tenantId: 'tn_X', now: () => new Date() } as ServiceContext
const base = { name: 'n', description: '' }

function simulate(
  definition: object,
  given: { data?: JsonObject; answers?: JsonObject; budget?: Partial<Budget> } = {},
) {
  const { data = {}, answers = {}, budget } = given
  const whole = { ...base, payload: {}, ...definition } as unknown as Definition
  return explore(HERE, whole, { outputs: new Map(), data, answers }, { ...BUDGET, ...budget })
}

const end = { id: 'end', type: 'end-flow' }
/** Lists in lists in lists, a thousand million values. */
const ENDLESS: JsonObject = [0, 1, 2].reduce<JsonObject>((items) => ({ type: 'array', minItems: 1000, items }), {
  type: 'string',
})
const taken = ({ exits }: Awaited<ReturnType<typeof simulate>>) =>
  Object.fromEntries(exits.map(({ stepId, exit, reached, assumed }) => [`${stepId} ${exit}`, reached && !assumed]))

describe('a simulation', () => {
  test('finds values for both ways of a decision, and those on which an expression fails', async () => {
    const found = await simulate({
      payload: { total: { type: 'number' } },
      initialStep: 'big',
      steps: [
        { id: 'big', type: 'condition', when: '${total} > 100' },
        { id: 'share', type: 'set-data', compute: { share: '1 / (${total} - 101)' } },
        end,
        { id: 'lost', type: 'end-flow' },
      ],
      edges: [
        { from: 'big', to: 'share', on: 'true' },
        { from: 'big', to: 'end', on: 'false' },
        { from: 'share', to: 'end' },
      ],
    })
    expect(taken(found)).toEqual({ 'big true': true, 'big false': true, 'share next': true })
    expect(found).toMatchObject({
      truncated: false,
      unreached: [],
      unreachable: ['lost'],
      coverage: { steps: { total: 3, reached: 3 }, exits: { total: 3, reached: 3 } },
      longestPath: { steps: 3, visits: ['big', 'share', 'end'] },
    })
    expect(found.failures).toEqual([
      {
        stepId: 'share',
        code: 'EXPRESSION_FAILED',
        message: '"/" divides by zero',
        handled: false,
        input: { total: 101 },
      },
    ])
  })

  test('gives every answer of people, is late once, and has effects fail where something follows', async () => {
    const found = await simulate({
      initialStep: 'ask',
      onFailure: 'tell',
      steps: [
        {
          id: 'ask',
          type: 'request-user-action',
          actions: [
            { id: 'yes', label: 'Yes' },
            { id: 'no', label: 'No' },
          ],
          expiresIn: 'P1D',
        },
        { id: 'pay', type: 'call-tool', toolId: 'tool_x', saveAs: 'paid' },
        { id: 'refund', type: 'set-data', compute: { why: '${error.code}' } },
        { id: 'tell', type: 'set-data', compute: { told: '${error.stepId}' } },
        end,
      ],
      edges: [
        { from: 'ask', to: 'pay', on: 'yes' },
        { from: 'ask', to: 'end', on: 'no' },
        { from: 'ask', to: 'end', on: 'timeout' },
        { from: 'pay', to: 'refund', on: 'error' },
        { from: 'pay', to: 'end' },
        { from: 'refund', to: 'end' },
      ],
    })
    expect(Object.values(taken(found))).not.toContain(false)
    expect(taken(found)).toMatchObject({ 'ask timeout': true, 'ask no': true, 'pay error': true })
    expect(found.failures).toEqual([])
  })

  test('goes round a loop twice, and through a list with no items and with two', async () => {
    const loop = await simulate({
      initialStep: 'start',
      steps: [
        { id: 'start', type: 'set-data', values: { n: 0 } },
        { id: 'count', type: 'set-data', compute: { n: '${n} + 1' }, maxVisits: 1000 },
        { id: 'more', type: 'condition', when: '${n} < 500' },
        end,
      ],
      edges: [
        { from: 'start', to: 'count' },
        { from: 'count', to: 'more' },
        { from: 'more', to: 'count', on: 'true' },
        { from: 'more', to: 'end', on: 'false' },
      ],
    })
    expect(loop.paths[0]?.visits).toEqual(['start', 'count', 'more', 'count', 'more', 'count', 'more', 'end'])
    expect(loop.exits.find(({ exit }) => exit === 'false')).toMatchObject({ reached: true, assumed: true })

    const list = await simulate({
      payload: { orders: { type: 'array' } },
      initialStep: 'each',
      steps: [
        { id: 'each', type: 'for-each', items: '${orders}', result: '${index}', saveAs: 'all' },
        { id: 'work', type: 'set-data', values: { done: true } },
        { id: 'first', type: 'set-data', compute: { first: '${all.results[0]}' } },
        end,
      ],
      edges: [
        { from: 'each', to: 'work', on: 'each' },
        { from: 'each', to: 'first', on: 'done' },
        { from: 'first', to: 'end' },
      ],
    })
    expect(list.paths.map(({ visits }) => visits.filter((id) => id.endsWith('/work')).length)).toEqual(
      expect.arrayContaining([0, 2]),
    )
    expect(list.failures.map(({ stepId, code }) => [stepId, code])).toEqual([['first', 'EXPRESSION_UNRESOLVED']])
  })

  test('blames no step for values that nobody knows, and takes those it is given', async () => {
    const definition = {
      initialStep: 'call',
      steps: [
        { id: 'call', type: 'call-tool', toolId: 'tool_x', saveAs: 'r' },
        { id: 'sum', type: 'set-data', compute: { x: '${r.lines[0].price} * 2 + size(${r.name})' } },
        { id: 'wait', type: 'delay', for: '${r.pause}' },
        end,
      ],
      edges: [
        { from: 'call', to: 'sum' },
        { from: 'sum', to: 'wait' },
        { from: 'wait', to: 'end' },
      ],
    }
    const guessed = await simulate(definition)
    expect(guessed).toMatchObject({ failures: [], unreached: [] })
    expect(guessed.unknown).toEqual(expect.arrayContaining(['wait']))
    const r = { lines: [{ price: 2 }], name: 'abc', pause: 'PT1M' }
    expect(await simulate(definition, { answers: { call: r } })).toMatchObject({ unknown: [] })
  })

  test('fills in the fields of each action, or takes those that are set', async () => {
    const definition = {
      initialStep: 'ok',
      steps: [
        {
          ...{ id: 'ok', type: 'request-user-action', remark: 'optional' },
          actions: [
            { id: 'yes', label: 'Yes' },
            { id: 'no', label: 'No', fields: { why: { type: 'string' }, days: { type: 'integer' } } },
          ],
        },
        { id: 'if', type: 'condition', when: '${ok.days} > 1000000 && ${ok.remark} == "never"' },
        end,
      ],
      edges: [
        { from: 'ok', to: 'if', on: 'no' },
        { from: 'ok', to: 'end', on: 'yes' },
        { from: 'if', to: 'end', on: 'true' },
      ],
    }
    expect(await simulate(definition)).toMatchObject({ failures: [], unreached: [] })
    const set = { answers: { ok: { days: 1_000_001, remark: 'never' } } }
    expect(taken(await simulate(definition, set))).toMatchObject({ 'ok yes': true, 'ok no': true, 'if true': true })
  })

  test('stops when it has cost enough, and says so', async () => {
    const steps = Array.from({ length: 200 }, (_, at) => ({
      id: `s${at}`,
      type: 'set-data',
      values: { [`f${at}`]: at },
    }))
    const edges = steps.slice(1).map(({ id }, at) => ({ from: `s${at}`, to: id }))
    const line = { initialStep: 's0', steps, edges }
    expect(await simulate(line, { budget: { visits: 150 } })).toMatchObject({
      truncated: true,
      pathsTried: 1,
      coverage: { steps: { total: 200, reached: 150 } },
    })
    expect(await simulate(line, { budget: { paths: 2 } })).toMatchObject({ truncated: true, pathsTried: 2 })
    let turns = 0
    const counting = setInterval(() => turns++, 0)
    await simulate(line)
    clearInterval(counting)
    // Others got their turn meanwhile.
    expect(turns).toBeGreaterThan(0)
  })

  test('comes to an end in any graph, and reaches no more than there is', async () => {
    for (let seed = 0; seed < rounds(60, 2_000); seed++) {
      const { steps, ...rest } = definitionOf(randomGraph(new Dice(seed)), '')
      // The tests' own step is not there.
      const known = (steps as JsonObject[]).map((step) =>
        step.type === 'test-effect' ? { id: step.id, type: 'call-tool', toolId: 't' } : step,
      )
      const definition = { ...rest, steps: known }
      const { coverage, pathsTried, unreached, paths } = await simulate(definition)
      expect(pathsTried).toBeLessThanOrEqual(BUDGET.paths)
      expect(coverage.steps.reached + unreached.length).toBe(coverage.steps.total)
      expect(paths.every(({ steps }) => steps > 0)).toBe(true)
    }
  }, 600_000)

  test('tries the constants that fit the format of a field', async () => {
    const steps = [{ id: 'due', type: 'condition', when: '${due} == "2026-07-01"' }, { ...end, id: 'yes' }, end]
    const edges = [
      { from: 'due', to: 'yes', on: 'true' },
      { from: 'due', to: 'end', on: 'false' },
    ]
    const payload = { due: { type: 'string', format: 'date' } }
    expect(taken(await simulate({ payload, initialStep: 'due', steps, edges }))).toEqual({
      'due true': true,
      'due false': true,
    })
  })

  test('limits its values, and holds the event loop for less than 250 ms', async () => {
    const big = { id: 'big', type: 'call-agent', agentId: 'agt_x', message: 'x' }
    const chosen = { type: 'string', options: Array.from({ length: 1_000 }, (_, nth) => `o${nth}`) }
    const payload = Object.fromEntries(Array.from({ length: 500 }, (_, nth) => [`f${nth}`, chosen]))
    const whole = { ...base, payload, initialStep: 'big', steps: [big, end], edges: [{ from: 'big', to: 'end' }] }
    for (const schema of [ENDLESS, { allOf: [ENDLESS] }, { type: 'object', properties: { x: ENDLESS } }]) {
      const outputs = new Map([['big', { field: { type: 'any' as const }, type: null, schema }]])
      const tried = () => explore(HERE, whole as unknown as Definition, { outputs, data: {}, answers: {} }, BUDGET)
      expect(await surelyHeld(tried)).toBeLessThan(LONGEST_HOLD_MS)
      expect((await tried()).unreached).toEqual([])
    }
  })

  test.each(SAMPLE_WORKFLOWS)('reaches every step of $id, and finds no problems', async ({ definition }) => {
    const found = await simulate(definition)
    expect(found).toMatchObject({ truncated: false, unreached: [], failures: [] })
    expect(found.exits.filter(({ reached }) => !reached)).toEqual([])
  })
})

describe('of a saved workflow', () => {
  let database: FreshDatabase
  let ctx: ServiceContext
  beforeAll(async () => {
    database = await freshDatabase()
    ctx = await newTenant(database)
  })
  afterAll(() => database.close())

  const DIVIDES = {
    name: 'Divides',
    payload: { n: { type: 'number' } },
    steps: [
      { id: 'big', type: 'condition', when: '${n} > 7' },
      { id: 's', type: 'set-data', compute: { x: '1 / (${n} - 8)' } },
      end,
    ],
    edges: [
      { from: 'big', to: 's', on: 'true' },
      { from: 'big', to: 'end', on: 'false' },
      { from: 's', to: 'end' },
    ],
  }

  test('it needs the same input as a start, and an editor, and leaves no run', async () => {
    const { id } = await createWorkflow(ctx, DIVIDES)
    const found = await simulateWorkflow(ctx, { id, body: {} })
    expect(found).toMatchObject({ workflowId: id, version: 1, failures: [{ stepId: 's', input: { n: 8 } }] })
    expect(await simulateWorkflow(ctx, { id, body: { data: { n: 1 } } })).toMatchObject({ failures: [] })
    const wrong = { data: { n: 'x' }, answers: { nobody: 1 } }
    expect((await refusal(simulateWorkflow(ctx, { id, body: wrong }))).details.map(({ path }) => path)).toEqual([
      'data.n',
      'answers.nobody',
    ])
    expect((await refusal(simulateWorkflow(withRole(ctx, 'operator'), { id, body: {} }))).code).toBe('FORBIDDEN')
    const broken = await createWorkflow(ctx, { ...DIVIDES, edges: [{ from: 's', to: 'nowhere' }] })
    expect((await refusal(simulateWorkflow(ctx, { id: broken.id, body: {} }))).code).toBe('VALIDATION_FAILED')
    const [rows] = await database.sql`select count(*)::int as runs from runs`
    expect(rows?.runs).toBe(0)
  })

  test('it names the steps whose agents may ask people about calls, where they can, and publish warns where not', async () => {
    const tools = (approval?: 'always') => [{ toolId: 'tool_json', ...(approval ? { approval } : {}) }]
    const { id: agentId } = await newAgent(ctx, { name: 'Asking', tools: tools('always') })
    const { id: never } = await newAgent(ctx, { tools: tools() })
    // Its second version asks nobody.
    const { id: once } = await newAgent(ctx, { tools: tools('always') })
    await updateAgent(ctx, { id: once, body: { tools: tools() } })
    const call = (id: string, more: object) => ({ id, type: 'call-agent', message: 'x', ...more })
    const definition = {
      name: 'Asks',
      steps: [
        call('asks', { agentId, retry: { maxAttempts: 1 } }),
        call('asked', { agentId: once, version: 1 }),
        call('asks-no-more', { agentId: once }),
        call('never', { agentId: never }),
        call('unknown', { agentId: '${asks.item}' }),
        call('unreachable', { agentId }),
        end,
        call('undo', { agentId }),
        call('tell', { agentId: once, version: '1' }),
        call('quiet', { agentId: never }),
      ],
      edges: [
        ...['asks', 'asked', 'asks-no-more', 'never', 'unknown', 'end'].flatMap((to, at, all) =>
          at === 0 ? [] : [{ from: all[at - 1] ?? '', to }],
        ),
        { from: 'tell', to: 'quiet' },
      ],
      onCancel: 'undo',
      onFailure: 'tell',
    }
    const { id } = await createWorkflow(ctx, definition)
    const { mayAsk, coverage, unreachable } = await simulateWorkflow(ctx, { id, body: {} })
    expect({ mayAsk, unreachable }).toEqual({ mayAsk: ['asks', 'asked'], unreachable: ['unreachable'] })
    expect(coverage.steps).toEqual({ total: 9, reached: 9 })
    const ofApproval = ({ code }: { code: string }) => code === 'W_APPROVAL'
    const warned = (await publishWorkflow(ctx, { id })).warnings.filter(ofApproval)
    expect(warned).toEqual([
      {
        ...{ severity: 'warning', code: 'W_APPROVAL', stepId: 'undo', field: 'agentId' },
        message:
          'The agent Asking may ask people about its calls. On the cleanup path nobody is asked, so those calls are not made.',
      },
      {
        ...{ severity: 'warning', code: 'W_APPROVAL', stepId: 'tell', field: 'agentId' },
        message:
          'The agent Orders may ask people about its calls. On the failure path nobody is asked, so those calls are not made.',
      },
    ])
    expect((await checkDraft(ctx, { definition })).filter(ofApproval)).toEqual(warned)
  })

  test('publishing reports its findings, and publishes', async () => {
    const { id } = await createWorkflow(ctx, DIVIDES)
    const { status, warnings } = await publishWorkflow(ctx, { id })
    expect(status).toBe('published')
    expect(warnings).toMatchObject([{ severity: 'warning', code: 'W_SIMULATION', stepId: 's' }])
    expect(warnings[0]?.message).toContain('divides by zero. START was {"n":8}')
  })

  test('a step that runs another workflow may read an optional START field', async () => {
    const child = await createWorkflow(ctx, { ...DIVIDES, name: 'Child' })
    await publishWorkflow(ctx, { id: child.id })
    const { id } = await createWorkflow(ctx, {
      name: 'Parent',
      payload: { x: { type: 'any', required: false } },
      steps: [{ id: 'run', type: 'run-workflow', workflowId: child.id, input: { n: 1, x: '${x}' } }, end],
      edges: [{ from: 'run', to: 'end' }],
    })
    expect(await simulateWorkflow(ctx, { id, body: {} })).toMatchObject({ unreached: [] })
    const { status, warnings } = await publishWorkflow(ctx, { id })
    expect(status).toBe('published')
    expect(warnings.map(({ code }) => code)).toContain('W_REF_MAYBE')
  })

  test('if a simulation fails for any reason, publishing continues without its hints, and the log has the reason', async () => {
    const { id } = await createWorkflow(ctx, DIVIDES)
    const logged: object[] = []
    const log = { ...ctx.log, warn: (fields: object) => logged.push(fields) }
    let asked = 0
    // The simulation reads the time when it begins.
    const now = () => {
      if (new Error().stack?.includes('Exploration')) {
        asked++
        throw new Error('a mistake of ours')
      }
      return new Date()
    }
    const { status, warnings } = await publishWorkflow({ ...ctx, log, now }, { id })
    expect({ status, warnings, asked }).toEqual({ status: 'published', warnings: [], asked: 1 })
    expect(logged).toMatchObject([{ about: 'simulation at publish', err: { message: 'a mistake of ours' } }])
  })
})
