import { rowStatement } from '@/db/index'
import { CLEANUP_BRANCH } from '../../run-store/names'
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

/** What a commit writes besides records and run data. Plans that write the same share a statement. */
interface Shape extends Following {
  /** The walk's own row changes: it is claimed, released at a pause, has a cursor, or is a branch. */
  moves: boolean
  /** A step is done. */
  completes: boolean
  /** The step took the answer to a pause. */
  answers: boolean
  ends: boolean
  /** The run is on its failure path. */
  fails: boolean
}

/** The statement that `commitPlan` sends. */
export const commitStatement = perShape((shape: Shape) =>
  rowStatement(columnsOf(shape), (rows, locked) => textOf(shape, rows, locked)),
)

/** Only the columns that the shape uses, because Postgres prepares all of them for every statement. */
const columnsOf = ({ moves, completes, answers, ends, fails, ...following }: Shape) => `
  tenant_id text, run_id text, branch text, epoch int, from_segment int, engine_run_id text, at timestamptz,
  data jsonb, data_refs jsonb, current_step_id text, run_status text
  ${moves ? ', segment int, claims text, walk_status text, from_step text, from_visit int, to_step text, to_visit int, own jsonb, own_refs jsonb, arrival jsonb' : ''}
  ${completes ? STEP_COLUMNS : ''}
  ${answers ? ', answered_pause text, answer jsonb, answered_by text' : ''}
  ${ends ? ', outcome text, result jsonb, error jsonb, cancellation jsonb' : ''}
  ${fails ? ', failing jsonb' : ''} ${followingColumns(following)}`

const STEP_COLUMNS = `,
  step_id text, visit int, attempt int, attempts jsonb, usage jsonb, step_status text, handled boolean, step_error text,
  step_error_code text, exit text, ended_at timestamptz, output_data jsonb, output_bytes int, delta jsonb, receipt jsonb`

/**
 * The fence locks the run, then the record, then the walk of each row, like every verb that changes a run, and lets
 * through what is as the row says; each lock is asked for by the one before it, so that no plan takes them in another
 * order. A statement that had to wait for them checks them again as they are then. The step is looked at before the walk:
 * a later attempt may have been claimed by the same engine run. What follows writes the rows of the fence whole, without
 * joining the parts to each other: Postgres would compare each row with every other.
 *
 * - `i`: the rows, each of another run
 * - `fence`, `walk`: what may be written, and by whom
 * - `step`, `answer`: what is done
 * - `visits`, `moved`, `ended`, `asked`, `sent`: what follows
 */
function textOf(shape: Shape, rows: string, locked: 'skip locked' | ''): string {
  const { moves, completes, answers, ends, fails, asks, presumes } = shape
  const { change, after } = runNumber(shape)
  const done = moves ? 'walk i' : 'fence i'
  const holdsWalk = (runId: string) => (moves ? 'true' : heldWalk(runId, locked))
  return `
    with ${rows},
    fence as materialized (
      select i.* ${numbers(shape, completes)} from i ${presumes ? knownCaller('i.at') : ''}
      where ${openRun(locked, completes ? openStep(locked, holdsWalk('open.run_id')) : holdsWalk('run.id'))})
    ${moves ? MOVED_WALK : ''}
    ${completes ? stepOf(done) : ''}
    ${answers ? answerOf(done) : ''}
    ${visitsPart(shape, done)},
    moved as (
      update runs r set updated_at = i.at, change = ${change}, data = coalesce(i.data, r.data),
        data_refs = case when i.data is null then r.data_refs else i.data_refs end,
        current_step_id = coalesce(i.current_step_id, r.current_step_id), status = coalesce(i.run_status, r.status)
        ${ends ? END : ''} ${fails ? ', failing = i.failing' : ''}
      from ${done}
      where r.tenant_id = i.tenant_id and r.id = i.run_id and ${after})
    ${ends ? endedWalks(done, moves) : ''}
    ${closingPart(shape, ends || asks, done)}`
}

