import type { WebhookEndpoint } from '@/server/webhooks/present'

/** What the titles of dialogs call a webhook: an address may be long, and it has no other name. */
export function calledOf({ description, url }: Pick<WebhookEndpoint, 'description' | 'url'>): string {
  return description || new URL(url).host
}
