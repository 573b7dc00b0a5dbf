import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { setMeta } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/edit-settings'
import { addStep, removeSteps, updateStep } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/edit-steps'
import { merge, sameDefinition } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/merge'
import { diffDefinitions, sizeOfDiff } from '@/server/definition/diff'
import type { Definition } from '@/server/definition/schema'
import { rounds } from '../support/rounds'
import { catalog, definitions, soundDefinitions } from './graphs'

const base: Definition = {
  name: 'n',
  description: '',
  initialStep: 'a',
  payload: { who: { type: 'string' } },
  steps: ['a', 'b', 'c'].map((id) => ({ id, type: 'call-tool', toolId: 't' })),
  edges: [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
  ],
}
const same = (a: Definition, b: Definition) => sizeOfDiff(diffDefinitions(a, b)) === 0

describe('merge', () => {
  test('changes on one side only are taken as they are', () => {
    fc.assert(
      fc.property(soundDefinitions, soundDefinitions, (before, after) => {
        for (const { merged, conflicts } of [
          merge(before, after, before),
          merge(before, before, after),
          merge(before, after, after),
        ]) {
          expect(conflicts).toEqual([])
          expect(same(merged, { ...after, steps: inOrder(merged, after) })).toBe(true)
        }
      }),
      { numRuns: rounds(50, 800) },
    )
  })

  test('edits of different things merge in either order, and both are kept', () => {
    const kinds = ['edit', 'remove', 'field', 'add', 'name'] as const
    type Kind = (typeof kinds)[number]
    const edit = (definition: Definition, kind: Kind, stepId: string, tag: string): Definition => {
      if (kind === 'edit') return updateStep(definition, stepId, { note: tag })
      if (kind === 'remove') return removeSteps(definition, catalog, [stepId], { reconnect: false })
      if (kind === 'field')
        return { ...definition, payload: { ...definition.payload, [`f_${tag}`]: { type: 'string' } } }
      if (kind === 'add') return addStep(definition, catalog, 'call-tool', null, { note: tag }).definition
      return tag === 'mine' ? setMeta(definition, { name: tag }) : setMeta(definition, { description: tag })
    }
    fc.assert(
      fc.property(
        soundDefinitions,
        fc.constantFrom(...kinds),
        fc.constantFrom(...kinds),
        fc.nat(7),
        fc.nat(7),
        (start, one, two, i, j) => {
          const [first, second] = [start.steps[i]?.id, start.steps[j]?.id]
          // Both sides would give their new step the same id, and both change an edge between two removed steps alike.
          fc.pre(first !== undefined && second !== undefined && first !== second && !(one === 'add' && two === 'add'))
          const mine = edit(start, one, first ?? '', 'mine')
          const theirs = edit(start, two, second ?? '', 'theirs')
          const [there, back] = [merge(start, mine, theirs), merge(start, theirs, mine)]
          const removesInitial = [mine, theirs].every((side) => side.initialStep !== start.initialStep)
          if (!removesInitial) expect(there.conflicts).toEqual([])
          if (there.conflicts.length === 0) expect(there.merged).toEqual(back.merged)
          if (one === 'edit')
            expect(there.merged.steps).toContainEqual(expect.objectContaining({ id: first, note: 'mine' }))
          if (two === 'remove') expect(there.merged.steps.map(({ id }) => id)).not.toContain(second)
          if (two === 'field') expect(there.merged.payload).toHaveProperty('f_theirs')
          if (two === 'add') expect(there.merged.steps).toContainEqual(expect.objectContaining({ note: 'theirs' }))
        },
      ),
      { numRuns: rounds(125, 2000) },
    )
  })

  test('never connects a step the other side deleted', () => {
    fc.assert(
      fc.property(definitions, soundDefinitions, soundDefinitions, (before, mine, theirs) => {
        const { merged } = merge(before, mine, theirs)
        const ids = new Set(merged.steps.map(({ id }) => id))
        for (const edge of merged.edges) expect([ids.has(edge.from), ids.has(edge.to)]).toEqual([true, true])
        expect(new Set(merged.steps.map(({ id }) => id)).size).toBe(merged.steps.length)
        expect(merged.initialStep === null || ids.has(merged.initialStep)).toBe(true)
      }),
      { numRuns: rounds(75, 1200) },
    )
  })

  test('different changes of one thing are a conflict, and each choice is honoured', () => {
    const mine = setMeta(updateStep(removeSteps(base, catalog, ['c']), 'a', { toolId: 'm' }), { name: 'Mine' })
    const theirs = setMeta(updateStep(updateStep(base, 'a', { toolId: 'h' }), 'c', { toolId: 'h' }), { name: 'Theirs' })
    const { conflicts, merged } = merge(base, mine, theirs)
    expect(conflicts.map(({ id }) => id)).toEqual(['step:a', 'step:c', 'meta:name'])
    expect(conflicts[1]).toMatchObject({ kind: 'step', mine: null, theirs: { id: 'c', toolId: 'h' } })
    expect(merged).toMatchObject({ name: 'Mine', steps: [{ toolId: 'm' }, { id: 'b' }] })
    const chosen = merge(base, mine, theirs, { 'step:c': 'theirs', 'meta:name': 'theirs' }).merged
    expect(chosen).toMatchObject({ name: 'Theirs', steps: [{ toolId: 'm' }, { id: 'b' }, { id: 'c', toolId: 'h' }] })
    // Undoing their step also removes their connection to it.
    expect(merge(base, mine, theirs, { 'step:c': 'theirs' }).merged.steps.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  })

  test('a conflict is named after its step, also where only one side still has it', () => {
    const named = updateStep(updateStep(base, 'a', { name: 'Look up' }), 'c', { name: 'Decided' })
    const mine = removeSteps(updateStep(named, 'a', { toolId: 'm' }), catalog, ['c'])
    const theirs = updateStep(updateStep(named, 'a', { toolId: 'h' }), 'c', { toolId: 'h' })
    expect(merge(named, mine, theirs).conflicts.map(({ title }) => title)).toEqual(['Step Look up', 'Step Decided'])
  })

  test('neither a time limit that both sides changed alike nor one that a single side changed is a conflict', () => {
    const limited = (timeoutMs: number | null, name = base.name) =>
      setMeta(base, { name, limits: timeoutMs === null ? null : { timeoutMs } })
    expect(merge(base, limited(5_000), limited(5_000))).toMatchObject({
      conflicts: [],
      merged: { limits: { timeoutMs: 5_000 } },
    })
    expect(merge(base, limited(null, 'Mine'), limited(5_000)).merged).toMatchObject({
      ...{ name: 'Mine', limits: { timeoutMs: 5_000 } },
    })
    expect(merge(limited(5_000), limited(null), limited(5_000, 'Theirs')).merged).not.toHaveProperty('limits')
    const { conflicts, merged } = merge(base, limited(5_000), limited(6_000))
    expect([conflicts.map(({ id }) => id), merged.limits]).toEqual([['meta:limits'], { timeoutMs: 5_000 }])
  })

  test('an exit reconnected differently on both sides is a conflict; the same change on both is not', () => {
    const to = (target: string): Definition => ({
      ...base,
      edges: [
        { from: 'a', to: target },
        { from: 'b', to: 'c' },
      ],
    })
    const three = { ...base, steps: [...base.steps, { id: 'd', type: 'end-flow' }] }
    const sides = [to('c'), to('d')].map((side) => ({ ...side, steps: three.steps }))
    expect(merge(three, sides[0] ?? base, sides[1] ?? base).conflicts.map(({ title }) => title)).toEqual([
      'Connection from a',
    ])
    expect(merge(base, to('c'), to('c')).conflicts).toEqual([])
  })

  test('the side that changed the order of fields decides it', () => {
    const fields = (...names: string[]) => Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
    const asking = (payload: string[], output: string[]): Definition => ({
      ...base,
      steps: [{ id: 'a', type: 'collect-inputs', output: fields(...output) }],
      payload: fields(...payload),
    })
    const start = asking(['x', 'y'], ['p', 'q'])
    const moved = asking(['y', 'x'], ['q', 'p'])
    for (const [mine, theirs] of [
      [{ ...start, name: 'Mine' }, moved],
      [moved, { ...start, name: 'Theirs' }],
    ] as const) {
      const { merged, conflicts } = merge(start, mine, theirs)
      expect(conflicts).toEqual([])
      expect(Object.keys(merged.payload)).toEqual(['y', 'x'])
      expect(Object.keys(merged.steps[0]?.output ?? {})).toEqual(['q', 'p'])
    }
    expect(sameDefinition(start, moved)).toBe(false)
  })

  test('new steps stay where they were added, in the order one side chose', () => {
    const mine = addStep(base, catalog, 'call-tool', { after: 'a', exit: 'next' }).definition
    const theirs = swapped(addStep(base, catalog, 'end-flow', { after: 'c', exit: 'next' }).definition, 1, 2)
    const { merged, conflicts } = merge(base, mine, theirs)
    expect(conflicts).toEqual([])
    expect(merged.steps.map(({ id }) => id)).toEqual(['a', 'call_tool', 'c', 'b', 'end_flow'])
  })
})

/** The other side's steps in this side's order: another test covers the order. */
function inOrder(like: Definition, definition: Definition): Definition['steps'] {
  return like.steps.flatMap(({ id }) => definition.steps.find((step) => step.id === id) ?? [])
}

function swapped(definition: Definition, i: number, j: number): Definition {
  const steps = [...definition.steps]
  const [one, other] = [steps[i], steps[j]]
  if (!one || !other) throw new Error('There are no such steps.')
  return { ...definition, steps: steps.with(i, other).with(j, one) }
}
