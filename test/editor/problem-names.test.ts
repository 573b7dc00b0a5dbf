import { expect, test } from 'vitest'
import { fixOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/fixes'
import { detailText, withNames } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/problem-names'
import { textOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/problem-words'
import { PROBLEM_CODES, type ProblemCode } from '@/server/definition/problem-codes'
import type { Definition } from '@/server/definition/schema'
import { checkGraph } from '@/server/workflows/check/graph'
import { catalog, workflow } from './fix-drafts'

/** Ids that no sentence contains by chance, and names that contain no id. */
const called = <T extends { id: string }>(step: T) => ({ ...step, name: `Called ${step.id.slice(1).toUpperCase()}` })
const set = (id: string, values: object = { v: 1 }) => called({ id, type: 'set-data', values })
const ask = (id: string) => called({ id, type: 'collect-inputs', output: { x: { type: 'string' } } })
const end = (output: object = {}) => called({ id: 'xend', type: 'end-flow', output })
const decide = (id: string) =>
  called({ id, type: 'request-user-action', actions: [{ id: 'yes-1', label: 'Agree' }, { id: 'no-1' }] })
const fork = (id: string) =>
  called({
    id,
    type: 'parallel',
    branches: [
      { id: 'left-1', label: 'To the left' },
      { id: 'right-1', label: 'To the right' },
    ],
  })
const draft = (steps: { id: string }[], edges: [string, string, string?][], more: object = {}) =>
  workflow({
    initialStep: steps[0]?.id ?? null,
    steps,
    edges: edges.map(([from, to, on]) => ({ from, to, ...(on === undefined ? {} : { on }) })),
    ...more,
  })
const both: [string, string, string][] = [
  ['xfork', 'xa', 'left-1'],
  ['xfork', 'xb', 'right-1'],
  ['xfork', 'xend', 'done'],
]
const loop = (more: object) =>
  draft(
    [{ ...set('xa'), ...more }, called({ id: 'xif', type: 'condition', when: '${amount} > 1' }), end()],
    [
      ['xa', 'xif'],
      ['xif', 'xa', 'true'],
      ['xif', 'xend', 'false'],
    ],
  )
const nested = ['xa', 'xb', 'xc', 'xd', 'xe'].map((id) => called({ id, type: 'for-each', items: [1] }))
const longIds = ['a', 'b', 'c', 'd'].map((id) =>
  called({ id: `x${id}${'注'.repeat(190)}`, type: 'for-each', items: [1] }),
)
const each = (steps: { id: string }[]) =>
  draft(
    [...steps, set('xlast')],
    [...steps, set('xlast')]
      .slice(1)
      .map(({ id }, at) => [steps[at]?.id ?? '', id, 'each'] as [string, string, string]),
  )

/** The drafts whose messages name steps, by the code of their problem. Null: no message of the code names one. */
const DRAFTS: Record<ProblemCode, Definition[] | null> = {
  NO_STEPS: null,
  NO_INITIAL_STEP: [draft([end()], [], { initialStep: null })],
  UNKNOWN_INITIAL_STEP: [draft([end()], [], { initialStep: 'gone' })],
  UNKNOWN_ON_CANCEL: null,
  UNKNOWN_ON_FAILURE: null,
  // Its subject is the id.
  DUPLICATE_STEP_ID: null,
  UNKNOWN_STEP_TYPE: null,
  INVALID_CONFIG: null,
  INVALID_EXPRESSION: null,
  TYPE_MISMATCH: null,
  EXPRESSION_UNRESOLVED: null,
  TOOL_NOT_FOUND: null,
  AGENT_NOT_FOUND: null,
  WORKFLOW_NOT_FOUND: null,
  AGENT_NO_STRUCTURED_OUTPUT: null,
  AGENT_SUPERVISOR: null,
  SECRET_NOT_ALLOWED: null,
  DANGLING_EDGE: [draft([set('xa'), end()], [['xa', 'gone']]), draft([set('xa'), end()], [['gone', 'xa']])],
  UNKNOWN_EXIT: [draft([end(), set('xa')], [['xend', 'xa']]), draft([set('xa'), end()], [['xa', 'xend', 'gone']])],
  AMBIGUOUS_EDGES: [
    draft(
      [decide('xa'), set('xb'), end()],
      [
        ['xa', 'xb', 'yes-1'],
        ['xa', 'xend', 'yes-1'],
      ],
    ),
  ],
  CYCLE: [
    draft(
      [set('xa'), set('xb')],
      [
        ['xa', 'xb'],
        ['xb', 'xa'],
      ],
    ),
  ],
  CYCLE_WITHOUT_BOUND: [loop({})],
  REGION_ENTERED: [
    draft([fork('xfork'), set('xa'), set('xb'), end()], [...both, ['xa', 'xfork']]),
    draft([fork('xfork'), set('xa'), set('xb'), end()], both, { onCancel: 'xa' }),
    draft([fork('xfork'), set('xa'), set('xb'), end()], [...both, ['xa', 'xb']]),
  ],
  NESTED_TOO_DEEP: [each(nested), each(longIds)],
  BRANCH_CONFLICT: [draft([fork('xfork'), set('xa'), set('xb', { v: 2 }), end()], both)],
  PAUSE_IN_CLEANUP: [draft([end(), ask('xa')], [], { onCancel: 'xa' })],
  FORK_IN_CLEANUP: [draft([end(), fork('xfork'), set('xa'), set('xb')], both.slice(0, 2), { onFailure: 'xfork' })],
  W_REF_MAYBE: [
    draft(
      [called({ id: 'xif', type: 'condition', when: '${amount} > 1' }), set('xa', { late: 1 }), end({ v: '${late}' })],
      [
        ['xif', 'xa', 'true'],
        ['xif', 'xend', 'false'],
        ['xa', 'xend'],
      ],
    ),
  ],
  W_REF_NEVER: null,
  W_TYPE_MISMATCH: null,
  W_TOOL_ARGS: null,
  W_WORKFLOW_INPUT: null,
  W_BUSINESS_KEY: null,
  W_UNREACHABLE: [draft([end(), set('xa')], [['xa', 'xend']])],
  W_EMPTY_BRANCH: [draft([fork('xfork'), set('xa'), end()], [both[0] ?? ['', ''], ['xfork', 'xend', 'done']])],
  W_BRANCH_OPEN: [
    draft(
      [fork('xfork'), called({ id: 'xa', type: 'call-agent', agentId: 'a', message: 'm' }), set('xb'), end()],
      both,
    ),
  ],
  W_NO_END: [draft([set('xa')], []), draft([called({ id: 'xif', type: 'condition', when: 'true' })], [])],
  W_SIMULATION: null,
  W_UNKNOWN_FIELD: null,
  W_USES_ARCHIVED: null,
  W_NO_SECRET: null,
  W_ASSIGNEE: null,
  W_APPROVAL: null,
  W_REMINDERS: null,
}

const IDS = /(?<![\w.-])(?:x(?:a|b|c|d|e|if|fork|end|last)\b|(?:yes|no|left|right)-1)/

/** Without names in expressions, which are ids by design. */
const withoutExpressions = (text: string) => text.replace(/\$\{[^}]*\}/g, '')

test('every problem names steps and exits on screens as people do, and its message keeps their ids', () => {
  for (const code of PROBLEM_CODES) {
    for (const definition of DRAFTS[code] ?? []) {
      const before = checkGraph(definition)
      expect(
        before.map((problem) => problem.code),
        code,
      ).toContain(code)
      for (const [at, problem] of withNames(before, definition, catalog).entries()) {
        const text = withoutExpressions(textOf(problem))
        if (DRAFTS[problem.code as ProblemCode] !== null) expect(text, problem.code).not.toMatch(IDS)
        expect(text, problem.code).not.toMatch(/\bedges?\b|\binitial\b|maxVisits/)
        expect(problem.message).toBe(before[at]?.message)
        expect(fixOf(definition, catalog, problem)?.label).toBe(
          before[at] && fixOf(definition, catalog, before[at])?.label,
        )
      }
    }
  }
})

test('a problem reads as a sentence with the names of its steps', () => {
  const say = (code: ProblemCode) =>
    (DRAFTS[code] ?? []).map((definition) => {
      const [problem] = withNames(checkGraph(definition), definition, catalog).filter((one) => one.code === code)
      return problem && textOf(problem)
    })
  expect(say('DANGLING_EDGE')).toEqual([
    'The connection from “Called A” to gone refers to the step gone, which does not exist.',
    'The connection from gone to “Called A” refers to the step gone, which does not exist.',
  ])
  expect(say('AMBIGUOUS_EDGES')).toEqual([
    '“Called A” has two connections for the exit “Agree”; a run could only take one.',
  ])
  expect(say('CYCLE_WITHOUT_BOUND')).toEqual([
    'The loop “Called A” → “Called IF” → “Called A” has no limit. Set “Maximum visits” on one of its steps.',
  ])
  expect(say('REGION_ENTERED')[2]).toBe(
    '“Called B” belongs to the branch “To the left” of “Called FORK”, so “Called FORK” cannot lead there.',
  )
  expect(say('W_REF_MAYBE')).toEqual([
    '${late} may have no value here, which would fail the step: not every path gives “Called A” a value for it. Write ${late ?? "…"} to set a fallback.',
  ])
})

test('a step without a name keeps its id, and so does a word that equals an id', () => {
  const plain = draft([{ id: 'path', type: 'set-data', values: { v: 1 } } as never], [])
  const [problem] = withNames(checkGraph(plain), plain, catalog)
  expect(problem && textOf(problem)).toBe('The path ends at path without an end step; the result will be all run data.')
  const word = draft([called({ id: 'path', type: 'set-data', values: { v: 1 } })], [])
  const [other] = withNames(checkGraph(word), word, catalog)
  expect(other && textOf(other)).toBe(
    'The path ends at “Called ATH” without an end step; the result will be all run data.',
  )
})

test('the service’s refusal of a draft names its steps, and other details stay as they are', () => {
  const [definition] = DRAFTS.PAUSE_IN_CLEANUP ?? []
  if (!definition) throw new Error('no draft')
  const [problem] = checkGraph(definition).filter(({ code }) => code === 'PAUSE_IN_CLEANUP')
  if (!problem) throw new Error('no problem')
  expect(detailText(problem, definition, catalog)).toBe(
    'Called A · type: “Called A” waits for a person; no step of the cleanup path may do that.',
  )
  expect(detailText({ path: 'data.amount', message: 'is required' }, definition, catalog)).toBe(
    'data.amount is required',
  )
})
