import { describe, expect, test } from 'vitest'
import {
  type DraftState,
  initialState,
  isDirty,
  reduceDraft,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/draft-state'
import type { Definition } from '@/server/definition/schema'

const definition: Definition = {
  name: 'Order',
  description: '',
  initialStep: 'ask',
  steps: [{ id: 'ask', type: 'collect-inputs', output: { a: { type: 'string' } } }],
  edges: [],
  payload: {},
}

describe('a draft', () => {
  const base = { version: 3, definition }
  const changed = { definition: { ...definition, name: 'Other' }, layout: {} }
  const start = initialState(base, {}, 2)
  const edit = (state: DraftState) => reduceDraft(state, { type: 'change', draft: changed, label: 'edit', at: 1 })

  test('is dirty until the server has it, and again after an undo', () => {
    const edited = edit(start)
    expect([isDirty(start), isDirty(edited), edited.save.kind]).toEqual([false, true, 'unsaved'])
    const saved = [
      { type: 'saved' as const, base: { version: 4, definition: changed.definition }, publishedVersion: 2, at: 4 },
      { type: 'layout-saved' as const, layout: changed.layout, at: 5 },
    ].reduce(reduceDraft, edited)
    expect([isDirty(saved), saved.save]).toEqual([false, { kind: 'saved', at: 5 }])
    expect(isDirty(reduceDraft(saved, { type: 'undo' }))).toBe(true)
  })

  test('a change made during a save is not marked as saved', () => {
    const saving = reduceDraft(edit(start), { type: 'saving' })
    const more = reduceDraft(saving, {
      type: 'change',
      draft: { definition: { ...definition, name: 'Third' }, layout: {} },
      label: 'edit',
      at: 2,
    })
    const answered = reduceDraft(more, {
      type: 'saved',
      base: { version: 4, definition: changed.definition },
      publishedVersion: 2,
      at: 5,
    })
    expect([isDirty(answered), answered.save.kind]).toEqual([true, 'unsaved'])
  })

  test('a conflict stays until a person resolves it, regardless of what they type', () => {
    const conflict = reduceDraft(start, { type: 'stopped', save: { kind: 'conflict', theirs: { ...base, by: 'Tom' } } })
    expect(edit(conflict).save.kind).toBe('conflict')
  })

  test('one undo removes a merge', () => {
    const theirs = { version: 4, definition: { ...definition, description: 'theirs' } }
    const merged = { ...definition, name: 'Other', description: 'theirs' }
    const state = reduceDraft(edit(start), { type: 'merged', base: theirs, definition: merged, label: 'merge', at: 9 })
    expect(state.base.version).toBe(4)
    expect(reduceDraft(state, { type: 'undo' }).history.present.definition).toEqual(changed.definition)
  })
})
