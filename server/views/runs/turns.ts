import { and, desc, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { isJsonObject, own } from '../../definition/json'
import { exitOf } from '../../definition/next-step'
import type { Definition } from '../../definition/schema'
import type { Masker } from '../../vault/mask'

/** How many of the latest to read. */
const TURNS = 5

/** A step with several ways on, and the one the run took. */
export interface Turn {
  stepId: string
  stepName: string
  /** The exit; null if the run went on another way, such as a jump. */
  exit: string | null
  /** The step it went on to. */
  toName: string
}

/** Which way the run went at its latest steps with several exits, oldest first. */
export async function readTurns(
  ctx: ServiceContext,
  runId: string,
  definition: Definition,
  masker: Masker,
): Promise<Turn[]> {
  const forks = forksOf(definition)
  if (forks.length === 0) return []
  const { tenantId } = ctx
  const rows = await ctx.db
    .select({
      stepId: stepRecords.stepId,
      stepName: stepRecords.stepName,
      // Records of the older kind only say that the walk went on.
      to: sql<string | null>`coalesce(${stepRecords.receipt}->'next'->>'stepId', (
        select n.step_id from step_records n where n.tenant_id = ${tenantId} and n.run_id = ${runId}
          and n.branch = ${stepRecords.branch} and n.seq > ${stepRecords.seq} order by n.seq limit 1))`,
    })
    .from(stepRecords)
    .where(
      and(
        eq(stepRecords.tenantId, tenantId),
        eq(stepRecords.runId, runId),
        inArray(stepRecords.stepId, forks),
        isNotNull(stepRecords.endTime),
      ),
    )
    .orderBy(desc(stepRecords.seq))
    .limit(TURNS)
  return rows.reverse().flatMap(({ stepId, stepName, to }) => {
    if (to === null) return []
    const edge = definition.edges.find((one) => one.from === stepId && one.to === to)
    return [
      {
        stepId,
        stepName: masker.text(stepName),
        exit: edge ? masker.text(exitOf(edge)) : null,
        toName: masker.text(nameOf(definition, to)),
      },
    ]
  })
}

/** Steps that connections leave by more than one exit. */
function forksOf({ edges }: Definition): string[] {
  const exits = new Map<string, Set<string>>()
  for (const edge of edges) exits.set(edge.from, (exits.get(edge.from) ?? new Set()).add(exitOf(edge)))
  return [...exits].flatMap(([stepId, ways]) => (ways.size > 1 ? [stepId] : []))
}

function nameOf({ steps }: Definition, stepId: string): string {
  const step = steps.find(({ id }) => id === stepId)
  const name = isJsonObject(step) ? own(step, 'name') : undefined
  return typeof name === 'string' && name !== '' ? name : stepId
}
