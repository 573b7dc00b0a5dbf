/** The events that an endpoint can be sent. */
export const WEBHOOK_EVENTS = [
  'run.started',
  'run.paused',
  'run.completed',
  'run.failed',
  'run.cancelled',
  'run.terminated',
  'task.assigned',
  'task.overdue',
] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

/** A secret that messages are signed with, sealed. */
export type WebhookSecret = {
  sealed: string
  createdAt: string
  /** When it stops signing, because another one replaced it; null for the newest. */
  endsAt: string | null
}

/** One try to deliver a message, and what came back. */
export type DeliveryAttempt = {
  at: string
  durationMs: number
  /** The status of the response; null without one. */
  status: number | null
  /** Why there is no response, or why it does not count. */
  error: string | null
  /** How the response begins. */
  response: string | null
}

/** How messages are written: by the Standard Webhooks specification, or for people, as Slack takes them. */
export const WEBHOOK_FORMATS = ['standard', 'slack'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]
