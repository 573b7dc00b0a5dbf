import { randomBytes } from 'node:crypto'
import { and, eq } from 'drizzle-orm'
import { inboundWebhooks } from '@/db/schema/inbound'
import { record, recordChanges } from '../audit/record'
import type { TransactionContext } from '../context'
import { type AuditDetails, differences } from '../definition/audit'
import type { Scheme } from '../definition/inbound'
import { AppError, type ErrorDetail, ImpossibleState } from '../errors'
import { findWhole } from '../versioned/row-at'
import { findRow } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'
import { type InboundRow, inboundIs } from './find'
import type { Settings } from './schemes/scheme'
import { isStandardSecret } from './schemes/standard'
import { openSecrets, sealSecret } from './secrets'

const MAX_INBOUND = 50
const TOKEN_BYTES = 32

/** The fields that people set; the address and the secrets are not among them. */
export type InboundContent = Pick<
  InboundRow,
  'workflowId' | 'name' | 'scheme' | 'signatureHeader' | 'encoding' | 'idHeader' | 'mapping' | 'when' | 'enabled'
>

/**
 * Inserts an inbound webhook. `checkMapping` checks that its mapping fits the workflow.
 * @param secret without one, it rejects signed deliveries until it gets one
 * @param by more details for its audit entry
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, INVALID_INPUT, CONFLICT
 */
export async function insertInbound(
  tx: TransactionContext,
  id: string,
  content: InboundContent,
  secret: string | null,
  by: AuditDetails = {},
): Promise<InboundRow> {
  const { workflowId, scheme, enabled } = content
  await requireStartable(tx, workflowId)
  const { tenantId, actor } = tx
  const at = tx.now()
  const [row] = await tx.db
    .insert(inboundWebhooks)
    .values({
      ...{ tenantId, id, ...content, ...settingsOf(scheme, content) },
      token: randomBytes(TOKEN_BYTES).toString('base64url'),
      secrets: secret === null ? [] : [sealSecret(tx, id, scheme, secret)],
      ...{ createdBy: actor.id, updatedBy: actor.id, createdAt: at, updatedAt: at },
    })
    .returning()
  if (!row) throw new ImpossibleState('inbound-not-inserted', workflowId)
  await record(tx, 'inboundWebhook.created', row, { workflow: workflowId, scheme, enabled, ...by })
  return row
}

/**
 * Changes a locked inbound webhook. Its address and its secrets stay.
 * @throws AppError INVALID_INPUT; WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, CONFLICT for a change of its workflow
 */
export async function changeInbound(
  tx: TransactionContext,
  old: InboundRow,
  changes: { [F in keyof InboundContent]?: InboundContent[F] | undefined },
  by: AuditDetails = {},
): Promise<void> {
  const { workflowId = old.workflowId, scheme = old.scheme, name = old.name } = changes
  if (workflowId !== old.workflowId) await requireStartable(tx, workflowId)
  const { signatureHeader = old.signatureHeader, encoding = old.encoding, idHeader = old.idHeader } = changes
  const settings = settingsOf(scheme, { signatureHeader, encoding, idHeader })
  if (scheme === 'standard' && !openSecrets(tx, old).every(isStandardSecret))
    throw refused({ path: 'scheme', message: 'needs a secret of another form: rotate the secret first' })
  await tx.db
    .update(inboundWebhooks)
    .set({
      ...{ workflowId, name, scheme, ...settings },
      mapping: changes.mapping ?? old.mapping,
      when: changes.when === undefined ? old.when : changes.when,
      enabled: changes.enabled ?? old.enabled,
      // The last refusal was by the old rules.
      ...{ refusedAt: null, refusal: null },
      updatedBy: tx.actor.id,
      updatedAt: tx.now(),
    })
    .where(inboundIs(tx, { workflowId: old.workflowId, inboundId: old.id }))
  // A condition may compare with a secret of the sender.
  const changed = differences(old, changes, ['when'])
  const context = { workflow: old.workflowId, ...by }
  await recordChanges(tx, 'inboundWebhook.updated', { id: old.id, name }, changed, context)
}

/** Deletes a locked inbound webhook with its deliveries. Its runs stay. */
export async function removeInbound(tx: TransactionContext, old: InboundRow, by: AuditDetails = {}): Promise<void> {
  await tx.db.delete(inboundWebhooks).where(inboundIs(tx, { workflowId: old.workflowId, inboundId: old.id }))
  await record(tx, 'inboundWebhook.deleted', old, { workflow: old.workflowId, ...by })
}

/**
 * Rejects a mapping to fields missing in the version that would start.
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function checkMapping(
  tx: TransactionContext,
  workflowId: string,
  mapping: Record<string, string>,
): Promise<void> {
  const { content } = await findWhole(tx, WORKFLOW, workflowId, 'started')
  const unknown = Object.keys(mapping).filter((name) => !Object.hasOwn(content.payload, name))
  if (unknown.length > 0)
    throw refused(...unknown.map((name) => ({ path: `mapping.${name}`, message: 'is not a field of START' })))
}

/** The settings that the scheme uses. @throws AppError INVALID_INPUT */
export function settingsOf(scheme: Scheme, { signatureHeader, encoding, idHeader }: Settings): Settings {
  if (scheme === 'hmac' && signatureHeader === null)
    throw refused({ path: 'signatureHeader', message: 'must name the header of the signature' })
  return {
    signatureHeader: scheme === 'hmac' ? signatureHeader : null,
    encoding: scheme === 'hmac' ? (encoding ?? 'hex') : null,
    idHeader: scheme === 'hmac' || scheme === 'none' ? idHeader : null,
  }
}

/**
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, CONFLICT if it already has the maximum of inbound webhooks
 */
async function requireStartable(tx: TransactionContext, workflowId: string): Promise<void> {
  const workflow = await findRow(tx, WORKFLOW, workflowId)
  if (workflow.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
  const where = and(eq(inboundWebhooks.tenantId, tx.tenantId), eq(inboundWebhooks.workflowId, workflowId))
  if ((await tx.db.$count(inboundWebhooks, where)) >= MAX_INBOUND)
    throw new AppError('CONFLICT', { message: `A workflow has at most ${MAX_INBOUND} inbound webhooks` })
}

function refused(...details: ErrorDetail[]): AppError {
  return new AppError('INVALID_INPUT', { details })
}
