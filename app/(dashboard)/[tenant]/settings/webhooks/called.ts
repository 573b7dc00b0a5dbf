import type { WebhookEndpoint } from '@/server/webhooks/present'

/** A webhook's name in dialog titles: its URL may be long, and it has no other name. */
export function calledOf({ description, url }: Pick<WebhookEndpoint, 'description' | 'url'>): string {
  return description || new URL(url).host
}
