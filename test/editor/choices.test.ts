import { describe, expect, test } from 'vitest'
import { setStepValue } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/edit-steps'
import {
  actionProblem,
  caseProblem,
  changeChoice,
  choiceProblem,
  choicesOf,
  writtenChoices,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/widgets/choice-rows'
import { newRow } from '@/app/(dashboard)/[tenant]/workflows/[id]/widgets/use-rows'
import type { Definition } from '@/server/definition/schema'
import { catalog } from './graphs'

const KINDS = [
  { type: 'request-user-action', list: 'actions', problemOf: actionProblem, rest: {} },
  { type: 'switch', list: 'cases', problemOf: caseProblem, rest: { when: 'true' } },
]

describe.each(KINDS)('an entry of $list', ({ type, list, problemOf, rest }) => {
  const entry = { id: 'ok', label: 'OK', ...rest }
  const deciding: Definition = {
    name: 'n',
    description: '',
    initialStep: 'a',
    steps: [
      { id: 'a', type, [list]: [entry] },
      { id: 'b', type: 'end-flow' },
    ],
    edges: [{ from: 'a', to: 'b', on: 'ok' }],
    payload: {},
  }

  /** Types a text key by key, and saves after each. */
  function typed(part: 'id' | 'label', text: string) {
    let definition = deciding
    let rows = choicesOf([entry]).map(newRow)
    const key = rows[0]?.key ?? 0
    for (let length = 1; length <= text.length; length++) {
      rows = changeChoice(rows, key, { [part]: text.slice(0, length) }, problemOf)
      definition = setStepValue(definition, catalog, 'a', list, writtenChoices(rows))
      expect(definition.edges, text.slice(0, length)).toHaveLength(1)
    }
    return { edge: definition.edges[0]?.on, row: rows[0], problem: choiceProblem(rows, key, text, problemOf) }
  }

  test.each(['Done deal', 'Next week', 'Error: stop', 'True north', 'Each one'])(
    'keeps its edge while its label becomes %j',
    (label) => {
      const id = label.toLowerCase().replace(/\W+/g, '_')
      expect(typed('label', label)).toMatchObject({ edge: id, row: { id, kept: id, follows: true } })
      expect(typed('id', id)).toMatchObject({ edge: id, row: { id, kept: id }, problem: null })
    },
  )

  test('gets an id of its own from a label that names another exit', () => {
    expect(typed('label', 'Done')).toMatchObject({ edge: 'done_', row: { id: 'done_', kept: 'done_' } })
    expect(choicesOf([{ id: 'done_', label: 'Done', ...rest }])[0]?.follows).toBe(true)
    expect(typed('id', 'done')).toMatchObject({ edge: 'don', problem: 'done is the name of another exit' })
  })
})

test('an action that has the id of another exit keeps it', () => {
  const rows = choicesOf([{ id: 'done', label: 'Done' }]).map(newRow)
  const key = rows[0]?.key ?? 0
  expect(choiceProblem(rows, key, 'done', actionProblem)).toBeNull()
  const relabelled = changeChoice(rows, key, { label: 'Finished' }, actionProblem)
  expect(writtenChoices(relabelled)).toEqual([{ id: 'done', label: 'Finished' }])
})
