import { and, eq, gt, isNull, lt, lte, or } from 'drizzle-orm'
import { taskMails } from '@/db/schema/task-mails'
import type { ServiceContext } from '../context'
import { cutText, toStorableJson } from '../definition/json'
import { env } from '../env'
import { type MailRow, readTask } from './read'
import { ATTEMPT_MS, isRefused, sendMail } from './send'
import { textOf } from './text'

/** Longer than any attempt. */
const LEASE_MS = 3 * ATTEMPT_MS
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** The waits after each failed attempt: two days in all. Later, nobody wants the mail any more. */
export const WAITS_MS = [
  ...[MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2, 5, 10, 10, 20].map((hours) => hours * HOUR_MS),
]
const MOST_REASON = 500
/** A workflow that asks one person a thousand times fills their inbox here, and not their mailbox. */
export const MOST_PER_HOUR = 50

/**
 * Sends a mail that is due, if there is still something to write about. One call at a time has it, so it is sent once;
 * again only if this process dies or loses the server between handing it over and writing that down.
 */
export async function deliverMail(ctx: ServiceContext, mailId: string): Promise<void> {
  // Another process may have the setting, or this one may get it back.
  if (!env().SMTP_URL) return
  const mail = await lease(ctx, mailId)
  if (!mail) return
  if ((await sentLately(ctx, mail)) >= MOST_PER_HOUR)
    return end(ctx, mail, 'dropped', `The person got ${MOST_PER_HOUR} mails within an hour.`)
  const task = await readTask(ctx, mail)
  if ('dropped' in task) return end(ctx, mail, 'dropped', task.dropped)
  try {
    await sendMail({ id: mail.id, to: task.to, ...textOf(task.mail) })
  } catch (err) {
    return failed(ctx, mail, err)
  }
  await end(ctx, mail, 'sent', null)
}

const mailIs = (ctx: ServiceContext, id: string) => and(eq(taskMails.tenantId, ctx.tenantId), eq(taskMails.id, id))

/** As long as this call has it: one that took too long changes nothing any more. */
const isHeld = (ctx: ServiceContext, { id, leasedUntil }: MailRow) =>
  and(mailIs(ctx, id), leasedUntil ? eq(taskMails.leasedUntil, leasedUntil) : undefined)

async function lease(ctx: ServiceContext, id: string): Promise<MailRow | null> {
  const now = ctx.now()
  const [row] = await ctx.db
    .update(taskMails)
    .set({ leasedUntil: new Date(now.getTime() + LEASE_MS) })
    .where(
      and(
        mailIs(ctx, id),
        eq(taskMails.status, 'pending'),
        lte(taskMails.dueAt, now),
        or(isNull(taskMails.leasedUntil), lt(taskMails.leasedUntil, now)),
      ),
    )
    .returning()
  return row ?? null
}

function sentLately(ctx: ServiceContext, { userId }: MailRow): Promise<number> {
  const since = new Date(ctx.now().getTime() - HOUR_MS)
  return ctx.db.$count(
    taskMails,
    and(
      eq(taskMails.tenantId, ctx.tenantId),
      eq(taskMails.userId, userId),
      eq(taskMails.status, 'sent'),
      gt(taskMails.endedAt, since),
    ),
  )
}

async function failed(ctx: ServiceContext, mail: MailRow, err: unknown): Promise<void> {
  const wait = WAITS_MS[mail.tries]
  ctx.log.warn({ err, mailId: mail.id }, 'a mail was not sent')
  const reason = toStorableJson(cutText(err instanceof Error ? err.message : String(err), MOST_REASON))
  if (wait === undefined || isRefused(err)) return end(ctx, mail, 'failed', reason)
  const dueAt = new Date(ctx.now().getTime() + wait)
  await ctx.db
    .update(taskMails)
    .set({ tries: mail.tries + 1, dueAt, reason, leasedUntil: null })
    .where(isHeld(ctx, mail))
}

async function end(
  ctx: ServiceContext,
  mail: MailRow,
  status: 'sent' | 'failed' | 'dropped',
  reason: string | null,
): Promise<void> {
  const tries = mail.tries + (status === 'dropped' ? 0 : 1)
  await ctx.db
    .update(taskMails)
    .set({ status, tries, reason, leasedUntil: null, endedAt: ctx.now() })
    .where(isHeld(ctx, mail))
}
