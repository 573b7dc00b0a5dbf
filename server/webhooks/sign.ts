import { createHmac } from 'node:crypto'

interface Message {
  id: string
  body: string
}

/**
 * The headers of the Standard Webhooks specification. A receiver accepts a message with any valid signature, so
 * rotating a secret loses none.
 * @param at the time of this attempt, by which receivers reject replays
 */
export function signedHeaders({ id, body }: Message, at: Date, keys: readonly Buffer[]): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000)
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') }
}
