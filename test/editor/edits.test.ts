import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  BURST_MS,
  createHistory,
  type History,
  MAX_ENTRIES,
  record,
  redo,
  redoLabel,
  undo,
  undoLabel,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/history'
import { canConnect, connect, disconnect } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/connect'
import { freeId, openExitOf, START } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/definition'
import { setLimits, setMeta } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/edit-settings'
import {
  addStep,
  changeType,
  duplicateStep,
  removeSteps,
  setStepValue,
  updateStep,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/model/edit-steps'
import { renameStep } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/rename'
import { nameAfter } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/step-names'
import type { Definition } from '@/server/definition/schema'
import { checkGraph } from '@/server/workflows/check/graph'
import { rounds } from '../support/rounds'
import { catalog, EXITS, soundDefinitions } from './graphs'

const empty: Definition = { name: 'n', description: '', initialStep: null, steps: [], edges: [], payload: {} }
const chain: Definition = {
  ...empty,
  initialStep: 'a',
  steps: ['a', 'b', 'c'].map((id) => ({ id, type: 'call-tool', toolId: 't' })),
  edges: [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
  ],
}
const graphErrors = (definition: Definition) =>
  checkGraph(definition).filter(({ code }) =>
    ['DANGLING_EDGE', 'AMBIGUOUS_EDGES', 'UNKNOWN_EXIT', 'CYCLE_WITHOUT_BOUND'].includes(code),
  )
const path = (definition: Definition) => {
  const ids: string[] = []
  for (let at = definition.initialStep; at !== null; ) {
    ids.push(at)
    at = definition.edges.find((edge) => edge.from === at)?.to ?? null
  }
  return ids.join(' ')
}

describe('addStep', () => {
  test('START leads to the first step added; a step added after another goes in between', () => {
    const first = addStep(empty, catalog, 'collect-inputs', null)
    expect(first.definition.initialStep).toBe('collect_inputs')
    expect(first.definition.steps[0]).toMatchObject({ output: { answer: { type: 'string' } } })
    const second = addStep(first.definition, catalog, 'call-tool', { after: 'collect_inputs', exit: 'next' })
    const between = addStep(second.definition, catalog, 'call-tool', { after: 'collect_inputs', exit: 'next' })
    expect(path(between.definition)).toBe('collect_inputs call_tool_2 call_tool')
    const before = addStep(between.definition, catalog, 'call-agent', { after: START, exit: 'next' })
    expect(path(before.definition)).toBe('call_agent collect_inputs call_tool_2 call_tool')
    expect(addStep(before.definition, catalog, 'end-flow', null).definition.edges).toEqual(before.definition.edges)
  })

  test('a step that ends the run cuts off the rest of the path but keeps it', () => {
    const { definition } = addStep(chain, catalog, 'end-flow', { after: 'a', exit: 'next' })
    expect(path(definition)).toBe('a end_flow')
    expect(definition.steps).toHaveLength(4)
    expect(definition.edges).toContainEqual({ from: 'b', to: 'c' })
  })

  test('a step added after the end goes before it', () => {
    const ended = addStep(chain, catalog, 'end-flow', { after: 'c', exit: 'next' })
    const place = { after: ended.stepId, exit: 'next' }
    expect(path(addStep(ended.definition, catalog, 'call-agent', place).definition)).toBe('a b c call_agent end_flow')
    const only = addStep(empty, catalog, 'end-flow', null)
    expect(path(addStep(only.definition, catalog, 'call-agent', { after: 'end_flow', exit: 'next' }).definition)).toBe(
      'call_agent end_flow',
    )
  })

  test('a step is called by the title of its type, with a number where another one is, and changes its name with its type', () => {
    const one = addStep(empty, catalog, 'call-tool', null)
    const two = addStep(one.definition, catalog, 'call-tool', { after: one.stepId, exit: 'next' })
    expect(two.definition.steps.map(({ name }) => name)).toEqual(['Call a tool', 'Call a tool 2'])
    const agent = changeType(two.definition, catalog, two.stepId, 'call-agent')
    expect(agent.steps.map(({ name }) => name)).toEqual(['Call a tool', 'Call an agent'])
  })

  test('a step is called after the tool that is chosen in it, until a person names it', () => {
    const { definition, stepId } = addStep(empty, catalog, 'call-tool', null)
    const choose = (from: Definition, before: string, after: string) =>
      nameAfter(from, stepId, 'Call a tool', { before, after })
    const ship = choose(definition, '', 'Ship')
    expect(ship.steps[0]?.name).toBe('Ship')
    const mail = choose(ship, 'Ship', 'Send mail')
    expect(mail.steps[0]?.name).toBe('Send mail')
    expect(choose(mail, 'Send mail', '')).toBe(mail)
    const named = updateStep(mail, stepId, { name: 'Tell them' })
    expect(choose(named, 'Send mail', 'Ship')).toBe(named)
    const second = addStep(ship, catalog, 'call-tool', null)
    const both = nameAfter(second.definition, second.stepId, 'Call a tool', { before: '', after: 'Ship' })
    expect(both.steps.map(({ name }) => name)).toEqual(['Ship', 'Ship 2'])
  })

  test('a tool added from the picker is chosen and gives the step its name, with a number where another one is', () => {
    const ship = { name: 'Ship', toolId: 'tool_ship' }
    const one = addStep(empty, catalog, 'call-tool', null, ship)
    const two = addStep(one.definition, catalog, 'call-tool', { after: one.stepId, exit: 'next' }, ship)
    expect(two.definition.steps).toMatchObject([ship, { ...ship, name: 'Ship 2' }])
    expect(nameAfter(two.definition, two.stepId, 'Call a tool', { before: 'Ship', after: 'Mail' }).steps[1]?.name).toBe(
      'Mail',
    )
  })

  test('leaves the catalog’s sample unchanged', () => {
    const before = JSON.stringify(catalog)
    const { definition, stepId } = addStep(empty, catalog, 'request-user-action', null)
    const step = definition.steps.find(({ id }) => id === stepId)
    if (Array.isArray(step?.actions)) step.actions.length = 0
    expect(JSON.stringify(catalog)).toBe(before)
  })
})

test('freeId makes a valid, unused id', () => {
  expect(freeId('Send mail!', new Set())).toBe('Send_mail_')
  expect(freeId('2nd', new Set())).toBe('_2nd')
  expect(freeId('call_2', new Set(['call_2', 'call_3']))).toBe('call_4')
  expect(freeId('_', new Set())).toBe('step')
  expect(freeId('x'.repeat(200), new Set()).length).toBeLessThanOrEqual(100)
})

describe('removeSteps', () => {
  test('connects the steps before and after, unless a gap is wanted', () => {
    expect(path(removeSteps(chain, catalog, ['b']))).toBe('a c')
    expect(path(removeSteps(chain, catalog, ['a', 'b']))).toBe('c')
    expect(path(removeSteps(chain, catalog, ['b'], { reconnect: false }))).toBe('a')
    expect(removeSteps(chain, catalog, ['a', 'b', 'c'])).toMatchObject({ initialStep: null, steps: [], edges: [] })
    expect(removeSteps({ ...chain, onCancel: 'b' }, catalog, ['b']).onCancel).toBe('c')
    expect(removeSteps({ ...chain, onCancel: 'c' }, catalog, ['c'])).not.toHaveProperty('onCancel')
  })

  test('never leaves a dangling edge, a loop without a bound or two edges on one exit', () => {
    fc.assert(
      fc.property(soundDefinitions, fc.array(fc.nat(7)), fc.boolean(), (definition, picks, reconnect) => {
        const ids = picks.flatMap((i) => definition.steps[i]?.id ?? [])
        const left = removeSteps(definition, catalog, ids, { reconnect })
        expect(graphErrors(left)).toEqual([])
        expect(left.steps.some(({ id }) => id === left.initialStep)).toBe(left.steps.length > 0)
      }),
    )
  })
})

test('updateStep removes a key set to undefined, and never changes the id', () => {
  const { steps } = updateStep(chain, 'a', { toolId: undefined, args: { x: 1 }, id: 'z' })
  expect(steps[0]).toEqual({ id: 'a', type: 'call-tool', args: { x: 1 } })
})

test('changeType keeps the fields that both types have, and drops edges whose exit is gone', () => {
  const named = updateStep(chain, 'b', { name: 'Second', saveAs: 'kept', timeoutMs: 5 })
  const agent = changeType(named, catalog, 'b', 'call-agent')
  expect(agent.steps[1]).toEqual({
    id: 'b',
    type: 'call-agent',
    agentId: '',
    message: '',
    name: 'Second',
    saveAs: 'kept',
    timeoutMs: 5,
  })
  expect(changeType(named, catalog, 'b', 'end-flow').edges).toEqual([{ from: 'a', to: 'b' }])
})

test('duplicateStep puts the copy after the original', () => {
  expect(path(duplicateStep(chain, catalog, 'a')?.definition ?? empty)).toBe('a a_2 b c')
  expect(duplicateStep(chain, catalog, 'gone')).toBeNull()
})

test('changeType leads the main path on by the main exit of the new type', () => {
  const asked = changeType(chain, catalog, 'a', 'condition')
  expect(asked.edges[0]).toEqual({ from: 'a', to: 'b', on: 'true' })
  expect(changeType(asked, catalog, 'a', 'switch').edges[0]).toEqual({ from: 'a', to: 'b', on: 'first' })
  expect(changeType(asked, catalog, 'a', 'call-tool').edges).toEqual(chain.edges)
})

const forking: Definition = {
  ...chain,
  steps: [
    {
      id: 'a',
      type: 'switch',
      cases: [
        { id: 'eu', when: 'true' },
        { id: 'us', when: 'true' },
      ],
    },
    ...chain.steps.slice(1),
  ],
  edges: [
    { from: 'a', to: 'b', on: 'eu' },
    { from: 'a', to: 'c', on: 'us' },
    { from: 'a', to: 'b', on: 'default' },
    { from: 'b', to: 'c' },
  ],
}

describe('a list that makes exits', () => {
  const cases = (...ids: string[]) => ids.map((id) => ({ id, when: 'true' }))
  const exits = (definition: Definition) =>
    definition.edges.filter(({ from }) => from === 'a').map(({ on, to }) => `${on} ${to}`)
  const renamed = (...ids: string[]) => exits(setStepValue(forking, catalog, 'a', 'cases', cases(...ids)))

  test('carries each edge along when an entry is renamed, moved or added, and drops it with its entry', () => {
    expect(renamed('europe', 'us')).toEqual(['europe b', 'us c', 'default b'])
    expect(renamed('us', 'eu')).toEqual(['eu b', 'us c', 'default b'])
    expect(renamed('eu', 'us', 'asia')).toEqual(['eu b', 'us c', 'default b'])
    expect(renamed('us')).toEqual(['us c', 'default b'])
    expect(renamed('one', 'two')).toEqual(['one b', 'two c', 'default b'])
  })

  test('carries the numbers of another field along', () => {
    const actions = (...ids: string[]) => ids.map((id) => ({ id, label: id }))
    const asking = { id: 'a', type: 'request-user-action', actions: actions('yes', 'no'), needs: { yes: 2, no: 3 } }
    const definition = { ...chain, steps: [asking, ...chain.steps.slice(1)] }
    const needs = (...ids: string[]) =>
      setStepValue(definition, catalog, 'a', 'actions', actions(...ids)).steps[0]?.needs
    expect(needs('approve', 'no')).toEqual({ approve: 2, no: 3 })
    expect(needs('yes')).toEqual({ yes: 2 })
    expect(needs('yes', 'no', 'later')).toEqual({ yes: 2, no: 3 })
    expect(needs()).toBeUndefined()
  })

  test('a copy leads where the step leads, and nothing leads to the copy of a step with several ways on', () => {
    const copied = duplicateStep(forking, catalog, 'a')?.definition ?? empty
    expect(copied.edges.filter(({ from }) => from === 'a_2').map(({ on, to }) => `${on} ${to}`)).toEqual(exits(forking))
    expect(copied.edges.some(({ to }) => to === 'a_2')).toBe(false)
  })
})

test('removing a step of a loop keeps the loop and its bound', () => {
  const loop: Definition = {
    ...chain,
    steps: [
      { id: 'a', type: 'call-tool', toolId: 't', maxVisits: 7 },
      ...chain.steps.slice(1, 2),
      { id: 'c', type: 'condition', when: 'true' },
    ],
    edges: [...chain.edges, { from: 'c', to: 'a', on: 'true' }],
  }
  const left = removeSteps(loop, catalog, ['a'])
  expect(left.edges).toEqual([
    { from: 'b', to: 'c' },
    { from: 'c', to: 'b', on: 'true' },
  ])
  expect(left.steps.find(({ id }) => id === 'b')).toHaveProperty('maxVisits', 7)
  expect(graphErrors(left)).toEqual([])
})

test('the next step goes to the exit that has none', () => {
  const exit = (definition: Definition, stepId = 'a') => openExitOf(definition, catalog, stepId)
  expect(exit(chain)).toBe('next')
  expect(exit(forking)).toBe('eu')
  expect(exit(disconnect(forking, 'a', 'default'))).toBe('default')
  const actions = [
    { id: 'ok', label: 'OK' },
    { id: 'no', label: 'No' },
  ]
  const decision: Definition = {
    ...chain,
    steps: [{ id: 'a', type: 'request-user-action', actions }, ...chain.steps.slice(1)],
    edges: [],
  }
  expect(exit(decision)).toBe('next')
  expect(exit(connect(decision, 'a', 'ok', 'b'))).toBe('no')
  expect(exit(empty, START)).toBe('next')
})

test('setMeta removes the cleanup path with null', () => {
  expect(setMeta({ ...chain, onCancel: 'c' }, { name: 'x' })).toMatchObject({ name: 'x', onCancel: 'c' })
  expect(setMeta({ ...chain, onCancel: 'c' }, { onCancel: null })).not.toHaveProperty('onCancel')
})

describe('history', () => {
  const command = fc.tuple(
    fc.constantFrom('add', 'insert', 'remove', 'connect', 'cut', 'rename', 'edit', 'copy', 'change', 'list'),
    fc.nat(20),
    fc.nat(20),
    fc.constantFrom(...EXITS),
  )
  const apply = (definition: Definition, [kind, i, j, exit]: [string, number, number, string]): Definition => {
    const at = (n: number) => definition.steps[n % Math.max(1, definition.steps.length)]?.id ?? START
    if (kind === 'add') return addStep(definition, catalog, 'call-tool', null).definition
    if (kind === 'insert') return addStep(definition, catalog, 'condition', { after: at(i), exit }).definition
    if (kind === 'copy') return duplicateStep(definition, catalog, at(i))?.definition ?? definition
    if (kind === 'change') return changeType(definition, catalog, at(i), j % 2 === 0 ? 'switch' : 'request-user-action')
    if (kind === 'list')
      return setStepValue(definition, catalog, at(i), j % 2 === 0 ? 'cases' : 'actions', [{ id: `e${j}` }])
    if (kind === 'remove') return removeSteps(definition, catalog, [at(i)])
    if (kind === 'cut') return disconnect(definition, at(i), exit)
    if (kind === 'rename') return renameStep(definition, catalog, at(i), `r${j}`).definition
    if (kind === 'edit') return updateStep(definition, at(i), { name: `n${j}` })
    const allowed = canConnect(definition, catalog, at(i), exit, at(j)).ok
    return allowed ? connect(definition, at(i), exit, at(j)) : definition
  }

  test('undoing any commands returns to the start, redoing them to the end, and none breaks the graph', () => {
    fc.assert(
      fc.property(soundDefinitions, fc.array(command, { maxLength: 30 }), (start, commands) => {
        const frozen = structuredClone(start)
        fc.pre(graphErrors(start).length === 0)
        let history = createHistory(start)
        for (const [n, each] of commands.entries())
          history = record(history, apply(history.present, each), { label: `${n}`, at: n * 10_000 })
        const end = history.present
        expect(graphErrors(end)).toEqual([])
        while (undoLabel(history) !== null) history = undo(history)
        expect(history.present).toEqual(frozen)
        while (redoLabel(history) !== null) history = redo(history)
        expect(history.present).toEqual(end)
      }),
      { numRuns: rounds(75, 1200) },
    )
  })

  const type = (history: History<string>, text: string, at: number, target = 'name') =>
    record(history, text, { label: `edit ${target}`, target, at })

  test('a burst of keystrokes in one field is one entry; a pause or another field starts the next', () => {
    let history = createHistory('')
    history = type(history, 'a', 1000)
    history = type(history, 'ab', 1000 + BURST_MS)
    history = type(history, 'abc', 1000 + 2 * BURST_MS)
    expect(undo(history).present).toBe('')
    history = type(history, 'abcd', 1001 + 3 * BURST_MS)
    expect(undo(history).present).toBe('abc')
    history = type(history, 'x', 1002 + 3 * BURST_MS, 'other')
    expect(undo(history).present).toBe('abcd')
  })

  test('typing after an undo starts a new entry and drops the undone ones', () => {
    let history = type(type(createHistory(''), 'a', 0), 'b', 5000)
    history = type(undo(history), 'c', 5100)
    expect(redoLabel(history)).toBeNull()
    expect(undo(history).present).toBe('a')
  })

  test('keeps 200 entries, and adds none without a change', () => {
    let history = createHistory(0)
    for (let n = 1; n <= 300; n++) history = record(history, n, { label: `${n}`, at: n })
    expect(history.past).toHaveLength(MAX_ENTRIES)
    expect(record(history, 300, { label: 'same', at: 301 })).toBe(history)
  })
})

test('setLimits changes one limit of a run and leaves the others; without any, there is no limits field', () => {
  const both = setLimits(setLimits(chain, { timeoutMs: 5_000 }), { cost: 2 })
  expect(both.limits).toEqual({ timeoutMs: 5_000, agents: { cost: 2 } })
  expect(setLimits(both, { tokens: 7 }).limits).toEqual({ timeoutMs: 5_000, agents: { cost: 2, tokens: 7 } })
  expect(setLimits(both, { cost: undefined }).limits).toEqual({ timeoutMs: 5_000 })
  const none = setLimits(setLimits(both, { cost: undefined }), { timeoutMs: undefined })
  expect(none).not.toHaveProperty('limits')
})
