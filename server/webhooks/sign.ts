import { createHmac } from 'node:crypto'

interface Message {
  id: string
  body: string
}

/**
 * The headers of the Standard Webhooks specification. A receiver accepts the message if any of the signatures is right,
 * so a secret can be replaced without losing one.
 * @param at the time of this attempt, by which receivers refuse what somebody recorded and sends again
 */
export function signedHeaders({ id, body }: Message, at: Date, keys: readonly Buffer[]): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000)
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') }
}
