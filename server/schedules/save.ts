import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { tenantMasker } from '../vault/masker'
import { unmaskedBody } from '../vault/unmask'
import { findRow } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'
import { findSchedule, type OneSchedule } from './find'
import { getSchedule } from './list'
import { scheduleMasker } from './masker'
import { presentSchedule } from './present'
import { CreateSchedule, UpdateSchedule } from './schema'
import { changeSchedule, checkData, insertSchedule, removeSchedule } from './write'

/**
 * Creates a schedule. It starts the same as a call at that time: the published version.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, INVALID_INPUT, CONFLICT
 */
export async function createSchedule(ctx: ServiceContext, { workflowId, body }: { workflowId: string; body: unknown }) {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    await findRow(tx, WORKFLOW, workflowId)
    const content = { workflowId, ...parseInput(CreateSchedule, body) }
    const row = await insertSchedule(tx, newId('sch'), content)
    await checkData(tx, workflowId, content.data)
    return presentSchedule(row, null, await scheduleMasker(tx, row, await tenantMasker(tx)))
  })
}

/**
 * Changes the fields in the body. A value that the caller saw as `***` and sends back stays.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND, INVALID_INPUT
 */
export async function updateSchedule(ctx: ServiceContext, { body, ...one }: OneSchedule & { body: unknown }) {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const old = await findSchedule(tx, one, { lock: true })
    const { name, data } = old
    const masker = await scheduleMasker(tx, old, await tenantMasker(tx))
    const changes = parseInput(UpdateSchedule, unmaskedBody(body, { name, data }, masker))
    if (changes.data) await checkData(tx, one.workflowId, changes.data)
    await changeSchedule(tx, old, changes)
    return getSchedule(tx, one)
  })
}

/**
 * Deletes a schedule. Its runs stay.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND
 */
export async function deleteSchedule(ctx: ServiceContext, one: OneSchedule): Promise<{ id: string; deleted: true }> {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const schedule = await findSchedule(tx, one, { lock: true })
    await removeSchedule(tx, schedule)
    return { id: schedule.id, deleted: true }
  })
}
