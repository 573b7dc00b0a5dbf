import { expect, test } from 'vitest'
import {
  assigneeFix,
  choicesFrom,
  choicesWith,
  isAbout,
  labelOf,
  typedAssignee,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/model/assignees'
import { sameGroup } from '@/server/definition/people'
import type { Problem } from '@/server/workflows/check/problem'
import { alone, step } from './fix-drafts'

const known = {
  people: [
    { id: 'usr_1', name: 'Ada Lovelace', email: 'ada@example.com' },
    { id: 'usr_2', name: 'Bob', email: 'bob@example.com' },
  ],
  groups: [{ name: 'Finance' }],
}
const all = choicesFrom(known).flatMap(({ choices }) => choices)
const found = (search: string, ...chosen: string[]) => choicesWith(all, search, chosen).map(({ value }) => value)

test('people are found by name and address, groups and roles by name, and nobody twice', () => {
  expect(found('lovelace ada')).toEqual(['user:ada@example.com'])
  expect(found('bob@')).toEqual(['user:bob@example.com'])
  expect(found('fin')).toEqual(['group:Finance'])
  expect(found('admins')).toEqual(['role:admin'])
  expect(found('fin', 'group:FINANCE')).toEqual([])
  expect(found('ada', 'user:Ada@Example.com')).toEqual([])
})

test.each<[string, string | null]>([
  [' grace@example.com ', 'user:grace@example.com'],
  ['customer-17', 'user:customer-17'],
  ['${approver}', 'user:${approver}'],
  ['group:Night shift', 'group:Night shift'],
  ['role:admin', 'role:admin'],
  ['role:boss', null],
  ['group:${team}', 'group:${team}'],
  ['  ', null],
  ['x'.repeat(257), null],
])('%j means %j', (typed, assignee) => {
  expect(typedAssignee(typed)).toBe(assignee)
})

test.each([
  ['FINANCE', 'finance'],
  ['J\u030C', '\u01F0'],
])('the group %j is %j, and that is its own form', (name, same) => {
  expect(sameGroup(name)).toBe(same)
  expect(sameGroup(same)).toBe(same)
})

test.each([
  ['user:ADA@example.com', 'Ada Lovelace'],
  ['user:usr_2', 'Bob'],
  ['user:nobody@example.com', 'nobody@example.com'],
  ['group:FINANCE', 'Finance'],
  ['group:Gone', 'Gone'],
  ['role:admin', 'Admins and owners'],
  ['user:${who}', '${who}'],
])('%s is shown as %s', (assignee, label) => {
  expect(labelOf(assignee, known)).toBe(label)
})

const warning = (message: string, suggestion?: string): Problem => ({
  ...{ severity: 'warning', code: 'W_ASSIGNEE', stepId: step.id, field: 'assignees', message },
  ...(suggestion === undefined ? {} : { suggestion }),
})
const NO_MEMBER = 'adaa@example.com is not a member of this workspace. Did you mean ada@example.com?'
const NO_GROUP = 'The workspace has no group Finances, so nobody in it can answer. Did you mean Finance?'

test('a warning marks the assignee that it is about, and no other', () => {
  expect(isAbout(warning(NO_MEMBER), 'user:Adaa@example.com')).toBe(true)
  expect(isAbout(warning(NO_MEMBER), 'user:ada@example.com')).toBe(false)
  expect(isAbout(warning(NO_GROUP), 'group:finances')).toBe(true)
  expect(isAbout(warning(NO_GROUP), 'group:Finance')).toBe(false)
  expect(isAbout(warning(NO_GROUP), 'role:admin')).toBe(false)
  for (const [before, after] of [
    ['The workspace has no group ', ', so nobody in it can answer.'],
    ['The group ', ' is called Money now.'],
    ['Nobody in the group ', ' may answer tasks.'],
  ]) {
    const aboutUk = warning(`${before}Finance UK${after}`)
    expect(isAbout(aboutUk, 'group:Finance UK')).toBe(true)
    expect(isAbout(aboutUk, 'group:Finance')).toBe(false)
  }
  expect(isAbout({ ...warning(NO_GROUP), code: 'INVALID_CONFIG' }, 'group:finances')).toBe(false)
})

test.each([
  [
    warning(NO_MEMBER, 'ada@example.com'),
    ['user:adaa@example.com', 'role:admin'],
    ['user:ada@example.com', 'role:admin'],
  ],
  [warning(NO_GROUP, 'Finance'), ['group:Finances', 'group:Finance'], ['group:Finance']],
])('its fix takes the name that was meant', (problem, before, after) => {
  const definition = alone({ ...step, assignees: before })
  const asking = definition.steps.find(({ id }) => id === step.id)
  if (!asking) throw new Error('no step')
  expect(
    assigneeFix(asking, problem)
      ?.apply(definition)
      .steps.find(({ id }) => id === step.id)?.assignees,
  ).toEqual(after)
  const { suggestion: _, ...without } = problem
  expect(assigneeFix(asking, without)).toBeNull()
})
