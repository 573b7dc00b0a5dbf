import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { tenantMasker } from '../vault/masker'
import { unmaskedBody } from '../vault/unmask'
import { findRow } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'
import { findInbound, type OneInbound } from './find'
import { getInbound } from './list'
import { presentInbound } from './present'
import { CreateInbound, UpdateInbound } from './schema'
import { madeSecret } from './secrets'
import { changeInbound, checkMapping, insertInbound, removeInbound } from './write'

/**
 * Creates an inbound webhook. Only this result contains its secret, if the product generated it.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, INVALID_INPUT, CONFLICT
 */
export async function createInbound(ctx: ServiceContext, { workflowId, body }: { workflowId: string; body: unknown }) {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    await findRow(tx, WORKFLOW, workflowId)
    const { secret, ...content } = parseInput(CreateInbound, body)
    const made = secret === undefined ? madeSecret(content.scheme) : null
    const row = await insertInbound(tx, newId('inb'), { workflowId, ...content }, secret ?? made)
    await checkMapping(tx, workflowId, content.mapping)
    return { ...presentInbound(row, null, await tenantMasker(tx), tx.now()), secret: made }
  })
}

/**
 * Changes the fields in the body. Secrets stay, and so does a vault value that the caller saw as `***` and sends back.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND, INVALID_INPUT
 */
export async function updateInbound(ctx: ServiceContext, { body, ...one }: OneInbound & { body: unknown }) {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const old = await findInbound(tx, one, { lock: true })
    const { name, mapping, when } = old
    const changes = parseInput(UpdateInbound, unmaskedBody(body, { name, mapping, when }, await tenantMasker(tx)))
    if (changes.mapping) await checkMapping(tx, one.workflowId, changes.mapping)
    await changeInbound(tx, old, changes)
    return getInbound(tx, one)
  })
}

/**
 * Deletes an inbound webhook with its deliveries. Its runs stay.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND
 */
export async function deleteInbound(ctx: ServiceContext, one: OneInbound): Promise<{ id: string; deleted: true }> {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const webhook = await findInbound(tx, one, { lock: true })
    await removeInbound(tx, webhook)
    return { id: webhook.id, deleted: true }
  })
}