// Queries for a single value: `then`, or null if there is nothing to lock. As joins, they would copy each row.

const openRun = (locked: string, then: string) => `(
        select ${then} from (
          select r.id from runs r
          where r.tenant_id = i.tenant_id and r.id = i.run_id and r.end_time is null
            and (i.branch = '${CLEANUP_BRANCH}' or r.cancel_requested_at is null)
          for no key update ${locked}) run)`

const openStep = (locked: string, then: string) => `(
        select ${then} from (
          select s.run_id from step_records s
          where s.tenant_id = i.tenant_id and s.run_id = run.id and s.branch = i.branch and s.step_id = i.step_id
            and s.visit = i.visit and s.end_time is null and (i.attempt is null or s.attempt = i.attempt)
          for no key update ${locked}) open)`

/**
 * A walk between two steps does not change. The condition on the status is written so that the index of open walks does
 * not apply: that index looks cheaper than the primary key, but has to skip every dead entry.
 */
const heldWalk = (runId: string, locked: string) => `(
        select true from walks w
        where w.tenant_id = i.tenant_id and w.run_id = ${runId} and w.branch = i.branch and w.epoch = i.epoch
          and w.segment = i.from_segment and w.status || '' = 'walking' and w.engine_run_id = i.engine_run_id
        for no key update ${locked})`

const MOVED_WALK = `,
    walk as (
      update walks w set status = i.walk_status, segment = i.segment, updated_at = i.at,
        engine_run_id = case when i.walk_status <> 'resting' then i.engine_run_id end,
        step_id = coalesce(i.to_step, w.step_id), visit = coalesce(i.to_visit, w.visit),
        data = coalesce(i.own, w.data), data_refs = case when i.own is null then w.data_refs else i.own_refs end,
        arrival = coalesce(i.arrival, w.arrival)
      from fence i
      where w.tenant_id = i.tenant_id and w.run_id = i.run_id and w.branch = i.branch and w.epoch = i.epoch
        and w.segment = i.from_segment and (i.from_step is null or (w.step_id = i.from_step and w.visit = i.from_visit))
        and case when i.claims = 'resting' then w.status = 'resting'
          else (i.claims = 'requested' and w.status = 'requested')
            or (w.status = 'walking' and w.engine_run_id = i.engine_run_id) end
      returning i.*)`

const stepOf = (done: string) => `,
    step as (
      update step_records s set status = i.step_status, handled = i.handled, error = i.step_error,
        error_code = i.step_error_code, exit = i.exit, end_time = i.ended_at, attempts = coalesce(i.attempts, s.attempts),
        usage = i.usage, output_data = i.output_data, output_bytes = i.output_bytes, delta = i.delta,
        receipt = i.receipt, change = i.step_change
      from ${done}
      where s.tenant_id = i.tenant_id and s.run_id = i.run_id and s.branch = i.branch and s.step_id = i.step_id
        and s.visit = i.visit)`

/** An answer that was given just now is stored in the same statement. */
const answerOf = (done: string) => `,
    answer as (
      update pauses p set consumed_at = i.ended_at, answer = coalesce(i.answer, p.answer),
        answered_by = coalesce(i.answered_by, p.answered_by),
        answered_at = case when i.answer is null then p.answered_at else i.ended_at end
      from ${done}
      where p.tenant_id = i.tenant_id and p.run_id = i.run_id and p.id = i.answered_pause and p.consumed_at is null)`

const END = `, outcome = i.outcome, end_time = i.at, result = i.result, error = i.error,
        cancellation = coalesce(i.cancellation, r.cancellation)`

/** Ends all walks of the run; one that moves has ended itself already. */
const endedWalks = (done: string, moves: boolean) => `,
    ended as (
      update walks w set status = 'ended', updated_at = i.at
      from ${done}
      where w.tenant_id = i.tenant_id and w.run_id = i.run_id and w.status <> 'ended'
        ${moves ? 'and w.branch <> i.branch' : ''})`
