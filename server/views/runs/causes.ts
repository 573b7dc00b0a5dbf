import { z } from 'zod'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { findDefinition } from '../../run-store/definition'
import { type Cause, readCauses } from '../../runs/causes'
import { tenantMasker } from '../../vault/masker'
import { numbersOf } from '../workflows/numbers'

const ReadShownCauses = z.object({ workflowId: z.string().max(100), runId: z.string().max(100).optional() })
export type ReadShownCauses = z.input<typeof ReadShownCauses>

export interface ShownCause extends Cause {
  /** The version's number, as people see it; null for a draft. */
  number: number | null
  stepName: string | null
}

/**
 * The causes of failures of a workflow, and the one of a run, with the names that people see.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function readShownCauses(
  ctx: ServiceContext,
  input: unknown,
): Promise<{ causes: ShownCause[]; of: number; newestOf: number; ofRun: string | null }> {
  const { workflowId, runId } = parseInput(ReadShownCauses, input)
  const { causes, of, newestOf, ofRun } = await readCauses(ctx, {
    workflowId,
    ...(runId === undefined ? {} : { runId }),
  })
  const versions = [...new Set(causes.map(({ version }) => version))]
  const [numberOf, definitions, masker] = await Promise.all([
    numbersOf(
      ctx,
      versions.map((version) => ({ workflowId, version })),
    ),
    Promise.all(versions.map(async (version) => [version, await findDefinition(ctx, workflowId, version)] as const)),
    tenantMasker(ctx),
  ])
  const definitionOf = new Map(definitions)
  const shown = causes.map((cause) => {
    const step = definitionOf.get(cause.version)?.steps.find(({ id }) => id === cause.stepId)
    const name = typeof step?.name === 'string' ? step.name : cause.stepId
    const stepName = name === null ? null : masker.text(name)
    return { ...cause, number: numberOf(workflowId, cause.version), stepName }
  })
  return { causes: shown, of, newestOf, ofRun }
}
