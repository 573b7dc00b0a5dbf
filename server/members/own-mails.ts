import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { members } from '@/db/schema/members'
import type { ServiceContext } from '../context'
import { env } from '../env'
import { AppError } from '../errors'
import { parseInput } from '../parse'

const SetMails = z.object({ tasks: z.boolean() })
export type SetMailsInput = z.input<typeof SetMails>

/**
 * Whether the caller gets e-mails about tasks of this tenant, and whether the installation sends any.
 * @throws AppError FORBIDDEN for a caller that is not a person
 */
export async function readOwnMails(ctx: ServiceContext): Promise<{ sends: boolean; tasks: boolean }> {
  const [row] = await ctx.db.select({ tasks: members.taskMails }).from(members).where(ownRow(ctx))
  return { sends: env().SMTP_URL !== undefined, tasks: row?.tasks ?? false }
}

/** @throws AppError FORBIDDEN, INVALID_INPUT */
export async function setOwnMails(ctx: ServiceContext, input: unknown): Promise<{ tasks: boolean }> {
  const { tasks } = parseInput(SetMails, input)
  await ctx.db.update(members).set({ taskMails: tasks }).where(ownRow(ctx))
  return { tasks }
}

function ownRow({ tenantId, actor }: ServiceContext) {
  if (actor.kind !== 'user') throw new AppError('FORBIDDEN')
  return and(eq(members.tenantId, tenantId), eq(members.userId, actor.id))
}
