import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component } from '../definition/component'
import { ASSIGNEE, namedPeople, sameAssignee, votesNeeded } from '../definition/people'
import type { ShownValue } from '../definition/run'
import { shownValue } from '../definition/shown'
import { StepFailure } from '../errors'
import { Text } from './define-step'
import { after, DurationText } from './time'

const MAX_ASSIGNEES = 50
const MAX_VOTES = 100
const WANTED =
  'must be user:<email, subject or id>, group:<name> or role:<role>, such as user:ada@example.com, group:Finance or role:admin'
const isTemplate = (text: string) => text.includes('${')

/** The people who may answer, or a template that resolves to the list. */
export const Assignees = z
  .union([
    z
      .array(z.string().refine((text) => isTemplate(text) || ASSIGNEE.test(text), WANTED))
      .min(1, 'needs at least one person, group or role')
      .max(MAX_ASSIGNEES),
    z.string().max(500).refine(isTemplate, 'must be a list, such as ["role:admin"]'),
  ])
  .optional()
  .describe(
    'Who may answer: `user:` with an address, a token’s `sub` or an id, `group:` with the name of a group, or `role:` for that role and higher ones. Anybody by default.',
  )
type Assignees = z.infer<typeof Assignees>

/** How many votes each action needs. */
export const Needs = z.record(z.string().min(1).max(100), z.number().int().min(1).max(MAX_VOTES)).optional()
export type Needs = z.infer<typeof Needs>

const MAX_SHOWN = 30

/** Values of the run's data to show, each with a label for people. */
export const Show = z
  .array(component('ShownField', { label: Text(200), value: AnyJson, markdown: z.boolean().optional() }))
  .max(MAX_SHOWN)
  .optional()
  .describe(
    'The values shown with the task, in this order, each with a label. A text is Markdown if `markdown` is true.',
  )
type Show = z.infer<typeof Show>

export const DueIn = DurationText.optional().describe(
  'When it should be answered, as an ISO 8601 duration such as `P1D`. For people; nothing happens then.',
)

export const ASSIGNEES_HINT = {
  widget: 'assignees',
  label: 'Who may answer',
  placeholder: 'Name, email, group or role',
  help: 'People, groups and roles. Without any, everybody who may answer tasks.',
} as const

export const MESSAGE_HINT = {
  widget: 'template-area',
  label: 'Message',
  help: 'What the person should know. Markdown: **bold**, lists, tables, [links](https://example.com).',
} as const

export const SHOW_HINT = {
  widget: 'shown',
  label: 'Values to show',
  help: 'What people see of the run’s data, in this order. Without any, the inbox shows all of it.',
} as const

export const DUE_IN_HINT = {
  widget: 'iso-duration',
  label: 'Due in',
  placeholder: 'P1D',
  help: 'The inbox shows the date. When it passes, the run still waits.',
  advanced: true,
} as const

/**
 * The values to show, the assignees, and the due time of a step that begins.
 * @throws StepFailure INVALID_CONFIG when a template resolved to something else
 */
export function askedOf(
  now: Date,
  { show, assignees, dueIn }: { show?: Show; assignees?: Assignees; dueIn?: string | undefined },
) {
  return {
    ...(show === undefined || show.length === 0 ? {} : { show: show.map(shown) }),
    ...(assignees === undefined ? {} : { assignees: listed(assignees) }),
    ...(dueIn === undefined ? {} : { dueAt: after(now, dueIn).toISOString() }),
  }
}

function shown({ label, value, markdown }: NonNullable<Show>[number]): ShownValue {
  return { label, value: shownValue(value), ...(markdown && typeof value === 'string' ? { markdown } : {}) }
}

/** @throws StepFailure INVALID_CONFIG when a template resolved to something else */
export function listed(assignees: NonNullable<Assignees>, field = 'assignees'): string[] {
  if (!Array.isArray(assignees)) throw new StepFailure('INVALID_CONFIG', `${field} ${WANTED}, in a list`)
  for (const one of assignees) {
    if (!ASSIGNEE.test(one)) throw new StepFailure('INVALID_CONFIG', `${field}: "${one}" ${WANTED}`)
  }
  return [...new Set(assignees.map(sameAssignee))]
}

/** Problems of an assignment that no run data can fix. */
export function assigneeProblems(assignees: Assignees, field = 'assignees'): { field: string; message: string }[] {
  const names = Array.isArray(assignees) ? assignees.map(sameAssignee) : []
  const twice = names.find((name, at) => names.indexOf(name) < at)
  return twice === undefined ? [] : [{ field, message: `names ${twice} twice` }]
}

/** Why votes could never decide; null if they can. */
export function undecidable(needs: Needs, assignees: unknown): string | null {
  const people = namedPeople(assignees)
  const short = people === null ? undefined : Object.entries(needs ?? {}).find(([, votes]) => votes > people)
  if (!short) return null
  return `asks for ${short[1]} votes for ${short[0]}, but only ${people === 1 ? 'one person' : `${people} people`} may vote`
}

/** Problems with the votes that a decision needs. */
export function voteProblems(config: {
  needs?: Needs
  assignees?: Assignees
  actions: readonly { id: string }[]
  expiresIn?: string | undefined
}): { field: string; message: string }[] {
  const { needs, assignees, actions, expiresIn } = config
  if (needs === undefined) return []
  const unknown = Object.keys(needs).filter((id) => !actions.some((action) => action.id === id))
  const at = (message: string) => ({ field: 'needs', message })
  if (unknown.length > 0) return unknown.map((id) => at(`names the action ${id}, which the step does not have`))
  const impossible = undecidable(needs, assignees)
  if (impossible) return [at(impossible)]
  const people = namedPeople(assignees)
  // The largest number of votes without a decision: each action is one short.
  const split = actions.reduce((votes, { id }) => votes + votesNeeded(needs, id) - 1, 0)
  if (people === null || people > split || expiresIn !== undefined) return []
  return [
    at(
      `can be split so that nothing is ever decided: ${people} people have one vote each. Ask for fewer votes, assign more people, or set expiresIn`,
    ),
  ]
}
