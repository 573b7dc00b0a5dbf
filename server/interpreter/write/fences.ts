import { keyIsValid } from '../../auth/cached-caller'
import { CLEANUP_BRANCH } from '../../run-store/names'
import { x } from './columns'
import type { Fence } from './types'

// The fences of runs lock the run, then the visit, then the walk of each row. Each lock is a subquery for a single
// value (`then`, or null if there is nothing to lock), nested in the previous one, so that no plan takes them in
// another order; as joins, they would copy each row. After waiting for the locks, a statement rechecks the current
// rows. The visit is checked besides the walk: the same engine run may have claimed a later attempt.

const openRun = (locked: string, then: string) => `(
        select ${then} from (
          select r.id from runs r
          where r.tenant_id = i.tenant_id and r.id = i.run_id and r.end_time is null
            and (i.branch = '${CLEANUP_BRANCH}' or r.cancel_requested_at is null)
          for no key update ${locked}) run)`

const openVisit = (locked: string, then: string) => `(
        select ${then} from (
          select s.run_id from step_records s
          where s.tenant_id = i.tenant_id and s.run_id = run.id and s.branch = i.branch and s.step_id = x.step_id
            and s.visit = x.visit and s.end_time is null and (x.attempt is null or s.attempt = x.attempt)
          for no key update ${locked}) open)`

const walkWhere = (is: string) => (locked: string, runId: string) =>
  `(
        select true from walks w
        where w.tenant_id = i.tenant_id and w.run_id = ${runId} and w.branch = i.branch and w.epoch = x.epoch
          and w.segment = x.from_segment and ${is}
        for no key update ${locked})`

/**
 * The condition on the status is written so that the index of open walks does not apply: that index looks cheaper than
 * the primary key, but has to skip every dead entry.
 */
const ownWalk = walkWhere(`w.status || '' = 'walking' and w.engine_run_id = x.engine_run_id`)

/** The walk is requested, belongs to the claimer already, or is parked. */
const claimableWalk = walkWhere(`(x.from_step is null or (w.step_id = x.from_step and w.visit = x.from_visit))
          and case x.claims when 'resting' then w.status = 'resting'
            else w.status = 'requested' or (w.status = 'walking' and w.engine_run_id = x.engine_run_id) end`)

const ofRun = (fence: string, reads: string, passes: (locked: string) => string): Fence => ({
  fence,
  text: (i, locked) => `${i} cross join ${x(reads)} where ${passes(locked)}`,
})

const OF_VISIT = 'step_id, visit, attempt'
const OF_OWNER = 'epoch, from_segment, engine_run_id'
const OF_CLAIM = `${OF_OWNER}, claims, from_step, from_visit`

/** The writer owns the walk. */
export const OWNER = ofRun('owner', OF_OWNER, (locked) => openRun(locked, ownWalk(locked, 'run.id')))
/** The writer also owns the completed visit. */
export const OWNER_OF_VISIT = ofRun('owner of visit', `${OF_OWNER}, ${OF_VISIT}`, (locked) =>
  openRun(locked, openVisit(locked, ownWalk(locked, 'open.run_id'))),
)
/** The walk is unchanged since it was read, and the writer may claim it. */
export const CLAIM = ofRun('claim', OF_CLAIM, (locked) => openRun(locked, claimableWalk(locked, 'run.id')))
/** The completed visit is also open. */
export const CLAIM_OF_VISIT = ofRun('claim of visit', `${OF_CLAIM}, ${OF_VISIT}`, (locked) =>
  openRun(locked, openVisit(locked, claimableWalk(locked, 'open.run_id'))),
)

/** A transaction holds the run, and the run is open. */
export const HELD: Fence = {
  fence: 'held',
  text: (i) => `${i} where (
        select true from runs r where r.tenant_id = i.tenant_id and r.id = i.run_id and r.end_time is null)`,
}

/** The workflow is not archived, and its published version is the one that the caller expects. Locks nothing. */
export const START: Fence = {
  fence: 'start',
  text: (i) => `${i} cross join ${x('workflow_id, expects_version, published_version')} cross join lateral (
        select 1 from workflows w
        where w.tenant_id = i.tenant_id and w.id = x.workflow_id and w.status <> 'archived'
          and (not x.expects_version or w.published_version is not distinct from x.published_version)
        limit 1) workflow`,
}

/** A run of a workflow that is built in: nobody archives or changes it. */
export const START_BUILT_IN: Fence = { fence: 'start built in', text: (i) => i }

const key = { hash: 'x.key_hash', tenantId: 'i.tenant_id', role: 'x.key_role', at: 'i.at' }

/** The rows whose callers have a valid key. */
export const KNOWN_CALLER = `
      select i.* from i cross join ${x('key_hash, key_role')} cross join lateral ${keyIsValid(String.raw, key)} caller`
