import { and, desc, eq, isNotNull, sql } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { exitOf, exitsOf } from '../../definition/exits'
import { isJsonObject, own } from '../../definition/json'
import type { Definition, Step } from '../../definition/schema'
import { findStepType } from '../../steps/registry'
import type { RunMasker } from '../../vault/hide'

/** How many of the latest to read. A loop takes the same exit again and again. */
const TURNS = 20

/** A step with several exits, and the one the run took. */
export interface Turn {
  stepId: string
  stepName: string
  exit: string
  /** The exit's label. */
  label: string
  /** The step it led to; null if the path ended there. */
  toName: string | null
  at: string
  /** Why it failed, if its `error` exit was taken. */
  error: string | null
}

/**
 * The exits a run took at its latest steps with several, oldest first; for a loop, only the last time.
 * @param definitionAt what the run followed at the time
 */
export async function readTurns(
  ctx: ServiceContext,
  runId: string,
  definitionAt: (at: Date) => Definition | null,
  hiding: RunMasker,
): Promise<Turn[]> {
  // The author wrote the names; an error may quote a sensitive value.
  const masker = hiding.vault
  const rows = await ctx.db
    .select({
      stepId: stepRecords.stepId,
      stepName: stepRecords.stepName,
      exit: stepRecords.exit,
      endTime: stepRecords.endTime,
      error: sql<string | null>`case when ${stepRecords.exit} = 'error' then ${stepRecords.error} end`,
    })
    .from(stepRecords)
    .where(and(eq(stepRecords.tenantId, ctx.tenantId), eq(stepRecords.runId, runId), isNotNull(stepRecords.exit)))
    .orderBy(desc(stepRecords.seq))
    .limit(TURNS)
  const last = rows.filter(({ stepId }, at) => rows.findIndex((row) => row.stepId === stepId) === at)
  return last.reverse().flatMap(({ stepId, stepName, exit, endTime, error }) => {
    // Finishing all branches is no decision.
    if (exit === null || exit === 'done' || endTime === null) return []
    const definition = definitionAt(endTime)
    if (!definition) return []
    const toName = targetOf(definition, stepId, exit)
    return [
      {
        stepId,
        stepName: masker.text(stepName),
        exit,
        label: masker.text(labelOf(definition, stepId, exit)),
        toName: toName === null ? null : masker.text(toName),
        at: endTime.toISOString(),
        error: error === null ? null : hiding.text(error),
      },
    ]
  })
}

function findStep({ steps }: Definition, stepId: string): Step | undefined {
  return steps.find(({ id }) => id === stepId)
}

function labelOf(definition: Definition, stepId: string, exit: string): string {
  const step = findStep(definition, stepId)
  const type = step && findStepType(step.type)
  return (type && exitsOf(type.exits, step).find(({ id }) => id === exit)?.label) ?? exit
}

/** A listed exit without an edge takes `next`. */
function targetOf(definition: Definition, stepId: string, exit: string): string | null {
  const leaving = definition.edges.filter(({ from }) => from === stepId)
  const edge = leaving.find((one) => exitOf(one) === exit) ?? leaving.find((one) => exitOf(one) === 'next')
  const step = edge && findStep(definition, edge.to)
  const name = step && isJsonObject(step) ? own(step, 'name') : undefined
  return edge ? (typeof name === 'string' && name !== '' ? name : edge.to) : null
}
