import type { pauses, runs } from '@/db/schema/runs'
import { taskLinks } from '@/db/schema/task-links'
import { record } from '../audit/record'
import { type ServiceContext, withTransaction } from '../context'
import { signalOf } from '../runs/present'
import { needsFile } from './files'
import { signLink } from './token'

const LIFE_MS = 7 * 24 * 3600_000

interface ForMember {
  /** One mail has one link, however often it is sent. */
  mailId: string
  userId: string
  run: Pick<typeof runs.$inferSelect, 'id' | 'workflowName'>
  pause: typeof pauses.$inferSelect
}

/**
 * Makes the link that the product sends to a task's assignee.
 * @returns its token; null for a task that a link cannot answer
 */
export async function linkForMember(
  ctx: ServiceContext,
  { mailId, userId, run, pause }: ForMember,
): Promise<string | null> {
  if (needsFile(signalOf(pause)) !== null) return null
  const { tenantId } = ctx
  const id = mailId.replace(/^mail_/, 'lnk_')
  const now = ctx.now()
  const week = new Date(now.getTime() + LIFE_MS)
  const expiresAt = pause.dueAt && pause.dueAt < week ? pause.dueAt : week
  await withTransaction(ctx, async (tx) => {
    const made = await tx.db
      .insert(taskLinks)
      .values({
        ...{ tenantId, id, runId: run.id, pauseId: pause.id },
        ...{ makerKind: 'system' as const, makerId: 'system', answersFor: userId },
        ...{ createdAt: now, expiresAt },
      })
      .onConflictDoNothing()
      .returning({ id: taskLinks.id })
    if (made.length === 0) return
    const details = { link: id, step: pause.stepId, expiresAt: expiresAt.toISOString(), answersFor: userId }
    await record(tx, 'run.linkMade', { id: run.id, name: run.workflowName }, details)
  })
  return signLink({ tenantId, id, runId: run.id, pauseId: pause.id })
}
