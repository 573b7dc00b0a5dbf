import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { type Assignees, WANTED } from '../definition/asking'
import { component } from '../definition/component'
import { ASSIGNEE, sameAssignee } from '../definition/people'
import { type ShownValue, shownValue } from '../definition/shown'
import { StepFailure } from '../errors'
import { Text } from './define-step'
import { after } from './time'

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
