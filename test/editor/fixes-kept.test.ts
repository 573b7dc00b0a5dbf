import { expect, test } from 'vitest'
import { fixOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/fixes'
import type { ServiceContext } from '@/server/context'
import type { Definition } from '@/server/definition/schema'
import { checkDefinition } from '@/server/workflows/check/definition'
import { alone, aside, branches, catalog, decision, end, repaired, step, told, workflow } from './fix-drafts'

test('a mistyped part of a path is renamed, and only there', () => {
  const typed = workflow({
    initialStep: 'ask',
    steps: [
      { ...step, output: { total: { type: 'string' } } },
      end({ a: '${ask.totla} $${ask.totla} ${ask.totla ?? 1}' }),
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  expect(told(typed, 'EXPRESSION_UNRESOLVED')[0]?.suggestion).toBe('total')
  const made = repaired(typed, 'EXPRESSION_UNRESOLVED')
  expect(made?.label).toBe('Use ${ask.total}')
  expect(made?.steps[1]?.output).toEqual({ a: '${ask.total} $${ask.totla} ${ask.total ?? 1}' })
})

test('a version that does not exist gives way to the default one; a missing object is chosen', async () => {
  const ctx = { tenantId: 'test' } as ServiceContext
  const of = async (toolId: string, version: number | string) => {
    const draft = alone({ id: 'call', type: 'call-tool', toolId, version, args: {} })
    const problems = (await checkDefinition(ctx, draft)).filter(({ code }) => code === 'TOOL_NOT_FOUND')
    return problems.map((one) => {
      const fix = fixOf(draft, catalog, one)
      return [one.message, fix?.label, fix?.apply(draft).steps[0]]
    })
  }
  expect(await of('tool_date', 1)).toEqual([])
  const call = { id: 'call', type: 'call-tool', toolId: 'tool_date', args: {} }
  expect(await of('tool_date', 9)).toEqual([['Tool tool_date has no version 9.', 'Use the latest version', call]])
  expect(await of('no such tool', 9)).toEqual([['Tool not found: no such tool version 9.', undefined, undefined]])
  const message = 'Workflow w has no published version.'
  const child = alone({ id: 'call', type: 'run-workflow', workflowId: 'w', version: 'published' })
  const fix = fixOf(child, catalog, { severity: 'error', code: 'WORKFLOW_NOT_FOUND', message, stepId: 'call' })
  expect(fix?.label).toBe('Use the current version')
})

test('references to a field follow it to its new name, unless they may mean another', () => {
  const second = { id: 'second', type: 'collect-inputs', output: { x: { type: 'string' } } }
  const draft = branches(second)
  const use = { id: 'use', type: 'set-data', values: { u: '${x}', v: '${second.x}' } }
  const used = { ...draft, steps: [...draft.steps, use], edges: [...draft.edges, { from: 'second', to: 'use' }] }
  const made = repaired(used as Definition, 'BRANCH_CONFLICT')
  expect(made?.label).toBe('Save as second_result')
  expect(made?.steps.at(2)).toEqual({ ...second, saveAs: 'second_result' })
  expect(made?.steps.at(-1)).toEqual({ ...use, values: { u: '${second_result.x}', v: '${second.x}' } })
  const start = { ...used, payload: { x: { type: 'string' } } } as Definition
  expect(told(start, 'BRANCH_CONFLICT')).toHaveLength(1)
  expect(repaired(start, 'BRANCH_CONFLICT')).toBeNull()
  // A reference may mean the result of a step with any fields.
  const open = branches({ id: 'second', type: 'call-tool', toolId: 't', args: {} })
  const guessed = { ...open, steps: [...open.steps.slice(0, -1), end({ a: '${status}' })] } as Definition
  expect(repaired(guessed, 'W_BRANCH_OPEN')).toBeNull()
})

test('a name that cannot be used becomes one that can', () => {
  const named = (saveAs: string) => repaired(alone({ ...step, saveAs }), 'INVALID_CONFIG')?.label
  expect(named('my résult')).toBe('Save as my_result')
  expect(named('2nd')).toBe('Save as _2nd')
  expect(named('ask')).toBeUndefined()
  for (const one of ['constructor', '_', '結果']) expect(named(one)).toBe('Save as ask_result')
  expect(named('')).toBe('Remove “Save as”')
})

test('a step that may not be on a cleanup path leaves it, and the path continues', () => {
  const pause = aside([], [{ from: 'ask', to: 'tidy' }])
  expect(repaired(pause, 'PAUSE_IN_CLEANUP')).toMatchObject({ label: 'Remove the step', onCancel: 'tidy', edges: [] })
  // It would also leave the path from START.
  expect(repaired({ ...pause, initialStep: 'ask' }, 'PAUSE_IN_CLEANUP')).toBeNull()
  const fork = aside(
    [
      { id: 'all', type: 'for-each', items: [1] },
      { id: 'in', type: 'set-data', values: { a: 1 } },
    ],
    [
      { from: 'all', to: 'in', on: 'each' },
      { from: 'all', to: 'tidy', on: 'done' },
    ],
  )
  const made = repaired(fork, 'FORK_IN_CLEANUP')
  expect(made).toMatchObject({ label: 'Remove the step and its branches', onCancel: 'tidy' })
  expect(made?.steps.map(({ id }) => id)).toEqual(['tidy', 'end'])
})

test('a literal is converted only where it surely means the other type', () => {
  const when = (text: string) => {
    const made = repaired(decision(text), 'TYPE_MISMATCH')
    return made && [made.label, made.steps[0]?.when]
  }
  expect(when('${amount} > "5"')).toEqual(['Make "5" a number', '${amount} > 5'])
  expect(when("'-5' < ${amount}")).toEqual(["Make '-5' a number", '-5 < ${amount}'])
  for (const text of ['"5" > ${amount} || "6" > ${amount}', '${amount} > "five"', '${amount} + "5" == 6'])
    expect(when(text), text).toBeNull()
  const items = (text: string) => {
    const draft = alone({ id: 'all', type: 'for-each', items: text })
    return repaired({ ...draft, edges: [{ from: 'all', to: 'end', on: 'done' }] }, 'TYPE_MISMATCH')?.steps[0]?.items
  }
  expect(items('[1, "${amount}"]')).toEqual([1, '${amount}'])
  for (const text of ['a, b', '{"a": 1}', '[12345678901234567890]']) expect(items(text)).toBeUndefined()
})

test('a draft without steps gets one that a person picks', () => {
  const empty = workflow({ steps: [], initialStep: null })
  expect(repaired(empty, 'NO_STEPS')).toEqual({ label: 'Add step', ...empty })
})
