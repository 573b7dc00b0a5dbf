import { z } from 'zod'
import { Assignees, assigneeProblems, DurationText, type Needs, undecidable } from '../definition/asking'
import { component } from '../definition/component'
import { durationMs } from '../definition/duration'
import { MAX_REMINDERS, nextReminder, REMINDERS, type ReminderPlan, SHORTEST_REMINDER } from '../definition/reminder'
import { listed } from './people'
import { after } from './time'

const Interval = DurationText.refine((text) => {
  const ms = durationMs(text)
  return ms === null || ms >= (durationMs(SHORTEST_REMINDER) ?? 0)
}, `must be at least a minute, ${SHORTEST_REMINDER}`)

/** When people are reminded of an open task, and who gets it if they do not answer. */
export const Reminders = component('Reminders', {
  after: Interval.describe('From the task’s beginning to the first reminder, as an ISO 8601 duration such as `P1D`.'),
  every: Interval.optional().describe('From each reminder to the next one. Without it, there is one reminder.'),
  times: z
    .number()
    .int()
    .min(1)
    .max(MAX_REMINDERS)
    .optional()
    .describe(`The number of reminders; with \`every\` ${REMINDERS} by default.`),
  handTo: Assignees.describe(
    'Who may answer instead, one interval after the last reminder, as in `assignees`. Votes stay, and so do claims of those who may still answer.',
  ),
})
  .optional()
  .describe('Reminds the people who may answer, and hands the task to others if they do not.')
type Reminders = z.infer<typeof Reminders>

export const REMINDERS_HINT = {
  widget: 'reminders',
  label: 'Reminders',
  help: 'By e-mail to the people named, and to webhooks and Slack. Votes and claims stay.',
  advanced: true,
} as const

function planOf({ after, every, times }: NonNullable<Reminders>, handTo: string[] | undefined): ReminderPlan {
  return {
    after,
    ...(every === undefined ? {} : { every }),
    times: times ?? (every === undefined ? 1 : REMINDERS),
    ...(handTo === undefined ? {} : { handTo }),
  }
}

/**
 * The reminders of a step that begins.
 * @throws StepFailure INVALID_CONFIG when a template resolved to something else
 */
export function remindersOf(reminders: Reminders): { reminders?: ReminderPlan } {
  if (reminders === undefined) return {}
  const { handTo } = reminders
  return { reminders: planOf(reminders, handTo === undefined ? undefined : listed(handTo, 'reminders.handTo')) }
}

/** When a step with reminders sends the first one. */
export function firstReminder(start: Date, reminders: Reminders): { remindAt?: Date } {
  return reminders === undefined ? {} : { remindAt: after(start, reminders.after) }
}

/** Problems of reminders that the schema cannot express. */
export function reminderProblems(reminders: Reminders): { field: string; message: string }[] {
  if (reminders === undefined) return []
  const { every, times = 1, handTo } = reminders
  return [
    ...(times > 1 && every === undefined
      ? [{ field: 'reminders.times', message: `asks for ${times} reminders, so reminders.every must say how often` }]
      : []),
    ...assigneeProblems(handTo, 'reminders.handTo'),
  ]
}

/** Any start, because months differ in length by a few days only. */
const START = new Date(0)

/** Reminders that come to nothing, as far as the configuration alone shows. */
export function reminderDoubts(config: {
  reminders?: Reminders
  needs?: Needs | undefined
  expiresIn?: string | undefined
}): { field: string; message: string }[] {
  const { reminders, needs, expiresIn } = config
  if (reminders === undefined) return []
  const few = reminders.handTo === undefined ? null : undecidable(needs, reminders.handTo)
  const late = expiresIn === undefined || expiresIn.includes('${') ? null : lateOf(reminders, after(START, expiresIn))
  return [
    ...(late === null ? [] : [{ field: 'reminders', message: late }]),
    ...(few === null
      ? []
      : [{ field: 'reminders.handTo', message: `may be too few to decide, unless others voted before: needs ${few}` }]),
  ]
}

function lateOf(reminders: NonNullable<Reminders>, expiresAt: Date): string | null {
  const plan = planOf(reminders, reminders.handTo === undefined ? undefined : [])
  let at: Date | null = START
  for (let sent = 0; at !== null; sent++) {
    at = nextReminder(plan, sent, at)
    if (at === null || at < expiresAt) continue
    if (sent === 0) return 'are never sent, because the task has expired by then'
    if (sent < plan.times) return `are ${sent} rather than ${plan.times}, because the task expires before the next one`
    return 'never hand the task over, because it has expired by then'
  }
  return null
}
