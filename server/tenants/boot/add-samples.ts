import { z } from 'zod'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { MAX_NAME } from '../../definition/schema'
import { AppError } from '../../errors'
import { newId } from '../../ids'
import { parseInput } from '../../parse'
import { create } from '../../versioned/create'
import { WORKFLOW } from '../../workflows/noun'
import { SAMPLE_WORKFLOWS } from '../../workflows/samples'
import { loadSampleParts, loadSamples } from './seed'

/** The samples for new workflows. */
export function listSamples(ctx: ServiceContext) {
  authorize(ctx, 'workflow:read')
  return SAMPLE_WORKFLOWS.map(({ id, definition: { name, description, steps } }) => ({
    id,
    name,
    description,
    steps: steps.length,
  }))
}

/**
 * Adds the sample workflows, agents and tools to the workspace. Existing ones stay as they are, changed or not.
 * @returns the ids of the workflows it added
 */
export async function addSamples(ctx: ServiceContext): Promise<{ added: string[] }> {
  authorize(ctx, 'workflow:publish')
  authorize(ctx, 'agent:publish')
  authorize(ctx, 'tool:publish')
  return withTransaction(ctx, async (tx) => ({ added: await loadSamples(tx) }))
}

const CreateFromSample = z.object({ sampleId: z.string().max(80), name: z.string().trim().min(1).max(MAX_NAME) })

/**
 * Creates a draft from a sample, and its tools and agents.
 * @throws AppError INVALID_INPUT, WORKFLOW_NOT_FOUND
 */
export async function createFromSample(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'workflow:write')
  authorize(ctx, 'agent:publish')
  authorize(ctx, 'tool:publish')
  const { sampleId, name } = parseInput(CreateFromSample, input)
  const sample = SAMPLE_WORKFLOWS.find(({ id }) => id === sampleId)
  if (!sample) throw new AppError('WORKFLOW_NOT_FOUND')
  return withTransaction(ctx, async (tx) => {
    await loadSampleParts(tx)
    return create(tx, WORKFLOW, newId(WORKFLOW.idPrefix), { ...sample.definition, name })
  })
}
