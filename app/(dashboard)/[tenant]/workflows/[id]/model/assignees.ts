import { ASSIGNEE, partsOf, sameAssignee } from '@/server/definition/people'
import type { Step } from '@/server/definition/schema'
import type { Assignable } from '@/server/views/workflows/assignable'
import type { Problem } from '@/server/workflows/check/problem'
import { asObject } from './definition'
import { updateStep } from './edit-steps'
import type { Fix } from './fix'

/** An assignee that can be chosen. */
export interface Choice {
  /** As `assignees` has it. */
  value: string
  label: string
  /** What distinguishes it from others of the same name. */
  about: string | null
}

/** Viewers cannot answer, so `role:viewer` would mean operators. */
export const ROLE_CHOICES: readonly Choice[] = [
  { value: 'role:operator', label: 'Operators and higher', about: null },
  { value: 'role:editor', label: 'Editors and higher', about: null },
  { value: 'role:admin', label: 'Admins and owners', about: null },
  { value: 'role:owner', label: 'Owners', about: null },
]

/** The choices in their groups. */
export function choicesFrom({ people, groups }: Assignable): { group: string; choices: readonly Choice[] }[] {
  return [
    {
      group: 'People',
      choices: people.map(({ name, email }) => ({ value: `user:${email}`, label: name, about: email })),
    },
    { group: 'Groups', choices: groups.map(({ name }) => ({ value: `group:${name}`, label: name, about: null })) },
    { group: 'Roles', choices: ROLE_CHOICES },
  ]
}

/** Those that are not chosen yet and contain every typed word. */
export function choicesWith(choices: readonly Choice[], search: string, chosen: readonly string[]): Choice[] {
  const taken = new Set(chosen.map(sameAssignee))
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return choices.filter(({ value, label, about }) => {
    const text = `${label} ${about ?? ''} ${value}`.toLowerCase()
    return !taken.has(sameAssignee(value)) && words.every((word) => text.includes(word))
  })
}

/** The assignee that a typed text means: as it is written with `user:`, `group:` or `role:`, else a person. */
export function typedAssignee(typed: string): string | null {
  const text = typed.trim()
  if (text === '') return null
  const assignee = /^(user|group|role):/.test(text) ? text : `user:${text}`
  return assignee.includes('${') || ASSIGNEE.test(assignee) ? assignee : null
}

/** How a chosen assignee is shown. */
export function labelOf(assignee: string, known: Assignable | undefined): string {
  const { kind, name } = partsOf(assignee)
  const same = sameAssignee(assignee)
  const choices = known ? choicesFrom(known).flatMap((group) => group.choices) : ROLE_CHOICES
  const byId = kind === 'user' ? known?.people.find(({ id }) => same === `user:${id}`) : undefined
  return choices.find(({ value }) => sameAssignee(value) === same)?.label ?? byId?.name ?? name
}

/** How each warning about a group begins, around its name; `server/workflows/check/assigned-groups.ts` writes them. */
const OF_GROUPS = [
  ['the workspace has no group ', ', so nobody '],
  ['the group ', ' is called '],
  ['nobody in the group ', ' may answer '],
] as const

/** Whether a warning is about this assignee. */
export function isAbout({ code, message }: Pick<Problem, 'code' | 'message'>, assignee: string): boolean {
  const { kind, name } = partsOf(sameAssignee(assignee))
  const [text, wanted] = [message.toLowerCase().normalize('NFC'), name.toLowerCase().normalize('NFC')]
  if (code !== 'W_ASSIGNEE') return false
  if (kind === 'group') return OF_GROUPS.some(([before, after]) => text.startsWith(before + wanted + after))
  return kind === 'user' && text.startsWith(`${wanted} `)
}

/** Puts the name that was probably meant in the place of one that is nobody's. */
export function assigneeFix(step: Step, problem: Problem): Fix | null {
  const { suggestion, field } = problem
  const reminders = asObject(step.reminders)
  const handsTo = field === 'reminders.handTo'
  const assignees = handsTo ? reminders.handTo : step.assignees
  if (suggestion === undefined || !Array.isArray(assignees)) return null
  const wrong = assignees.find((one) => typeof one === 'string' && isAbout(problem, one))
  if (typeof wrong !== 'string') return null
  const right = `${partsOf(wrong).kind}:${suggestion}`
  const named = [...new Set(assignees.map((one) => (one === wrong ? right : one)))]
  const change = handsTo ? { reminders: { ...reminders, handTo: named } } : { assignees: named }
  return { label: `Use ${suggestion}`, apply: (before) => updateStep(before, step.id, change) }
}
