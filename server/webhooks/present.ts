import type { Masker } from '../vault/mask'
import type { DeliveryRow, EndpointRow } from './find'
import { stillSigns } from './secrets'

/**
 * An endpoint's name in the audit log: its description or else its host, because the rest of an address may be as good
 * as a secret.
 */
export function named({ id, url, description }: Pick<EndpointRow, 'id' | 'url' | 'description'>) {
  return { id, name: description || new URL(url).host }
}

/** An endpoint without its secrets. */
export function presentEndpoint(row: EndpointRow, waiting: number, now: Date) {
  const { id, url, description, events, format, enabled, disabledReason, createdBy } = row
  return {
    id,
    url,
    description,
    events,
    format,
    enabled,
    disabledReason,
    failingSince: row.failingSince?.toISOString() ?? null,
    deliveredAt: row.deliveredAt?.toISOString() ?? null,
    waiting,
    secrets: row.secrets
      .filter((secret) => stillSigns(secret, now))
      .map(({ createdAt, endsAt }) => ({ createdAt, endsAt })),
    createdBy,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

export type WebhookEndpoint = ReturnType<typeof presentEndpoint>

export function presentDelivery(row: Omit<DeliveryRow, 'body'>, masker: Masker) {
  const { id, type, runId, status, attempts } = row
  return {
    id,
    type,
    runId,
    status,
    attempts: masker.json(attempts),
    nextAttemptAt: status === 'pending' ? row.dueAt.toISOString() : null,
    createdAt: row.createdAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
  }
}

export type WebhookDelivery = ReturnType<typeof presentDelivery>
