import { and, asc, eq, inArray } from 'drizzle-orm'
import { groups } from '@/db/schema/groups'
import { members, users } from '@/db/schema/members'
import { pauseVotes } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { JsonObject } from '../../definition/json'
import { assigneeText, namedPeople, partsOf, sameAssignee, sameName, votesNeeded } from '../../definition/people'
import type { PauseSignal } from '../../definition/run'
import type { Fields } from '../../definition/schema'
import { askedFields } from '../../runs/asked-fields'
import { type Bar, barOf, forbidsStarter, hasRules, isVote, startersOf } from '../../runs/may-answer'
import { personOf } from '../../runs/person'
import type { RunMasker } from '../../vault/hide'
import { nameWays } from '../actors'
import { asDeclared, labelsOf } from '../as-declared'
import { type CutValue, cutValue } from '../value'

/** Who may answer a task, who has voted, and whether the viewer may answer. */
export interface TaskPeople {
  /** For display; null if everybody with the permission may answer. */
  assignees: string[] | null
  /** Null if a single answer decides. */
  votes: ShownVote[] | null
  /** The votes each action needs and has. */
  needs: { label: string; votes: number; cast: number }[]
  /** The number of people who may vote or have voted, if the task names each of those who may. */
  voters: number | null
  /** Why the viewer may not answer, besides their role; null if they may. */
  bar: Bar | 'ALREADY_VOTED' | null
}

export interface ShownVote {
  by: string
  name: string
  /** The action's label. */
  label: string
  /** The value sent with the vote; null without any. */
  value: string | null
  /** The values of the action's fields, with their labels; null without any. */
  data: { value: CutValue; labels: Record<string, string> } | null
  /** How it came in, such as `the key Orders`; null if the voter cast it directly. */
  via: string | null
  at: string
}

interface Asked {
  id: string
  signal: PauseSignal
}

const ANYBODY: TaskPeople = { assignees: null, votes: null, needs: [], voters: null, bar: null }

/** The people of a run's pauses. Pauses open to everybody cost no query. */
export async function readPeople(
  ctx: ServiceContext,
  runId: string,
  asked: readonly Asked[],
  hiding: RunMasker,
): Promise<(pauseId: string) => TaskPeople> {
  const masker = hiding.vault
  const ruled = asked.filter(({ signal }) => hasRules(signal))
  if (ruled.length === 0) return () => ANYBODY
  const [viewer, starters, votes, nameOf] = await Promise.all([
    personOf(ctx),
    ruled.some(({ signal }) => forbidsStarter(signal)) ? startersOf(ctx, runId) : [],
    ruled.some(({ signal }) => isVote(signal)) ? readVotes(ctx, runId, ruled) : [],
    nameAssignees(
      ctx,
      ruled.flatMap(({ signal }) => signal.assignees ?? []),
    ),
  ])
  const wayOf = await nameWays(
    ctx,
    votes.map(({ via }) => via),
  )
  const found = ruled.map(({ id, signal }): [string, TaskPeople] => {
    const cast = votes.filter(({ pauseId }) => pauseId === id)
    const actions = signal.type === 'request_user_action' ? signal.actions : []
    const labelOf = (wanted: string) => masker.text(actions.find(({ id }) => id === wanted)?.label ?? wanted)
    const shown = cast.map(({ by, name, actionId, actionValue, data, via, at }) => ({
      by,
      name: masker.text(name),
      label: labelOf(actionId),
      value: actionValue === actionId ? null : masker.text(actionValue),
      data: data && shownData(data, askedFields(signal, { actionId, actionValue }), hiding),
      via: wayOf(via),
      at: at.toISOString(),
    }))
    const voted = cast.some(({ by }) => sameName(by) === viewer.id)
    return [
      id,
      {
        assignees: signal.assignees?.map((one) => masker.text(nameOf(one))) ?? null,
        votes: isVote(signal) ? shown : null,
        needs: isVote(signal)
          ? actions.map(({ id }) => ({
              label: labelOf(id),
              votes: votesNeeded(signal.needs, id),
              cast: cast.filter(({ actionId }) => actionId === id).length,
            }))
          : [],
        voters: isVote(signal) ? countVoters(signal, cast) : null,
        bar: voted ? 'ALREADY_VOTED' : barOf(signal, viewer, starters),
      },
    ]
  })
  const byId = new Map(found)
  return (pauseId) => byId.get(pauseId) ?? ANYBODY
}

/** The people whom the task names, and those who voted before it was handed over to these. */
function countVoters({ assignees }: PauseSignal, cast: readonly { by: string; email: string | null }[]) {
  const named = namedPeople(assignees)
  if (named === null) return null
  const theirs = new Set(assignees?.map(sameAssignee))
  const isTheirs = (name: string) => theirs.has(`user:${sameName(name)}`)
  return named + cast.filter(({ by, email }) => !isTheirs(by) && !isTheirs(email ?? by)).length
}

function readVotes(ctx: ServiceContext, runId: string, asked: readonly Asked[]) {
  return ctx.db
    .select({
      pauseId: pauseVotes.pauseId,
      by: pauseVotes.person,
      email: users.email,
      name: pauseVotes.name,
      actionId: pauseVotes.actionId,
      actionValue: pauseVotes.actionValue,
      data: pauseVotes.data,
      via: pauseVotes.via,
      at: pauseVotes.createdAt,
    })
    .from(pauseVotes)
    .leftJoin(users, eq(users.id, pauseVotes.person))
    .where(
      and(
        eq(pauseVotes.tenantId, ctx.tenantId),
        eq(pauseVotes.runId, runId),
        inArray(
          pauseVotes.pauseId,
          asked.map(({ id }) => id),
        ),
      ),
    )
    .orderBy(asc(pauseVotes.createdAt), asc(pauseVotes.person))
}

function shownData(data: JsonObject, fields: Fields, hiding: RunMasker): ShownVote['data'] {
  return { value: asDeclared(cutValue(data, hiding), Object.keys(fields)), labels: labelsOf(fields, hiding.vault) }
}

/** Finds words for the assignees of tasks. */
export async function nameAssignees(
  ctx: ServiceContext,
  called: readonly string[],
): Promise<(assignee: string) => string> {
  const kinds = new Set(called.map((one) => partsOf(one).kind))
  const found = await Promise.all([
    kinds.has('user') ? membersByName(ctx) : [],
    kinds.has('group') ? groupsByName(ctx) : [],
  ])
  const names = new Map(found.flat())
  return (assignee) => assigneeText(assignee, (same) => names.get(same))
}

type Called = readonly [same: string, name: string]

/** Members, by how assignees name them. */
async function membersByName(ctx: ServiceContext): Promise<Called[]> {
  const found = await ctx.db
    .select({ id: users.id, email: users.email, name: users.name })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(eq(members.tenantId, ctx.tenantId))
  return found.flatMap(({ id, email, name }) => [[`user:${id}`, name] as const, [`user:${email}`, name] as const])
}

/** Groups, by how assignees name them now, or did before a rename. */
async function groupsByName(ctx: ServiceContext): Promise<Called[]> {
  const found = await ctx.db
    .select({ name: groups.name, key: groups.key, earlierKeys: groups.earlierKeys })
    .from(groups)
    .where(eq(groups.tenantId, ctx.tenantId))
  return found.flatMap(({ name, key, earlierKeys }) =>
    [key, ...earlierKeys].map((one) => [`group:${one}`, name] as const),
  )
}
