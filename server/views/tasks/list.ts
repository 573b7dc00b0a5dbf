import { and, asc, desc, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { RUN_DATA } from '@/db/run-data'
import { pauses, pauseVotes, runs, stepRecords } from '@/db/schema/runs'
import { wholeChars } from '@/lib/whole-chars'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { MAX_PLACE } from '../../definition/branches'
import { declaredFields, inOrder, labelOf } from '../../definition/declared'
import { own } from '../../definition/json'
import type { Fields } from '../../definition/schema'
import { HIDDEN, sensitiveFields } from '../../definition/sensitive'
import { parseInput } from '../../parse'
import { NOT_OF_THIS_LIST, readCursor, writeCursor } from '../../query/cursor'
import { runOf } from '../../run-store/conditions'
import { pinnedDefinition } from '../../run-store/definition'
import { maskWords } from '../../runs/mask-words'
import { personOf } from '../../runs/person'
import { tenantMasker } from '../../vault/masker'
import { nameActors, nameAnswerers } from '../actors'
import { answerLabel, expired } from '../runs/answer-label'
import { askedAgainSince } from './asked-again'
import { claimant } from './claims'
import { answering } from './held'
import { progressOf, type VoteState } from './progress'
import { ListTasks } from './schema'
import { answered, doneTasks, isMine, isOfRole, openTasks } from './where'

const DEFAULT_LIMIT = 50

/** How many answered tasks a filtered call examines: no filter has an index, so it reads the run of each. */
const SEARCHED = 5_000

/** How much run data a list entry shows: the number of short fields, and the characters of each. */
const SUMMARY_FIELDS = 4
/** How many of a run's short fields to read for that, because Postgres does not know the order of declaration. */
const SUMMARY_READ = 24
const SUMMARY_CHARS = 120

/**
 * The tenant's open tasks, or the caller's own, oldest first by default, or its answered ones, latest first, with a few
 * fields of each run's data. A page of filtered answered tasks may be short or empty: it then says how far it looked,
 * and the next page continues from there.
 * @throws AppError INVALID_INPUT
 */
export async function listTasks(ctx: ServiceContext, input: unknown, { searched = SEARCHED } = {}) {
  authorize(ctx, 'task:read')
  const {
    view = 'open',
    sort = 'oldest',
    limit = DEFAULT_LIMIT,
    cursor,
    byMe = false,
    ...filter
  } = parseInput(ListTasks, input)
  const open = view !== 'done'
  const forwards = open && sort === 'oldest'
  const order = forwards ? asc : desc
  const moment = open ? pauses.createdAt : pauses.answeredAt
  const after = cursor == null ? null : positionOf(cursor)
  const beyond = sql.raw(forwards ? '>' : '<')
  // Needed before the rows: it decides how much of a value to read, because half a secret would not be recognised.
  const own = view === 'mine' || view === 'roles'
  const filters = [filter.q, filter.workflowId, filter.type, byMe || undefined]
  const searches = !open && filters.some((one) => one !== undefined)
  const [masker, person, end] = await Promise.all([
    tenantMasker(ctx),
    own ? personOf(ctx) : null,
    searches ? positionAfter(ctx, after, searched) : null,
  ])
  const rows = await ctx.db
    .select({
      runId: pauses.runId,
      pauseId: pauses.id,
      stepId: pauses.stepId,
      type: pauses.kind,
      createdAt: pauses.createdAt,
      answeredAt: pauses.answeredAt,
      answeredBy: pauses.answeredBy,
      answeredVia: pauses.answeredVia,
      label: answerLabel,
      expired,
      dueAt: sql<string | null>`${pauses.signal}->>'dueAt'`,
      /** The vote that decides, if a single answer does not. */
      vote: sql<VoteState | null>`case when ${pauses.signal}->'needs' is not null then json_build_object(
        'actions', ${pauses.signal}->'actions', 'needs', ${pauses.signal}->'needs', 'cast', (
          select coalesce(json_object_agg(action_id, votes), '{}') from (
            select v.action_id, count(*)::int votes from ${pauseVotes} v
            where v.tenant_id = ${pauses.tenantId} and v.run_id = ${pauses.runId} and v.pause_id = ${pauses.id}
            group by 1) counted)) end`,
      answering,
      claimedBy: claimant,
      askedAgainSince,
      title: sql<string | null>`${pauses.signal}->>'title'`,
      workflowId: runs.workflowId,
      workflowVersion: runs.workflowVersion,
      workflowName: runs.workflowName,
      businessKey: runs.businessKey,
      startedVia: runs.startedVia,
      stepName: sql<string | null>`(select s.step_name from ${stepRecords} s where s.tenant_id = ${pauses.tenantId}
          and s.run_id = ${pauses.runId} and s.branch = ${pauses.branch} and s.step_id = ${pauses.stepId}
          and s.visit = ${pauses.visit})`,
      shows: sql<boolean>`${pauses.signal}->'show' is not null`,
      /** The fields that the author chose to show, else short fields of the data. */
      summary: sql<[string, string][]>`case when ${pauses.signal}->'show' is not null then
        (select coalesce(jsonb_agg(jsonb_build_array(label, left(value, ${SUMMARY_CHARS + masker.longest})) order by place), '[]')
          from (select one->>'label' label, one->>'value' value, place
            from json_array_elements(${pauses.signal}->'show') with ordinality shown(one, place)
            where json_typeof(one->'value') in ('string', 'number', 'boolean') and one->>'markdown' is null
            order by place limit ${SUMMARY_FIELDS}) chosen)
        else (select coalesce(jsonb_agg(jsonb_build_array(key, left(value #>> '{}', ${SUMMARY_CHARS + masker.longest}))), '[]')
          from (select key, value from jsonb_each(${RUN_DATA})
            where jsonb_typeof(value) in ('string', 'number', 'boolean') limit ${SUMMARY_READ}) fields) end`,
    })
    .from(pauses)
    .innerJoinLateral(runOf(pauses), sql`true`)
    .where(
      and(
        open ? openTasks(ctx, filter) : doneTasks(ctx, filter, byMe ? ctx.actor.id : null),
        person && view === 'mine' ? isMine(person) : undefined,
        person && view === 'roles' ? isOfRole(person) : undefined,
        after ? sql`${place(moment)} ${beyond} ${placeOf(after)}` : undefined,
        end ? sql`${place(moment)} >= ${placeOf(end)}` : undefined,
      ),
    )
    .orderBy(order(moment), order(pauses.runId), order(pauses.id))
    .limit(limit + 1)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const [nameOf, answererOf, fieldsOf] = await Promise.all([
    nameActors(
      ctx,
      page.map(({ claimedBy }) => claimedBy),
    ),
    nameAnswerers(ctx, page),
    fieldsIn(ctx, page),
  ])
  return {
    tasks: page.map(
      ({
        createdAt,
        answeredAt,
        answeredBy,
        answeredVia,
        claimedBy,
        title,
        stepName,
        shows,
        summary,
        vote,
        workflowVersion,
        ...task
      }) => ({
        ...maskWords({ ...task, title: title ?? stepName ?? task.stepId, stepName: stepName ?? task.stepId }, masker),
        votes: vote && progressOf(vote, masker),
        createdAt: createdAt.toISOString(),
        answeredAt: answeredAt?.toISOString() ?? null,
        answeredBy: task.expired ? null : answererOf({ answeredBy, answeredVia }),
        claimedBy: nameOf(claimedBy),
        summary: summaryOf(summary, shows, fieldsOf({ ...task, workflowVersion })).map(
          ({ label, value }) => [masker.text(label), wholeChars(masker.text(value), SUMMARY_CHARS)] as const,
        ),
      }),
    ),
    nextCursor:
      rows.length > limit && last
        ? writeCursor([(open ? null : last.answeredAt) ?? last.createdAt, last.runId, last.pauseId])
        : end && writeCursor([end.at, end.runId, end.pauseId]),
    /** If the page stopped at its limit of examined tasks: older answers were not searched. */
    searchedTo: rows.length > limit ? null : (end?.at ?? null),
  }
}

interface Position {
  at: Date | string
  runId: string
  pauseId: string
}

const place = (moment: typeof pauses.createdAt | typeof pauses.answeredAt) =>
  sql`(${moment}, ${pauses.runId}, ${pauses.id})`
const placeOf = ({ at, runId, pauseId }: Position) =>
  sql`(${new Date(at).toISOString()}::timestamptz, ${runId}, ${pauseId})`

/** The position after the next `count` answered tasks, if more exist. Uses the index alone. */
async function positionAfter(ctx: ServiceContext, after: Position | null, count: number): Promise<Position | null> {
  const [last, next] = await ctx.db
    .select({ at: pauses.answeredAt, runId: pauses.runId, pauseId: pauses.id })
    .from(pauses)
    .where(
      and(
        eq(pauses.tenantId, ctx.tenantId),
        answered,
        after ? sql`${place(pauses.answeredAt)} < ${placeOf(after)}` : undefined,
      ),
    )
    .orderBy(desc(pauses.answeredAt), desc(pauses.runId), desc(pauses.id))
    .offset(count - 1)
    .limit(2)
  return next && last?.at ? { ...last, at: last.at.toISOString() } : null
}

/** The fields that each task's workflow declares, and which of all its fields are sensitive. */
async function fieldsIn(ctx: ServiceContext, tasks: readonly OfVersion[]) {
  const versionKey = ({ workflowId, workflowVersion }: OfVersion) => `${workflowId}@${workflowVersion}`
  const versions = new Map(tasks.map((task) => [versionKey(task), task]))
  const read = async ([key, of]: [string, OfVersion]) => {
    const definition = await pinnedDefinition(ctx, of.workflowId, of.workflowVersion)
    return [key, { declared: declaredFields(definition), hides: sensitiveFields(definition) }] as const
  }
  const known = new Map(await Promise.all([...versions].map(read)))
  return (task: OfVersion): FieldsOfRun => known.get(versionKey(task)) ?? { declared: {}, hides: new Set() }
}

interface FieldsOfRun {
  declared: Fields
  hides: ReadonlySet<string>
}

/** A card unchanged; of run data, the fields declared first. */
function summaryOf(found: [string, string][], isCard: boolean, { declared, hides }: FieldsOfRun) {
  const values = new Map(found.map(([name, value]) => [name, hides.has(name) ? HIDDEN : value]))
  if (isCard) return found.map(([label, value]) => ({ label, value: hides.has(label) ? HIDDEN : value }))
  return Object.entries(inOrder(Object.fromEntries(values), Object.keys(declared)))
    .slice(0, SUMMARY_FIELDS)
    .map(([name, value]) => {
      const field = own(declared, name)
      return { label: field ? labelOf(name, field) : name, value: String(value) }
    })
}

interface OfVersion {
  workflowId: string
  workflowVersion: number
}

export type TaskItem = Awaited<ReturnType<typeof listTasks>>['tasks'][number]

const Cursor = z.tuple([z.iso.datetime().startsWith('2'), z.string().max(100), z.string().max(MAX_PLACE)])

function positionOf(cursor: string): { at: string; runId: string; pauseId: string } {
  const [at, runId, pauseId] = readCursor(Cursor, cursor, NOT_OF_THIS_LIST)
  return { at, runId, pauseId }
}
