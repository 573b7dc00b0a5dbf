import type { JsonObject } from './json'

/** An event as steps see it. */
export type EventValue = {
  id: string
  name: string
  key: string | null
  data: JsonObject
  receivedAt: string
}

/** Its fields, for checks and suggestions. */
export const EVENT_FIELDS = {
  id: { type: 'string' },
  name: { type: 'string' },
  key: { type: 'string', optional: true, nullable: true },
  data: { type: 'object', description: 'What was posted with it' },
  receivedAt: { type: 'string' },
} as const

/** The rules by which a visit matches events of a name and key. */
export type EventRules = {
  /** The earliest time: the start of the run, or of the visit. */
  since: 'run' | 'step'
  /** An expression that must be true; null for any event. */
  when: string | null
  /** The values that the expression refers to, besides the event. */
  values: JsonObject
}
