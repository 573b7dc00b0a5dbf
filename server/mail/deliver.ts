import { and, eq, gt, lte } from 'drizzle-orm'
import { taskMails } from '@/db/schema/task-mails'
import type { ServiceContext } from '../context'
import { cutText, toStorableJson } from '../definition/json'
import { env } from '../env'
import { attempted, HOUR_MS, lease, release, waitsOf } from '../leased-delivery'
import { type MailRow, readTask } from './read'
import { ATTEMPT_MS, isRefused, sendMail } from './send'
import { mailContent } from './text'

/** Longer than any attempt. */
const LEASE_MS = 3 * ATTEMPT_MS
/** Two days in all. Later, nobody wants the mail. */
export const WAITS_MS = waitsOf(2, 5, 10, 10, 20)
const MAX_REASON = 500
/** A workflow that asks one person a thousand times then fills their inbox here, but not their mailbox. */
export const MAX_PER_HOUR = 50

/**
 * Sends a due mail, if it is still relevant. The lease makes sure it is sent once; again only if this process dies or
 * loses the server between sending and recording that.
 */
export async function deliverMail(ctx: ServiceContext, mailId: string): Promise<void> {
  // Another process may have the setting, or this one may get it back.
  if (!env().SMTP_URL) return
  const isDue = and(mailIs(ctx, mailId), eq(taskMails.status, 'pending'), lte(taskMails.dueAt, ctx.now()))
  const mail = await lease(ctx, taskMails, { where: isDue, ms: LEASE_MS })
  if (!mail) return
  if ((await sentLately(ctx, mail)) >= MAX_PER_HOUR)
    return end(ctx, mail, 'dropped', `The person got ${MAX_PER_HOUR} mails within an hour.`)
  const task = await readTask(ctx, mail)
  if ('dropped' in task) return end(ctx, mail, 'dropped', task.dropped)
  try {
    await sendMail({ id: mail.id, to: task.to, ...mailContent(task.mail) })
  } catch (err) {
    return failed(ctx, mail, err)
  }
  await end(ctx, mail, 'sent', null)
}

const mailIs = (ctx: ServiceContext, id: string) => and(eq(taskMails.tenantId, ctx.tenantId), eq(taskMails.id, id))

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
  ctx.log.warn({ err, mailId: mail.id }, 'a mail was not sent')
  const reason = toStorableJson(cutText(err instanceof Error ? err.message : String(err), MAX_REASON))
  await end(ctx, mail, isRefused(err) ? 'failed' : null, reason)
}

/** Ends the lease, and also the mail, unless the status is null and it may be retried. */
async function end(
  ctx: ServiceContext,
  mail: MailRow,
  status: 'sent' | 'failed' | 'dropped' | null,
  reason: string | null,
): Promise<void> {
  const now = ctx.now()
  const change = status === 'dropped' ? { status, endedAt: now } : attempted(now, mail.tries, WAITS_MS, status)
  await release(ctx, taskMails, { where: mailIs(ctx, mail.id), mine: mail, change: { ...change, reason } })
}
