import { describe, expect, test } from 'vitest'
import { branchOf, originOf, scopeIdOf } from '@/server/definition/branches'
import { expand, stepOfItem, writtenIds } from '@/server/definition/expand'
import { type Definition, Step } from '@/server/definition/schema'
import { MAX_STEP_ID } from '@/server/definition/step-id'

const idOf = (id: unknown) => Step.safeParse({ id, type: 'x' }).data?.id

describe('the id of a step', () => {
  test.each([
    ...['7f3c2b1e-0d4a-4c55-9f6e-1a2b3c4d5e6f', '42', '007', '-a', '.a', '_', '.', '..', 'v1.2', 'constructor'],
    ...['größe', 'заказ', '注文', 'طلب', 'हिन्दी', 'ไทย', '𐐷', '٣', 'a'.repeat(200), '𐐷'.repeat(200), '1e3', 'true'],
  ])('may be %s', (id) => {
    expect(idOf(id)).toBe(id)
  })

  test.each([
    ...['', 'a b', 'a#b', 'a/b', 'a:b', 'a|b', 'a~b', 'a\u200bb', 'a\u0000', 'a\n', '\u0308a', '👍', 'a"b', 'a$', '½'],
    ...['a'.repeat(201), '𐐷'.repeat(201), `q${'\u0301'.repeat(200)}`, '\ud800'],
  ])('may not be %j', (id) => {
    expect(idOf(id)).toBeUndefined()
  })

  test('is a text, never a number', () => {
    expect(idOf(42)).toBeUndefined()
  })

  test('is the same however its letters are composed', () => {
    expect(idOf('gro\u0308ße')).toBe('größe')
    expect(MAX_STEP_ID).toBe(200)
  })

  test('is found again in the name of a branch', () => {
    for (const stepId of ['..', '42', '-x.y', '注文', 'a.run']) {
      const branch = branchOf(scopeIdOf('main', { stepId, visit: 3 }), '17')
      expect(originOf(branch)).toEqual({ parent: 'main', stepId, visit: 3, key: '17' })
    }
  })
})

describe('the step that runs the workflow of a for-each', () => {
  const definition = (ids: string[]) =>
    ({
      steps: [
        { id: 'each', type: 'for-each', workflowId: 'wf_a', items: [] },
        ...ids.map((id) => ({ id, type: 'end-flow' })),
      ],
      edges: [],
    }) as unknown as Definition

  test('never has the id of a step that a person wrote', () => {
    const written = definition(['each.run', 'other.run'])
    const ids = expand(written).steps.map(({ id }) => id)
    expect(ids).toEqual(['each', 'each.run', 'other.run', 'each~run'])
    expect(ids.map(writtenIds(written))).toEqual(['each', 'each.run', 'other.run', 'each'])
    expect(stepOfItem(written, 'each')?.type).toBe('run-workflow')
  })

  test('keeps the id that histories have, where it is free', () => {
    const written = definition([])
    expect(expand(written).steps.map(({ id }) => id)).toEqual(['each', 'each.run'])
    expect(writtenIds(written)('each.run')).toBe('each')
  })
})
