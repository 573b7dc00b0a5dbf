import { expect, test } from 'vitest'
import { changedPart, conflictFields } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/conflict-fields'
import { conflictWords } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/conflict-words'
import { merge } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/merge'
import type { Definition } from '@/server/definition/schema'

const definition = (more: Partial<Definition>): Definition => ({
  ...{ name: 'Flow', description: '', initialStep: 'a', steps: [], edges: [], payload: {} },
  ...more,
})
const step = (more: object) => ({ id: 'a', type: 'call-tool', name: 'Look up', args: { n: 1 }, ...more })
const fieldsOf = (was: Definition, mine: Definition, theirs: Definition) =>
  merge(was, mine, theirs).conflicts.map(conflictFields)

test('a conflict shows each field that a side changed, with its previous value', () => {
  const [fields] = fieldsOf(
    definition({ steps: [step({})] }),
    definition({ steps: [step({ name: 'Mine', args: { n: 1, own: true } })] }),
    definition({ steps: [step({ name: 'Theirs', args: { n: 2 } })] }),
  )
  expect(fields).toEqual([
    { path: 'name', was: 'Look up', mine: 'Mine', theirs: 'Theirs', changedBy: 'both' },
    { path: 'args.own', was: undefined, mine: true, theirs: undefined, changedBy: 'mine' },
    { path: 'args.n', was: 1, mine: 1, theirs: 2, changedBy: 'theirs' },
  ])
})

test('a setting is one value, what both added shows what differs, and what one deleted has no fields', () => {
  expect(fieldsOf(definition({}), definition({ name: 'M' }), definition({ name: 'T' }))).toEqual([
    [{ path: '', was: 'Flow', mine: 'M', theirs: 'T', changedBy: 'both' }],
  ])
  const added = (name: string) => definition({ steps: [step({ name })] })
  expect(fieldsOf(definition({}), added('M'), added('T'))).toEqual([
    [{ path: 'name', was: undefined, mine: 'M', theirs: 'T', changedBy: 'both' }],
  ])
  expect(fieldsOf(added('Was'), definition({}), added('T'))).toEqual([[]])
})

test('the part of a text that differs is found by whole words', () => {
  expect(changedPart('May Ada have 4 lamps?', 'May Tom have 4 lamps?')).toEqual(['May ', 'Tom', ' have 4 lamps?'])
  expect(changedPart('an order', 'an older order')).toEqual(['an ', 'older ', 'order'])
  expect(changedPart('keep this', 'keep')).toEqual(['keep', '', ''])
  for (const [before, now] of [
    ['', 'x'],
    ['aa', 'aaa'],
    ['a b', 'b a'],
  ] as const)
    expect(changedPart(before, now).join('')).toBe(now)
})

test('a person is never shown as in conflict with herself', () => {
  expect(conflictWords('Tom Ford').title).toBe('Tom Ford saved other changes while you were editing')
  expect(conflictWords(null).title).toBe('You saved other changes in another tab or browser')
  expect(Object.values(conflictWords(null).heads)).toEqual(['Here', 'There'])
})
