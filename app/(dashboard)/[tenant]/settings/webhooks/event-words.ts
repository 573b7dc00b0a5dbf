import type { WebhookEvent } from '@/server/definition/webhook'

export const EVENT_WORDS: Record<WebhookEvent, string> = {
  'run.started': 'A run starts',
  'run.paused': 'A run waits for someone',
  'run.completed': 'A run completes',
  'run.failed': 'A run fails or times out',
  'run.cancelled': 'A run is cancelled',
  'run.terminated': 'A run is terminated',
  'task.assigned': 'A task is assigned to people',
  'task.overdue': 'A task is overdue',
  'task.reminded': 'A reminder of a task is sent',
}

/** A delivery's event in words. */
export function eventOf(type: string): string {
  return type === 'webhook.test' ? 'A test' : eventInList(type, true)
}

/**
 * An event as part of a list; a former event under its stored name.
 * @param first whether it begins the list, and so a sentence
 */
export function eventInList(event: string, first = false): string {
  const words = Object.hasOwn(EVENT_WORDS, event) ? EVENT_WORDS[event as WebhookEvent] : event
  return first ? words : words.replace(/^A /, 'a ')
}
