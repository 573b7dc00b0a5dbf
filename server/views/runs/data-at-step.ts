import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { type JsonObject, type JsonValue, jsonSize, own } from '../../definition/json'
import type { Field, Fields } from '../../definition/schema'
import { sensitiveFields } from '../../definition/sensitive'
import { StepRef } from '../../definition/step-ref'
import { parseInput } from '../../parse'
import { definitionOf, pinnedDefinition } from '../../run-store/definition'
import { getRunRow } from '../../run-store/find-run'
import { dataBefore } from '../../runs/progress'
import { positionOf } from '../../runs/rerun-from'
import { runMaskerOf } from '../../runs/run-masker'

export const ReadDataAtStep = z.object({ runId: z.string(), stepId: StepRef })
export type ReadDataAtStep = z.input<typeof ReadDataAtStep>

/** The capacity of the form that edits it. */
const MAX_BYTES = 256 * 1024

export interface DataAtStep {
  /** The type of each field: as START declares it, otherwise by its value. */
  fields: Fields
  values: JsonObject
  /** The names of fields that are too large. */
  leftOut: string[]
}

/**
 * The run data with which a run can continue at a step: the data before the latest visit of it. Hides everything that
 * screens hide.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT if the run never came to the step on its main path
 */
export async function readDataAtStep(ctx: ServiceContext, input: unknown): Promise<DataAtStep> {
  authorize(ctx, 'run:read')
  const { runId, stepId } = parseInput(ReadDataAtStep, input)
  return withTransaction(ctx, async (tx) => {
    const run = await getRunRow(tx, runId)
    const { data } = await dataBefore(tx, run, sql`${await positionOf(tx, run, stepId)}`)
    const [{ payload }, hides, masker] = await Promise.all([
      definitionOf(tx, run),
      pinnedDefinition(tx, run.workflowId, run.workflowVersion).then(sensitiveFields),
      runMaskerOf(tx, runId),
    ])
    const fields = new Map(Object.entries(masker.vault.json(payload)))
    const values = new Map<string, JsonValue>()
    const leftOut: string[] = []
    let size = 0
    for (const [name, stored] of Object.entries(data)) {
      const value = own(masker.json({ [name]: stored }), name)
      // A field whose name contains a secret cannot be shown.
      if (value === undefined) continue
      const more = jsonSize({ [name]: value })
      if (size + more > MAX_BYTES) {
        fields.delete(name)
        leftOut.push(name)
      } else {
        size += more
        values.set(name, value)
        if (!fields.has(name)) fields.set(name, fieldOf(stored, hides.has(name)))
      }
    }
    return { fields: Object.fromEntries(fields), values: Object.fromEntries(values), leftOut }
  })
}

function fieldOf(value: JsonValue, sensitive: boolean): Field {
  return { type: typeOf(value), ...(sensitive ? { sensitive } : {}) }
}

function typeOf(value: JsonValue): Field['type'] {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'any'
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object'
}
