import { addDuration, parseDuration } from './duration'

/** When people are reminded of a task, and who gets it after the last reminder. Durations are ISO 8601. */
export type ReminderPlan = {
  /** From the task's beginning to the first reminder. */
  after: string
  /** From each reminder to the next one. */
  every?: string
  times: number
  /** The assignees from then on, one interval after the last reminder. */
  handTo?: string[]
}

/** What the product did about a task that was not answered. Times are ISO texts. */
export type Reminder =
  /** It reminded these assignees; null for everybody who may answer tasks. */
  | { at: string; to: string[] | null; number: number; times: number }
  /** It handed the task over after this many reminders; `from` is null if everybody could answer before. */
  | { at: string; handedTo: string[]; from: string[] | null; after: number }

/** The maximum number of reminders of one task. */
export const MAX_REMINDERS = 30
/** The number of reminders where a step says how often, but not how many. */
export const REMINDERS = 3
/** Reminders are sent once a minute. */
export const SHORTEST_REMINDER = 'PT1M'

/** How many of these were reminders, rather than a hand-over. */
export function countReminders(past: readonly Reminder[]): number {
  return past.filter((one) => 'to' in one).length
}

/**
 * When the next reminder, or the hand-over after the last one, is due.
 * @param sent the number of reminders so far, and one more once it was handed over
 * @param from when the last one was sent, or the task began
 * @returns null if nothing follows
 */
export function nextReminder({ after, every, times, handTo }: ReminderPlan, sent: number, from: Date): Date | null {
  if (sent > times || (sent === times && handTo === undefined)) return null
  const wait = parseDuration(sent === 0 ? after : (every ?? after))
  return wait && addDuration(from, wait)
}

/** A reminder or a hand-over with the names of its people, for display. */
export interface ShownReminder {
  at: string
  /** Whether the task was handed over. */
  handed: boolean
  /** Null for everybody who may answer tasks. */
  who: string[] | null
  /** Its number, or how many reminders there were before the task was handed over. */
  number: number
  /** How many there are at most. */
  times: number
}

export function shownReminder(one: Reminder, nameOf: (assignee: string) => string): ShownReminder {
  const { at } = one
  if ('to' in one) return { at, handed: false, who: one.to?.map(nameOf) ?? null, number: one.number, times: one.times }
  return { at, handed: true, who: one.handedTo.map(nameOf), number: one.after, times: one.after }
}

/** Whom a reminder went to when a task names nobody. */
export const EVERYBODY = 'everybody who may answer'

/** Such as `one reminder`, or `3 reminders`. */
export function remindersText(count: number): string {
  return count === 1 ? 'one reminder' : `${count} reminders`
}

/** Such as `Reminded Ada, Bob (2 of 3)`, or `Handed to Finance after 3 reminders`. */
export function reminderText({ handed, who, number, times }: ShownReminder): string {
  const people = who?.join(', ') ?? EVERYBODY
  if (!handed) return `Reminded ${people} (${number} of ${times})`
  return `Handed to ${people} after ${remindersText(number)}`
}
