import { z } from 'zod'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { expand } from '../../definition/expand'
import { StepRef } from '../../definition/step-ref'
import { inSlices } from '../../give-way'
import { parseInput } from '../../parse'
import { findRow } from '../../versioned/rows'
import { flowing } from '../../workflows/check/flow'
import { knownOutputs } from '../../workflows/check/known-outputs'
import { stepsLeadingTo } from '../../workflows/check/leading-to'
import { type ScopeEntry, scopeOf } from '../../workflows/check/scope'
import { newDefinition } from '../../workflows/definition'
import { WORKFLOW } from '../../workflows/noun'
import { CreateWorkflow } from '../../workflows/schema'

const ReadScope = z.object({
  workflowId: z.string(),
  /** The definition in the editor, saved or not. */
  definition: CreateWorkflow.extend({ name: z.string().max(10_000).default('') }),
  stepId: StepRef,
})
export type ReadScope = z.input<typeof ReadScope>

export interface Scope {
  entries: ScopeEntry[]
  /** An earlier step may add fields of any name, so other names may be valid too. */
  open: boolean
}

/**
 * The names `${…}` can refer to in a step, with types.
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function readScope(ctx: ServiceContext, input: unknown): Promise<Scope> {
  authorize(ctx, 'workflow:read')
  const { workflowId, definition: sent, stepId } = parseInput(ReadScope, input)
  const definition = newDefinition(sent)
  await findRow(ctx, WORKFLOW, workflowId)
  const expanded = expand(definition)
  const outputs = await knownOutputs(ctx, expanded, stepsLeadingTo(expanded, stepId))
  const flow = await inSlices(ctx.tenantId, flowing(expanded, outputs))
  return scopeOf(definition, stepId, flow)
}
