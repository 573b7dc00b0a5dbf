import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { members } from '@/db/schema/members'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { unstorable } from '../definition/json'
import { AppError } from '../errors'
import { parseInput } from '../parse'

const MAX = 30

const Name = z
  .string()
  .trim()
  .min(1, 'Enter a name')
  .max(60)
  .refine((text) => unstorable(text) === null, 'is not valid text')
const SaveRunView = z.object({
  name: Name,
  /** The query string of the list. */
  query: z
    .string()
    .min(1)
    .max(2_000)
    .regex(/^[\w.~%+&=*-]+$/, 'is not a query string'),
})
export type SaveRunView = z.input<typeof SaveRunView>
const DeleteRunView = z.object({ name: Name })
export type DeleteRunView = z.input<typeof DeleteRunView>

/** A filter of the list of runs, saved by a member. */
export type RunView = z.output<typeof SaveRunView>

/**
 * The caller's saved views of the list of runs, by name.
 * @throws AppError FORBIDDEN for a caller that is not a person
 */
export async function listRunViews(ctx: ServiceContext): Promise<RunView[]> {
  const [row] = await ctx.db.select({ views: members.runViews }).from(members).where(ownRow(ctx))
  return row?.views ?? []
}

/**
 * Saves a view, replacing one with the same name.
 * @throws AppError FORBIDDEN, INVALID_INPUT
 */
export async function saveRunView(ctx: ServiceContext, input: unknown): Promise<RunView[]> {
  const view = parseInput(SaveRunView, input)
  return change(ctx, (views) => [...views.filter(({ name }) => name !== view.name), view])
}

/** @throws AppError FORBIDDEN, INVALID_INPUT */
export async function deleteRunView(ctx: ServiceContext, input: unknown): Promise<RunView[]> {
  const gone = parseInput(DeleteRunView, input)
  return change(ctx, (views) => views.filter(({ name }) => name !== gone.name))
}

function change(ctx: ServiceContext, by: (views: RunView[]) => RunView[]): Promise<RunView[]> {
  const own = ownRow(ctx)
  return withTransaction(ctx, async (tx: TransactionContext) => {
    const [row] = await tx.db.select({ views: members.runViews }).from(members).where(own).for('update')
    const views = by(row?.views ?? []).sort((a, b) => a.name.localeCompare(b.name, 'en'))
    if (views.length > MAX) {
      const message = `You have ${MAX} saved views. Delete one first`
      throw new AppError('INVALID_INPUT', { details: [{ path: 'name', message }] })
    }
    await tx.db.update(members).set({ runViews: views }).where(own)
    return views
  })
}

function ownRow({ tenantId, actor }: ServiceContext) {
  if (actor.kind !== 'user') throw new AppError('FORBIDDEN')
  return and(eq(members.tenantId, tenantId), eq(members.userId, actor.id))
}
