/** The events that an endpoint can subscribe to. */
export const WEBHOOK_EVENTS = [
  'run.started',
  'run.paused',
  'run.completed',
  'run.failed',
  'run.cancelled',
  'run.terminated',
  'task.assigned',
  'task.overdue',
  'task.reminded',
] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

/** A secret that messages are signed with, sealed. */
export type WebhookSecret = {
  sealed: string
  createdAt: string
  /** When it stops signing, because another one replaced it; null for the newest. */
  endsAt: string | null
}

/** One attempt to deliver a message, and its response. */
export type DeliveryAttempt = {
  at: string
  durationMs: number
  /** The status of the response; null without one. */
  status: number | null
  /** Why no response arrived, or why it does not count. */
  error: string | null
  /** The beginning of the response. */
  response: string | null
}

/** The format of messages: the Standard Webhooks specification, or one for people, as Slack accepts it. */
export const WEBHOOK_FORMATS = ['standard', 'slack'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]
