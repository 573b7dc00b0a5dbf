import { and, eq } from 'drizzle-orm'
import { users } from '@/db/schema/members'
import { pauseVotes } from '@/db/schema/runs'
import type { ServiceContext } from '../context'
import { isFileField } from '../definition/file-fields'
import { type JsonObject, own } from '../definition/json'
import type { PauseSignal } from '../definition/run'
import { withoutPresets } from '../definition/sensitive'
import { maskWords } from '../runs/mask-words'
import { barOf, forbidsStarter, isVote, startersOf } from '../runs/may-answer'
import type { Person } from '../runs/person'
import { signalOf } from '../runs/present'
import { hasVoted } from '../runs/vote'
import type { FileInfo } from '../vault/describe-files'
import type { Masker } from '../vault/mask'
import { tenantMasker } from '../vault/masker'
import type { FoundLink, LinkRow } from './find'
import { personBehind } from './maker'
import { shownFiles } from './shown-files'

/** A task's question, without the parts that concern only the workspace. */
export type AskedByLink = Pick<PauseSignal, 'message' | 'show' | 'dueAt'> &
  (
    | Pick<Extract<PauseSignal, { type: 'collect_inputs' }>, 'type' | 'fields'>
    | Pick<Extract<PauseSignal, { type: 'request_user_action' }>, 'type' | 'actions'>
  )

/** The answer given by a link. */
export type GivenByLink = { label: string } | { fields: AskedByLink & { type: 'collect_inputs' }; data: JsonObject }

/** What became of a vote so far. */
export type VoteEnd = 'open' | 'decided' | 'expired' | 'withdrawn'

/** The data of a link's page. */
export type TaskLinkView =
  | { state: 'unknown' | 'revoked' }
  /** With the time of the answer, if any, and what became of it if it was a vote. */
  | { state: 'expired'; usedAt: string | null; vote: VoteEnd | null }
  /** The task is closed, or not this person's. */
  | { state: 'ended'; why: 'answered' | 'timed out' | 'stopped' | 'not theirs' | 'voted' }
  | {
      state: 'open'
      workspace: string
      /** The link's maker, if a member. */
      from: string | null
      title: string
      asked: AskedByLink
      /** The files that the author shows. */
      files: FileInfo[]
      /** Fields that cannot be filled in here. */
      leftOut: string[]
      /** Whether others must decide too. */
      votes: boolean
      expiresAt: string
    }
  | {
      state: 'used'
      workspace: string
      title: string
      at: string
      given: GivenByLink | null
      /** If votes decide: whether they have; null if this answer decided alone. */
      vote: VoteEnd | null
    }

/** Reading it changes nothing, however often anybody opens the link. */
export async function viewOf(found: FoundLink): Promise<TaskLinkView> {
  const { ctx, link, pause, workspace } = found
  const expired = link.expiresAt <= ctx.now()
  const plain = signalOf(pause)
  const vote = isVote(plain) ? voteOf(found) : null
  if (expired && link.usedAt) return { state: 'expired', usedAt: link.usedAt.toISOString(), vote }
  const masker = await tenantMasker(ctx)
  const { title, signal } = maskWords({ title: plain.title ?? found.stepName ?? pause.stepId, signal: plain }, masker)
  if (link.usedAt) {
    return {
      state: 'used',
      workspace,
      title,
      at: link.usedAt.toISOString(),
      given: await givenBy(found, masker),
      vote,
    }
  }
  if (link.revokedAt) return { state: 'revoked' }
  if (!isOpen(found)) return { state: 'ended', why: endOf(found) }
  if (expired) return { state: 'expired', usedAt: null, vote: null }
  const person = await personBehind(ctx, link)
  if (!person) return { state: 'revoked' }
  const why = await whyNot(ctx, found, plain, person)
  if (why) return { state: 'ended', why }
  const asked = askedOf(signal)
  const { message, show } = asked
  return {
    state: 'open',
    ...{ workspace, title },
    from: await nameOf(found),
    asked,
    files: await shownFiles(found, { message, show }),
    leftOut: leftOut(signal),
    votes: isVote(signal),
    expiresAt: link.expiresAt.toISOString(),
  }
}

