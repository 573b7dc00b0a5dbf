import { randomBytes } from 'node:crypto'
import { and, eq, sql } from 'drizzle-orm'
import { inboundWebhooks } from '@/db/schema/inbound'
import { workflows } from '@/db/schema/workflows'
import { record, recordChanges } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { differences } from '../definition/audit'
import type { Scheme } from '../definition/inbound'
import { AppError, type ErrorDetail, ImpossibleState } from '../errors'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { tenantMasker } from '../vault/masker'
import { findRow, findWhole } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'
import { findInbound, inboundIs, type OneInbound } from './find'
import { getInbound } from './list'
import { presentInbound } from './present'
import { CreateInbound, UpdateInbound } from './schema'
import type { Settings } from './schemes/scheme'
import { isStandardSecret } from './schemes/standard'
import { madeSecret, openSecrets, sealSecret } from './secrets'

const MOST_INBOUND = 50
const TOKEN_BYTES = 32

/**
 * Creates an inbound webhook. Only this result contains its secret, if the product made it.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, INVALID_INPUT, CONFLICT
 */
export async function createInbound(ctx: ServiceContext, { workflowId, body }: { workflowId: string; body: unknown }) {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const workflow = await findRow(tx, WORKFLOW, workflowId)
    if (workflow.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
    const { name, scheme, secret, mapping, when, enabled, ...given } = parseInput(CreateInbound, body)
    const settings = settingsOf(scheme, given)
    await checkMapping(tx, workflowId, mapping)
    const { tenantId, actor } = tx
    const where = and(eq(inboundWebhooks.tenantId, tenantId), eq(inboundWebhooks.workflowId, workflowId))
    if ((await tx.db.$count(inboundWebhooks, where)) >= MOST_INBOUND)
      throw new AppError('CONFLICT', { message: `A workflow has at most ${MOST_INBOUND} inbound webhooks` })
    const id = newId('inb')
    const made = secret === undefined ? madeSecret(scheme) : null
    const known = secret ?? made
    const at = tx.now()
    const [row] = await tx.db
      .insert(inboundWebhooks)
      .values({
        ...{ tenantId, id, workflowId, name, scheme, ...settings, mapping, when, enabled },
        token: randomBytes(TOKEN_BYTES).toString('base64url'),
        secrets: known === null ? [] : [sealSecret(tx, id, scheme, known)],
        ...{ createdBy: actor.id, updatedBy: actor.id, createdAt: at, updatedAt: at },
      })
      .returning()
    if (!row) throw new ImpossibleState('inbound-not-inserted', workflowId)
    await record(tx, 'inboundWebhook.created', row, { workflow: workflowId, scheme, enabled })
    return { ...presentInbound(row, null, await tenantMasker(tx), at), secret: made }
  })
}

/**
 * Changes what the body names. Secrets stay as they are.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND, INVALID_INPUT
 */
export async function updateInbound(ctx: ServiceContext, { body, ...one }: OneInbound & { body: unknown }) {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const old = await findInbound(tx, one, { lock: true })
    const changes = parseInput(UpdateInbound, body)
    if (changes.mapping) await checkMapping(tx, one.workflowId, changes.mapping)
    const scheme = changes.scheme ?? old.scheme
    const { signatureHeader = old.signatureHeader, encoding = old.encoding, idHeader = old.idHeader } = changes
    const settings = settingsOf(scheme, { signatureHeader, encoding, idHeader })
    if (scheme === 'standard' && !openSecrets(tx, old).every(isStandardSecret))
      throw refused({ path: 'scheme', message: 'needs a secret of another form: rotate the secret first' })
    await tx.db
      .update(inboundWebhooks)
      .set({
        ...{ scheme, ...settings },
        name: changes.name ?? old.name,
        mapping: changes.mapping ?? old.mapping,
        when: changes.when === undefined ? old.when : changes.when,
        enabled: changes.enabled ?? old.enabled,
        // What was refused was refused by other rules.
        ...{ refusedAt: null, refusal: null },
        updatedBy: tx.actor.id,
        updatedAt: tx.now(),
      })
      .where(inboundIs(tx, one))
    const { name = old.name } = changes
    // A condition may compare with a secret of the sender.
    const changed = differences(old, changes, ['when'])
    await recordChanges(tx, 'inboundWebhook.updated', { id: old.id, name }, changed, { workflow: one.workflowId })
    return getInbound(tx, one)
  })
}

/**
 * Deletes an inbound webhook with its deliveries. Runs it has started stay.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND
 */
export async function deleteInbound(ctx: ServiceContext, one: OneInbound): Promise<{ id: string; deleted: true }> {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const webhook = await findInbound(tx, one, { lock: true })
    await tx.db.delete(inboundWebhooks).where(inboundIs(tx, one))
    await record(tx, 'inboundWebhook.deleted', webhook, { workflow: one.workflowId })
    return { id: webhook.id, deleted: true }
  })
}

/** The settings that the scheme has. @throws AppError INVALID_INPUT */
function settingsOf(scheme: Scheme, { signatureHeader, encoding, idHeader }: Settings): Settings {
  if (scheme === 'hmac' && signatureHeader === null)
    throw refused({ path: 'signatureHeader', message: 'must name the header of the signature' })
  return {
    signatureHeader: scheme === 'hmac' ? signatureHeader : null,
    encoding: scheme === 'hmac' ? (encoding ?? 'hex') : null,
    idHeader: scheme === 'hmac' || scheme === 'none' ? idHeader : null,
  }
}

/** Refuses a mapping to fields that the version that would be started does not have. @throws AppError INVALID_INPUT */
async function checkMapping(
  tx: TransactionContext,
  workflowId: string,
  mapping: Record<string, string>,
): Promise<void> {
  const started = sql`coalesce(${workflows.publishedVersion}, ${workflows.version})`
  const { content } = await findWhole(tx, WORKFLOW, workflowId, started)
  const unknown = Object.keys(mapping).filter((name) => !Object.hasOwn(content.payload, name))
  if (unknown.length > 0)
    throw refused(...unknown.map((name) => ({ path: `mapping.${name}`, message: 'is not a field of START' })))
}

function refused(...details: ErrorDetail[]): AppError {
  return new AppError('INVALID_INPUT', { details })
}
