import { and, eq } from 'drizzle-orm'
import { users } from '@/db/schema/members'
import { pauseVotes } from '@/db/schema/runs'
import type { ServiceContext } from '../context'
import { labelOf } from '../definition/declared'
import { isFileField } from '../definition/file-fields'
import { type JsonObject, own } from '../definition/json'
import type { PauseAnswer, PauseSignal } from '../definition/run'
import type { Fields } from '../definition/schema'
import { withoutPresets } from '../definition/sensitive'
import { askedFields, formsAsked, withForms } from '../runs/asked-fields'
import { decisionParts } from '../runs/decision-parts'
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
    | Pick<Extract<PauseSignal, { type: 'request_user_action' }>, 'type' | 'actions' | 'remark'>
  )

/** The answer given by a link. */
export interface GivenByLink {
  /** The chosen action's; null for a form. */
  label: string | null
  /** The remark, where the step asks for one. */
  remark: string | null
  fields: Fields
  data: JsonObject
}

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
  const asked = withForms(signal, (fields) => withoutPresets(sendable(fields)))
  if (asked.type === 'collect_inputs') return { ...words, type: asked.type, fields: asked.fields }
  const { type, actions, remark } = asked
  return { ...words, type, actions, ...(remark === undefined ? {} : { remark }) }
}

/** The fields that a link can send: no files. */
function sendable(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => !isFileField(field)))
}

/** The labels of file fields. */
function leftOut(signal: PauseSignal): string[] {
  const labels = formsAsked(signal)
    .flatMap((fields) => Object.entries(fields))
    .flatMap(([name, field]) => (isFileField(field) ? [labelOf(name, field)] : []))
  return [...new Set(labels)]
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
  const answer = (isVote(signal) ? await voteBy(ctx, link) : null) ?? pause.answer
  if (!answer) return null
  const fields = withoutPresets(sendable(askedFields(signal, answer)))
  const values = 'data' in answer && answer.data ? answer.data : {}
  // In the order of the form.
  const shown = Object.entries(fields).flatMap(([name, { secret, sensitive }]) => {
    const value = own(values, name)
    return secret || sensitive || value === undefined ? [] : [[name, value] as const]
  })
  const given = { fields, data: masker.json(Object.fromEntries(shown)) }
  if (signal.type === 'collect_inputs') return 'data' in answer ? { label: null, remark: null, ...given } : null
  if (!('actionId' in answer)) return null
  const action = signal.actions.find(({ id }) => id === answer.actionId)
  return action ? { label: action.label, remark: answer.remark ? masker.text(answer.remark) : null, ...given } : null
}

async function voteBy({ db, tenantId }: ServiceContext, { id, runId, pauseId }: LinkRow): Promise<PauseAnswer | null> {
  const [vote] = await db
    .select()
    .from(pauseVotes)
    .where(
      and(
        eq(pauseVotes.tenantId, tenantId),
        eq(pauseVotes.runId, runId),
        eq(pauseVotes.pauseId, pauseId),
        eq(pauseVotes.via, id),
      ),
    )
  if (!vote) return null
  const { actionId, actionValue } = vote
  return { actionId, actionValue, ...decisionParts(vote) }
}

async function nameOf({ ctx, link }: FoundLink): Promise<string | null> {
  if (link.makerKind !== 'user') return null
  const [maker] = await ctx.db.select({ name: users.name }).from(users).where(eq(users.id, link.makerId))
  return maker?.name ?? null
}