/** A secret or sensitive field is filled in without being shown, so its default is hidden too. */
function askedOf(signal: PauseSignal): AskedByLink {
  const { message, show, dueAt } = signal
  const words = {
    ...(message === undefined ? {} : { message }),
    ...(show === undefined ? {} : { show }),
    ...(dueAt === undefined ? {} : { dueAt }),
  }
  if (signal.type === 'request_user_action') return { ...words, type: signal.type, actions: signal.actions }
  const fields = Object.entries(signal.fields).filter(([, field]) => !isFileField(field))
  return { ...words, type: signal.type, fields: withoutPresets(Object.fromEntries(fields)) }
}

/** The labels of file fields, because a link cannot send files. */
function leftOut(signal: PauseSignal): string[] {
  if (signal.type !== 'collect_inputs') return []
  return Object.entries(signal.fields)
    .filter(([, field]) => isFileField(field))
    .map(([name, { label }]) => (typeof label === 'string' && label !== '' ? label : name))
}

/** Tasks of a run that is being cancelled may stay open until its running steps have ended, and take no answer. */
function isOpen({ pause, run }: FoundLink): boolean {
  return pause.answeredAt === null && run.status === 'paused'
}

function voteOf(found: FoundLink): VoteEnd {
  if (isOpen(found)) return 'open'
  const why = endOf(found)
  return why === 'answered' ? 'decided' : why === 'timed out' ? 'expired' : 'withdrawn'
}

function endOf({ pause }: FoundLink) {
  if (pause.answer === null) return 'stopped'
  return 'due' in pause.answer ? 'timed out' : 'answered'
}

/** Rules and assignments may have changed since the link was made. */
async function whyNot(ctx: ServiceContext, { run, pause }: FoundLink, signal: PauseSignal, person: Person) {
  const starters = forbidsStarter(signal) ? await startersOf(ctx, run.id) : []
  if (barOf(signal, person, starters)) return 'not theirs'
  return isVote(signal) && (await hasVoted(ctx, { runId: run.id, pauseId: pause.id }, person)) ? 'voted' : null
}

/** The answer of this link, without the values of secret and sensitive fields. */
async function givenBy({ ctx, link, pause }: FoundLink, masker: Masker): Promise<GivenByLink | null> {
  const signal = masker.json(signalOf(pause))
  const { answer } = pause
  if (signal.type === 'request_user_action') {
    const voted = isVote(signal) ? await voteBy(ctx, link) : null
    const actionId = voted ?? (answer && 'actionId' in answer ? answer.actionId : null)
    const action = signal.actions.find(({ id }) => id === actionId)
    return action ? { label: action.label } : null
  }
  const asked = askedOf(signal)
  if (!answer || !('data' in answer) || asked.type !== 'collect_inputs') return null
  // In the order of the form.
  const shown = Object.entries(asked.fields).flatMap(([name, { secret, sensitive }]) => {
    const value = own(answer.data, name)
    return secret || sensitive || value === undefined ? [] : [[name, value] as const]
  })
  return { fields: asked, data: masker.json(Object.fromEntries(shown)) }
}

async function voteBy({ db, tenantId }: ServiceContext, { id, runId, pauseId }: LinkRow): Promise<string | null> {
  const [vote] = await db
    .select({ actionId: pauseVotes.actionId })
    .from(pauseVotes)
    .where(
      and(
        eq(pauseVotes.tenantId, tenantId),
        eq(pauseVotes.runId, runId),
        eq(pauseVotes.pauseId, pauseId),
        eq(pauseVotes.via, id),
      ),
    )
  return vote?.actionId ?? null
}

async function nameOf({ ctx, link }: FoundLink): Promise<string | null> {
  if (link.makerKind !== 'user') return null
  const [maker] = await ctx.db.select({ name: users.name }).from(users).where(eq(users.id, link.makerId))
  return maker?.name ?? null
}
