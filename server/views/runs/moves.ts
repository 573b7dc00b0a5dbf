import { sql } from 'drizzle-orm'
import { runMoves } from '@/db/schema/moves'
import { pauses, stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { Definition } from '../../definition/schema'
import { findDefinition } from '../../run-store/definition'
import type { RunRow } from '../../runs/present'
import type { Masker } from '../../vault/mask'
import { type ActorName, nameActors } from '../actors'
import { numbersOf } from '../workflows/numbers'

/** How many of the latest to show. */
const MOVES = 20

/** A move of a run to another version of its workflow. */
export interface ShownMove {
  at: string
  by: ActorName | null
  /** The versions as shown to people; null for a draft. */
  from: number | null
  to: number | null
  fromVersion: number
  /** The `seq` of the run's newest visit then; 0 before the first one. */
  afterSeq: number
  /** The names of the steps whose tasks were asked again, and of those that wait for another event or time. */
  askedAgain: string[]
  waitsAgain: string[]
  droppedVotes: number
  reason: string | null
}

type Row = {
  at: string
  by: string
  fromVersion: number
  toVersion: number
  afterSeq: number
  asked: { name: string; isTask: boolean; votes: number }[]
  reason: string | null
}

/** The latest moves of a run, oldest first. Unmasked. */
export async function readMoves(
  ctx: ServiceContext,
  { id, workflowId }: Pick<RunRow, 'id' | 'workflowId'>,
): Promise<ShownMove[]> {
  const rows = await ctx.db.execute<Row>(sql`
    select m.moved_at at, m.moved_by by, m.from_version "fromVersion", m.to_version "toVersion",
      m.after_seq::float8 "afterSeq", m.reason, (
        select coalesce(json_agg(json_build_object('name', coalesce(s.step_name, p.step_id, ''),
          'isTask', json_typeof(one->'signal') <> 'null', 'votes', json_array_length(one->'votes'))), '[]')
        from json_array_elements(m.asked) one
        left join ${pauses} p on p.tenant_id = m.tenant_id and p.run_id = m.run_id and p.id = one->>'pauseId'
        left join ${stepRecords} s on s.tenant_id = p.tenant_id and s.run_id = p.run_id and s.branch = p.branch
          and s.step_id = p.step_id and s.visit = p.visit) asked
    from ${runMoves} m where m.tenant_id = ${ctx.tenantId} and m.run_id = ${id} order by m.n desc limit ${MOVES}`)
  const versions = [...new Set(rows.flatMap(({ fromVersion, toVersion }) => [fromVersion, toVersion]))]
  const [numberOf, nameOf] = await Promise.all([
    numbersOf(
      ctx,
      versions.map((version) => ({ workflowId, version })),
    ),
    nameActors(
      ctx,
      rows.map(({ by }) => by),
    ),
  ])
  return [...rows].reverse().map(({ at, by, fromVersion, toVersion, afterSeq, asked, reason }) => {
    const named = (isTask: boolean) => [...new Set(asked.flatMap((one) => (one.isTask === isTask ? [one.name] : [])))]
    return {
      ...{ at: new Date(at).toISOString(), by: nameOf(by), fromVersion, afterSeq, reason },
      ...{ from: numberOf(workflowId, fromVersion), to: numberOf(workflowId, toVersion) },
      ...{ askedAgain: named(true), waitsAgain: named(false) },
      droppedVotes: asked.reduce((sum, { votes }) => sum + votes, 0),
    }
  })
}

export function maskMove(move: ShownMove, masker: Masker): ShownMove {
  const { reason, askedAgain, waitsAgain } = move
  return { ...move, ...masker.json({ reason, askedAgain, waitsAgain }) }
}

/**
 * Reads what a moved run followed at each time: a step that ended before a move took its exit under the version of then.
 * @param moves oldest first
 * @param now what it follows now
 */
export async function definitionsOver(
  ctx: ServiceContext,
  { workflowId }: { workflowId: string },
  moves: readonly { at: string; fromVersion: number }[],
  now: Definition | null,
): Promise<(at: Date) => Definition | null> {
  const versions = [...new Set(moves.map(({ fromVersion }) => fromVersion))]
  const read = async (version: number) => [version, await findDefinition(ctx, workflowId, version)] as const
  const known = new Map(await Promise.all(versions.map(read)))
  return (at) => {
    const next = moves.find((move) => Date.parse(move.at) >= at.getTime())
    return next ? (known.get(next.fromVersion) ?? null) : now
  }
}
