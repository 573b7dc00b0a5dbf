import { and, asc, eq } from 'drizzle-orm'
import { pauseVotes } from '@/db/schema/runs'
import { taskClaims } from '@/db/schema/tasks'
import type { ServiceContext, TransactionContext } from '../context'
import { sameName, type Vote, votesNeeded } from '../definition/people'
import type { PauseAnswer } from '../definition/run'
import { AppError } from '../errors'
import { touchRun } from '../interpreter/index'
import type { Held } from '../run-store/held'
import { claimIs } from './claim-row'
import { decisionParts } from './decision-parts'
import type { Person } from './person'

type Choice = Extract<PauseAnswer, { actionId: string }>

/**
 * Counts a person's vote at an open pause.
 * @returns the decision as it would be stored now, with all votes, and whether this vote makes it
 * @throws AppError ALREADY_VOTED
 */
export async function castVote(
  tx: Held,
  at: { runId: string; pauseId: string; needs: Record<string, number>; at?: Date | undefined },
  { person, via }: { person: Person; via: string | null },
  { actionId, actionValue, data, remark }: Choice,
): Promise<{ decision: Choice; isDecided: boolean }> {
  const { runId, pauseId } = at
  await requireNoVote(tx, at, person)
  const cast = await tx.db
    .insert(pauseVotes)
    .values({
      tenantId: tx.tenantId,
      ...{ runId, pauseId, actionId, actionValue, data, remark },
      person: person.id,
      name: person.name,
      via,
      createdAt: at.at ?? tx.now(),
    })
    .onConflictDoNothing()
    .returning({ person: pauseVotes.person })
  if (cast.length === 0) throw alreadyVoted(person)
  // A person who has voted has no more work here.
  const key = { tenantId: tx.tenantId, runId, pauseId }
  await tx.db.delete(taskClaims).where(and(claimIs(key), eq(taskClaims.person, person.id)))
  const votes = await votesAt(tx, runId, pauseId)
  const isDecided = votes.filter((vote) => vote.actionId === actionId).length >= votesNeeded(at.needs, actionId)
  if (!isDecided) await touchRun(tx, runId)
  return { decision: { actionId, actionValue, ...decisionParts({ data, remark }), votes }, isDecided }
}

/**
 * Checks that a person may still vote, without voting.
 * @throws AppError ALREADY_VOTED
 */
export async function requireNoVote(
  ctx: ServiceContext,
  pause: { runId: string; pauseId: string },
  person: Person,
): Promise<void> {
  if (await hasVoted(ctx, pause, person)) throw alreadyVoted(person)
}

/** Whether a person has cast their one vote at a pause. */
export async function hasVoted(
  { tenantId, db }: ServiceContext,
  { runId, pauseId }: { runId: string; pauseId: string },
  person: Person,
): Promise<boolean> {
  const votes = await db
    .select({ by: pauseVotes.person })
    .from(pauseVotes)
    .where(and(eq(pauseVotes.tenantId, tenantId), eq(pauseVotes.runId, runId), eq(pauseVotes.pauseId, pauseId)))
  // Names used to be stored as written.
  return votes.some(({ by }) => sameName(by) === person.id)
}

function alreadyVoted({ name }: Person): AppError {
  return new AppError('ALREADY_VOTED', { details: [{ message: `${name} has already voted, and a vote is final.` }] })
}

/** The credential that answers on behalf of another person; null for one that answers for itself. */
export function viaOf({ actor }: ServiceContext, person: Person): string | null {
  return actor.kind === 'apiKey' && actor.id !== person.id ? actor.id : null
}

/** The votes at a pause, oldest first. */
async function votesAt(tx: TransactionContext, runId: string, pauseId: string): Promise<Vote[]> {
  const { person, name, actionId, data, remark } = pauseVotes
  const rows = await tx.db
    .select({ by: person, name, actionId, data, remark })
    .from(pauseVotes)
    .where(and(eq(pauseVotes.tenantId, tx.tenantId), eq(pauseVotes.runId, runId), eq(pauseVotes.pauseId, pauseId)))
    .orderBy(asc(pauseVotes.createdAt), asc(person))
  return rows.map(({ data, remark, ...vote }) => ({ ...vote, ...decisionParts({ data, remark }) }))
}
