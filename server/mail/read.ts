import { and, eq, inArray, lte } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { members, users } from '@/db/schema/members'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { taskMails } from '@/db/schema/task-mails'
import { taskClaims } from '@/db/schema/tasks'
import { tenants } from '@/db/schema/tenants'
import { may } from '../auth/policy'
import type { ServiceContext } from '../context'
import { sameAssignee } from '../definition/people'
import { countReminders } from '../definition/reminder'
import type { PauseSignal } from '../definition/run'
import { serviceOrigin } from '../http/origin'
import { linkForMember } from '../links/for-member'
import { pauseIs, recordOfPause } from '../run-store/conditions'
import { claimStands } from '../runs/claim-row'
import { maskWords } from '../runs/mask-words'
import { assignmentsOf, barOf, forbidsStarter, isVote, startersOf } from '../runs/may-answer'
import { type Person, personOfMember } from '../runs/person'
import { signalOf } from '../runs/present'
import { hasVoted } from '../runs/vote'
import { tenantMasker } from '../vault/masker'
import type { TaskMail } from './text'

export type MailRow = typeof taskMails.$inferSelect

type Dropped = { dropped: string }

const giver = alias(users, 'giver')

/** The content of a mail by the current state; or why it is obsolete. */
export async function readTask(ctx: ServiceContext, row: MailRow): Promise<{ to: string; mail: TaskMail } | Dropped> {
  const found = await findTask(ctx, row)
  if (!found || found.pause.answeredAt || found.run.status !== 'paused') return { dropped: 'The task is closed.' }
  const { pause, run, stepName, workspace, reminders } = found
  if (run.startedVia === 'test') return { dropped: 'The run is a test run.' }
  const member = await findMember(ctx, row.userId)
  if (!member) return { dropped: 'The person is no longer a member.' }
  if (!member.wanted) return { dropped: 'The person wants no mails.' }
  const signal = signalOf(pause)
  const dropped = await whyNot(ctx, row, signal, member.person, found.claimedBy)
  if (dropped) return { dropped }
  if (await hasLaterMail(ctx, row)) return { dropped: 'A later mail reminds of the task, or says that it is overdue.' }
  const masker = await tenantMasker(ctx)
  const said = maskWords({ title: signal.title ?? stepName ?? pause.stepId, signal }, masker)
  const origin = serviceOrigin()
  const token = await linkForMember(ctx, { mailId: row.id, userId: row.userId, run, pause })
  return {
    to: member.email,
    mail: {
      ...{ kind: row.kind, name: member.person.name, workspace: workspace.name },
      ...{ title: said.title, message: said.signal.message ?? null, show: said.signal.show ?? [] },
      givenBy: found.givenBy,
      reminders: countReminders(reminders ?? []),
      dueAt: signal.dueAt === undefined ? null : new Date(signal.dueAt),
      expiresAt: pause.dueAt,
      inbox: `${origin}/${workspace.slug}/inbox?task=${encodeURIComponent(`${run.id}:${pause.id}`)}`,
      link: token && `${origin}/task#${token}`,
      preferences: `${origin}/${workspace.slug}/settings/preferences`,
    },
  }
}

async function findTask({ db, tenantId }: ServiceContext, { runId, pauseId }: MailRow) {
  const ofPause = [eq(taskClaims.tenantId, pauses.tenantId), eq(taskClaims.runId, pauses.runId)]
  const [found] = await db
    .select({
      pause: pauses,
      run: runs,
      stepName: stepRecords.stepName,
      reminders: stepRecords.reminders,
      workspace: tenants,
      claimedBy: taskClaims.person,
      givenBy: giver.name,
    })
    .from(pauses)
    .innerJoin(runs, and(eq(runs.tenantId, pauses.tenantId), eq(runs.id, pauses.runId)))
    .innerJoin(tenants, eq(tenants.id, pauses.tenantId))
    .leftJoin(stepRecords, recordOfPause)
    .leftJoin(taskClaims, and(...ofPause, eq(taskClaims.pauseId, pauses.id), claimStands(taskClaims)))
    .leftJoin(giver, eq(giver.id, taskClaims.claimedBy))
    .where(pauseIs({ tenantId, runId }, pauseId))
  return found
}

async function findMember(ctx: ServiceContext, userId: string) {
  const [member] = await ctx.db
    .select({ email: users.email, wanted: members.taskMails })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.tenantId, ctx.tenantId), eq(members.userId, userId)))
  const person = member && (await personOfMember(ctx, userId))
  return person ? { ...member, person } : null
}

/** Once a mail server is back, several mails of a task may be due. A later one covers the first. */
async function hasLaterMail(ctx: ServiceContext, { runId, pauseId, userId, kind }: MailRow): Promise<boolean> {
  if (kind !== 'assigned') return false
  const later = and(
    eq(taskMails.tenantId, ctx.tenantId),
    eq(taskMails.runId, runId),
    eq(taskMails.pauseId, pauseId),
    eq(taskMails.userId, userId),
    inArray(taskMails.kind, ['overdue', 'reminder']),
    inArray(taskMails.status, ['pending', 'sent']),
    lte(taskMails.dueAt, ctx.now()),
  )
  return (await ctx.db.$count(taskMails, later)) > 0
}

/** Why a member is not asked any more; null if they are. */
async function whyNot(
  ctx: ServiceContext,
  { runId, pauseId, kind, userId }: MailRow,
  signal: PauseSignal,
  person: Person,
  claimedBy: string | null,
): Promise<string | null> {
  const starters = forbidsStarter(signal) ? await startersOf(ctx, runId) : []
  if (person.role === null || !may(person.role, 'run:resume') || barOf(signal, person, starters))
    return 'The person may not answer.'
  if (isVote(signal) && (await hasVoted(ctx, { runId, pauseId }, person))) return 'The person has voted.'
  if (claimedBy === userId) return null
  const mine = assignmentsOf({ ...person, role: null })
  const named = signal.assignees?.some((one) => mine.includes(sameAssignee(one))) ?? false
  // If votes decide, one person's claim does not exclude the others.
  return kind !== 'given' && named && (claimedBy === null || isVote(signal))
    ? null
    : 'Someone else takes care of the task.'
}
