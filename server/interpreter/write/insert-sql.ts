import { getTableColumns } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'
import { rowStatement } from '@/db/index'
import { runs } from '@/db/schema/runs'
import {
  closingPart,
  type Following,
  followingColumns,
  knownCaller,
  numbers,
  perShape,
  runNumber,
  visitsPart,
} from './rows'

/** What a start writes besides the run and its walk. Starts that write the same share a statement. */
interface Shape extends Following {
  /** The run ends or pauses with its start, so every process is notified. */
  settles: boolean
}

/** The statement that `insertRun` sends. It never waits for locked rows. */
export const insertStatement = perShape((shape: Shape) => rowStatement(columnsOf(shape), (rows) => textOf(shape, rows)))

type RunColumn = keyof typeof runs.$inferSelect

/** The columns of `runs` that a start leaves to their defaults. It writes all others, so a new one needs nothing here. */
const LATER = [
  'cancellation',
  'cancelRequestedAt',
  'cleanupStartedAt',
  'writtenAt',
  'change',
] as const satisfies RunColumn[]

/** What a column is called in the rows that are sent, where that is not its name. */
const SENT_AS = { id: 'run_id', status: 'run_status', smallData: 'data', updatedAt: 'at' } as const

type Snake<S> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : ''
type SentAs<C> = C extends keyof typeof SENT_AS ? (typeof SENT_AS)[C] : Snake<C>

/** The values of a run, as they are sent. */
export type SentRun = Record<SentAs<Exclude<RunColumn, (typeof LATER)[number]>>, unknown>

const later = new Set<string>(LATER)
const sentAs = new Map<string, string>(Object.entries(SENT_AS))
const columns = Object.entries(getTableColumns(runs))
  .filter(([key]) => !later.has(key))
  .map(([key, column]) => {
    const name = toSnakeCase(column.name)
    return { name, sent: sentAs.get(key) ?? name, type: column.getSQLType() }
  })

const columnsOf = (shape: Shape) => `
  ${columns.map(({ sent, type }) => `${sent} ${type}`).join(', ')}, believes boolean, published_version int,
  branch text, epoch int, segment int, walk_status text, engine_run_id text, step_id text, visit int
  ${followingColumns(shape)}`

/** No walk, pause or event comes before its run, so that triggers see them in this order. */
const INSERTED = '(select count(*) from run) > 0'

/**
 * - `found`: the rows whose workflow is as the caller believes, and whose caller has a good key
 * - `visits`: what their runs have done already
 * - `run`: their runs
 * - `walk`, `asked`, `sent`: what else belongs to them
 */
function textOf(shape: Shape, rows: string): string {
  const { change, after } = runNumber(shape)
  return `
    with ${rows},
    found as materialized (
      select i.* ${numbers(shape, false)} from i cross join lateral (
        select 1 from workflows w
        where w.tenant_id = i.tenant_id and w.id = i.workflow_id and w.status <> 'archived'
          and (not i.believes or w.published_version is not distinct from i.published_version)
        limit 1) workflow
      ${shape.presumes ? knownCaller('i.start_time') : ''})
    ${visitsPart(shape, 'found i')},
    run as (
      insert into runs (${columns.map(({ name }) => name).join(', ')}, change)
      select ${columns.map(({ sent }) => `i.${sent}`).join(', ')}, ${change} from found i
      where ${after}
      returning 1),
    walk as (
      insert into walks (tenant_id, run_id, branch, epoch, segment, status, engine_run_id, step_id, visit, updated_at)
      select i.tenant_id, i.run_id, i.branch, i.epoch, i.segment, i.walk_status, i.engine_run_id, i.step_id, i.visit,
        i.start_time
      from found i where ${INSERTED})
    ${closingPart(shape, shape.settles, 'found i', INSERTED)}`
}
