import { and, asc, eq, isNull, lt } from 'drizzle-orm'
import { members, users } from '@/db/schema/members'
import { heldAnswers } from '@/db/schema/tasks'
import { forEachAtOnce } from '@/lib/for-each-at-once'
import { authorize } from '../../auth/policy'
import { type Actor, type ServiceContext, type Sweep, systemContext, withTransaction } from '../../context'
import { AppError } from '../../errors'
import { fairOrder } from '../../query/fair-order'
import { roleOf } from '../../roles'
import { hold } from '../../run-store/held'
import { giveAnswer } from '../resume'
import { type HeldKey, heldIs } from './row'

const BATCH = 200
const AT_ONCE = 4
/** By then its event has been handled, or was lost. */
const OVERDUE_MS = 5_000

/**
 * Gives a held answer, with the person's current rights and the time at which they answered. The same transaction
 * deletes the row, so an answer is given once, however often this is called, and an undone one never. If it can no
 * longer be given, the row stays with the reason, for its person to read.
 * @param at.until if it belongs to another answer of the same person, nothing is done
 */
export async function giveHeld(ctx: ServiceContext, at: Omit<HeldKey, 'tenantId'> & { until: Date }): Promise<void> {
  const key = { ...at, tenantId: ctx.tenantId }
  const held = and(heldIs(key), eq(heldAnswers.until, at.until), isNull(heldAnswers.refused))
  try {
    await withTransaction(ctx, async (tx) => {
      // Lock the run before the row, as `holdAnswer` does.
      await hold(tx, key)
      const [row] = await tx.db.delete(heldAnswers).where(held).returning()
      if (!row) return
      const person = { ...tx, actor: await actorOf(tx, row.person) }
      authorize(person, 'task:answer')
      await giveAnswer(person, row.runId, row.answer, { at: row.heldAt })
    })
  } catch (err) {
    if (!(err instanceof AppError) || err.status >= 500) throw err
    const refused = { code: err.code, message: err.details[0]?.message ?? err.message }
    await ctx.db.update(heldAnswers).set({ refused }).where(held)
  }
}

/** @throws AppError FORBIDDEN if they are no longer a member */
async function actorOf({ tenantId, db }: ServiceContext, person: string): Promise<Actor> {
  const [member] = await db
    .select({ name: users.name, role: members.role })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.tenantId, tenantId), eq(members.userId, person)))
  if (!member) throw new AppError('FORBIDDEN')
  return { kind: 'user', id: person, name: member.name, sessionId: '', role: roleOf(member.role) }
}

/** Gives the answers whose event was lost: of each tenant in turn. */
export async function sweepHeld({ db, log, now }: Sweep): Promise<number> {
  const left = await db
    .select()
    .from(heldAnswers)
    .where(and(isNull(heldAnswers.refused), lt(heldAnswers.until, new Date(now().getTime() - OVERDUE_MS))))
    .orderBy(fairOrder(heldAnswers.tenantId, heldAnswers.until), asc(heldAnswers.until))
    .limit(BATCH)
  await forEachAtOnce(left, AT_ONCE, async ({ tenantId, runId, pauseId, person, until }) => {
    log.warn({ tenantId, runId, pauseId }, 'a held answer was overdue; giving it')
    await giveHeld(systemContext({ tenantId, db, log, now }), { runId, pauseId, person, until }).catch((err: unknown) =>
      log.error({ err, tenantId, runId, pauseId }, 'a held answer could not be given'),
    )
  })
  return left.length
}
