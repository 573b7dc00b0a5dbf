import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { START } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/definition'
import {
  copySteps,
  fragmentOf,
  pasteFragment,
  readClipboard,
  replaceWith,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/model/fragment'
import type { Definition } from '@/server/definition/schema'
import { checkGraph } from '@/server/workflows/check/graph'
import { CreateWorkflow } from '@/server/workflows/schema'
import { rounds } from '../support/rounds'
import { catalog, definitions, soundDefinitions } from './graphs'

const order: Definition = {
  name: 'Order',
  description: '',
  initialStep: 'ask',
  payload: { who: { type: 'string' }, unused: { type: 'any' } },
  steps: [
    { id: 'ask', type: 'collect-inputs', message: '${who}', output: { sum: { type: 'number' } } },
    { id: 'mail', type: 'call-tool', toolId: 't', args: { a: '${ask.sum} ${sum} ${who}' } },
    { id: 'end', type: 'end-flow' },
  ],
  edges: [
    { from: 'ask', to: 'mail' },
    { from: 'mail', to: 'end' },
  ],
}

describe('copy and paste', () => {
  test('a paste next to the original gets new ids, and its references follow', () => {
    const { definition, stepIds, payloadFields } = pasteFragment(order, catalog, copySteps(order, ['ask', 'mail']))
    expect(stepIds).toEqual(['ask_2', 'mail_2'])
    expect(payloadFields).toEqual([])
    expect(definition.steps.at(-1)).toMatchObject({ id: 'mail_2', args: { a: '${ask_2.sum} ${sum} ${who}' } })
    expect(definition.edges.at(-1)).toEqual({ from: 'ask_2', to: 'mail_2' })
    expect(definition.initialStep).toBe('ask')
  })

  test('a paste into another workflow brings the START fields it uses, and no edge to steps left behind', () => {
    const empty: Definition = { name: 'x', description: '', initialStep: null, steps: [], edges: [], payload: {} }
    const fragment = copySteps(order, ['mail'])
    expect(fragment.edges).toEqual([])
    const { definition, payloadFields } = pasteFragment(empty, catalog, fragment)
    expect(payloadFields).toEqual(['who'])
    expect(definition).toMatchObject({ initialStep: 'mail', payload: { who: { type: 'string' } } })
    expect(definition.payload).not.toHaveProperty('unused')
  })

  test('a copied script brings only the START fields of its arguments, and its code is pasted as it is', () => {
    const script = { id: 'sum', type: 'run-script', code: 'return `${sum} ${unused}`', args: { who: '${who}' } }
    const fragment = copySteps({ ...order, steps: [script] }, ['sum'])
    expect(Object.keys(fragment.payloadFields)).toEqual(['who'])
    const { definition } = pasteFragment({ ...order, steps: [script] }, catalog, fragment)
    expect(definition.steps.at(-1)).toEqual({ ...script, id: 'sum_2' })
  })

  test('a paste after a step is connected like a new step', () => {
    const { definition } = pasteFragment(order, catalog, copySteps(order, ['ask', 'mail']), {
      after: START,
      exit: 'next',
    })
    expect(definition.initialStep).toBe('ask_2')
    expect(definition.edges).toContainEqual({ from: 'mail_2', to: 'ask' })
    const before = pasteFragment(order, catalog, copySteps(order, ['mail']), { after: 'end', exit: 'next' })
    expect(before.definition.edges).toContainEqual({ from: 'mail_2', to: 'end' })
    expect(before.definition.edges).toContainEqual({ from: 'mail', to: 'mail_2' })
  })

  test('a paste never duplicates an id, leaves a dangling edge or breaks existing steps, and survives the clipboard', () => {
    fc.assert(
      fc.property(soundDefinitions, definitions, fc.array(fc.nat(7)), (target, source, picks) => {
        const fragment = copySteps(
          source,
          picks.flatMap((i) => source.steps[i]?.id ?? []),
        )
        const text = JSON.stringify(fragment)
        const read = readClipboard(text)
        if (fragment.steps.length === 0) {
          expect(read.kind).toBe('other')
          return
        }
        if (read.kind !== 'fragment') throw new Error(read.kind)
        expect(read.fragment).toEqual(fragment)
        const { definition, stepIds } = pasteFragment(target, catalog, read.fragment)
        const ids = definition.steps.map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
        expect(ids.slice(target.steps.length)).toEqual(stepIds)
        for (const edge of definition.edges) expect([edge.from, edge.to].every((end) => ids.includes(end))).toBe(true)
        expect(definition.steps.slice(0, target.steps.length)).toEqual(target.steps)
        expect(CreateWorkflow.safeParse(definition).success).toBe(true)
        // Pasting twice works the same way.
        const again = pasteFragment(definition, catalog, read.fragment).definition.steps.map(({ id }) => id)
        expect(new Set(again).size).toBe(again.length)
      }),
      { numRuns: rounds(75, 1200) },
    )
  })

  test('the references of a copy point to the copy: it has exactly the problems of its original', () => {
    const { definition, stepIds } = pasteFragment(order, catalog, copySteps(order, ['ask', 'mail']), {
      after: START,
      exit: 'next',
    })
    const problems = checkGraph(definition)
    expect(problems.filter(({ stepId }) => stepIds.includes(stepId ?? '') && stepId !== 'ask_2')).toEqual([])
  })
})

describe('readClipboard', () => {
  test('distinguishes a fragment, a whole workflow and anything else', () => {
    expect(readClipboard('hello')).toEqual({ kind: 'other', reason: 'The clipboard does not contain JSON.' })
    expect(readClipboard('[1]')).toMatchObject({ kind: 'other' })
    expect(readClipboard('null')).toMatchObject({ kind: 'other' })
    expect(readClipboard(JSON.stringify(order))).toEqual({ kind: 'definition', definition: order })
    expect(readClipboard('{"steps":[]}')).toMatchObject({ kind: 'definition', definition: { initialStep: null } })
  })

  test('a whole workflow keeps its business key, and replaces the draft with it', () => {
    const keyed = { ...order, businessKey: 'Order ${who}' }
    const read = readClipboard(JSON.stringify(keyed))
    expect(read).toEqual({ kind: 'definition', definition: keyed })
    if (read.kind === 'definition') expect(replaceWith(order, read.definition)).toEqual(keyed)
    for (const businessKey of [null, 7, ' '])
      expect(readClipboard(JSON.stringify({ ...order, businessKey }))).toEqual({
        kind: 'definition',
        definition: order,
      })
  })

  test('a whole workflow keeps its time limit, if a run may have it', () => {
    const limited = { ...order, limits: { timeoutMs: 86_400_000, agents: { tokens: 5, cost: 0.1 } } }
    expect(readClipboard(JSON.stringify(limited))).toEqual({ kind: 'definition', definition: limited })
    for (const limits of [
      null,
      7,
      {},
      { timeoutMs: 999 },
      { timeoutMs: '1000' },
      { timeoutMs: 1e15 },
      { agents: { tokens: 0.5, cost: 0 } },
    ])
      expect(readClipboard(JSON.stringify({ ...order, limits }))).toEqual({ kind: 'definition', definition: order })
  })

  test('reads only content that can be saved', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (steps, edges, payload) => {
        for (const text of [
          JSON.stringify({ steps, edges, payload, initialStep: steps, onCancel: edges, name: payload }),
          JSON.stringify({ kind: 'workflow-fragment/1', steps, edges, payloadFields: payload }),
        ]) {
          const read = readClipboard(text)
          if (read.kind === 'fragment') expect(read.fragment.steps.length).toBeGreaterThan(0)
          if (read.kind === 'definition') expect(typeof read.definition.name).toBe('string')
        }
      }),
    )
    const steps = [{ id: '__proto__', type: 'x' }, { id: 'ok', type: 'x' }, { id: 1 }, 'x', null]
    const read = readClipboard(JSON.stringify({ steps, edges: [{ from: 'ok' }], payload: { 'a b': { type: 'any' } } }))
    expect(read).toMatchObject({ kind: 'definition', definition: { steps: [{ id: 'ok' }], edges: [], payload: {} } })
  })

  test('a whole workflow can replace the draft or be added to it', () => {
    expect(replaceWith(order, { ...order, name: ' ', steps: [] })).toMatchObject({ name: 'Order', steps: [] })
    const { definition } = pasteFragment(order, catalog, fragmentOf(order))
    expect(definition.steps.map(({ id }) => id)).toEqual(['ask', 'mail', 'end', 'ask_2', 'mail_2', 'end_2'])
  })
})
