import type { Masker } from '../vault/mask'
import type { InboundDeliveryRow, InboundRow } from './find'
import { isAccepted } from './secrets'

/** An inbound webhook without its secrets. `path` is relative to the service's address. */
export function presentInbound(row: InboundRow, last: ListedDelivery | null, masker: Masker, now: Date) {
  const { id, workflowId, name, scheme, signatureHeader, encoding, idHeader, mapping, when, enabled } = row
  return {
    id,
    workflowId,
    name: masker.text(name),
    path: `/api/hooks/${row.token}`,
    scheme,
    signatureHeader,
    encoding,
    idHeader,
    secrets: row.secrets
      .filter((secret) => isAccepted(secret, now))
      .map(({ createdAt, endsAt }) => ({ createdAt, endsAt })),
    // An expression may compare with a value of the vault.
    mapping: masker.json(mapping),
    when: when && masker.text(when),
    enabled,
    last: last && presentInboundDelivery(last, masker),
    refused:
      row.refusedAt && row.refusal !== null
        ? { at: row.refusedAt.toISOString(), reason: masker.text(row.refusal) }
        : null,
    createdBy: row.createdBy,
    updatedBy: row.updatedBy,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

export type InboundWebhook = ReturnType<typeof presentInbound>

export type ListedDelivery = Omit<InboundDeliveryRow, 'body' | 'headers' | 'query'>

export function presentInboundDelivery(row: ListedDelivery, masker: Masker) {
  const { id, status, runId, error, replayOf } = row
  return {
    id,
    status,
    runId,
    error: error && masker.text(error),
    replayOf,
    replayedBy: row.createdBy,
    createdAt: row.createdAt.toISOString(),
  }
}

export type InboundDelivery = ReturnType<typeof presentInboundDelivery>
