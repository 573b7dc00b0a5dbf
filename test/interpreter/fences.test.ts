import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendBatched } from '@/db/index'
import { CLAIM, CLAIM_OF_VISIT, HELD, OWNER, OWNER_OF_VISIT } from '@/server/interpreter/write/fences'
import { MOVE_RUN } from '@/server/interpreter/write/parts'
import { statementOf } from '@/server/interpreter/write/statement'
import type { Fence } from '@/server/interpreter/write/types'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

// The conditions that let a change of a run through. In each case, one condition alone is not met: elsewhere others
// would refuse as well, so that a missing condition would not show.

let database: FreshDatabase
let tenantId: string

beforeAll(async () => {
  database = await freshDatabase({ max: 4 })
  ;({ tenantId } = await newTenant(database))
  await database.sql`
    insert into workflows (tenant_id, id, name, description, status, version, published_version, created_by, updated_by)
    values (${tenantId}, 'w', 'W', '', 'published', 1, 1, 'x', 'x')`
  await database.sql`
    insert into workflow_versions (tenant_id, workflow_id, version, name, definition, created_by, published_at)
    values (${tenantId}, 'w', 1, 'W', '{}', 'x', now())`
})
afterAll(() => database.close())

let runs = 0

/** An open run whose main walk is walking under engine run `mine` at a visit. */
async function newRun(): Promise<string> {
  const runId = `run_${runs++}`
  await database.sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, input, data, started_by, start_time)
    values (${tenantId}, ${runId}, 'w', 1, 'W', 'running', '{}', '{}', 'x', now())`
  await database.sql`
    insert into walks (tenant_id, run_id, branch, epoch, segment, status, engine_run_id, step_id, visit)
    values (${tenantId}, ${runId}, 'main', 2, 3, 'walking', 'mine', 's', 1)`
  await database.sql`
    insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, attempt, start_time)
    values (${tenantId}, ${runId}, 'main', 's', 1, 't', 's', 'running', 1, now())`
  return runId
}

const OWNED = { branch: 'main', epoch: 2, from_segment: 3, engine_run_id: 'mine', step_id: 's', visit: 1, attempt: 1 }

/** Whether a fence lets a row through, after `changed` has modified the run. */
async function passes(fence: Fence, row: object, changed: readonly string[] = []): Promise<boolean> {
  const runId = await newRun()
  const where = `tenant_id = '${tenantId}' and run_id = '${runId}'`
  for (const change of changed) {
    const [table = '', set = ''] = change.split(/: (.*)/)
    await database.sql.unsafe(
      `update ${table} set ${set} where ${table === 'runs' ? where.replace('run_id', 'id') : where}`,
    )
  }
  const statement = statementOf({ fence, checksKey: false, parts: [MOVE_RUN], outputs: [] })
  const place = { tenant_id: tenantId, run_id: runId, at: new Date() }
  return (await sendBatched(database.db, statement, runId, { ...place, ...OWNED, ...row })) !== null
}

const STOPPED: Record<string, string> = {
  'the run has ended': `runs: status = 'completed', outcome = 'succeeded', end_time = now()`,
  'the run is to stop': 'runs: cancel_requested_at = now()',
}
const NOT_THIS_WALK: Record<string, string> = {
  'the epoch has risen': 'walks: epoch = 3',
  'the segment has risen': 'walks: segment = 4',
}
const NOT_THIS_VISIT: Record<string, string> = {
  'the visit is recorded': `step_records: status = 'completed', end_time = now()`,
  'a later attempt has begun': 'step_records: attempt = 2',
}

describe.for([
  ['owner', OWNER],
  ['owner of visit', OWNER_OF_VISIT],
] as const)('%s', ([name, fence]) => {
  test('lets its owner through', async () => {
    expect(await passes(fence, {})).toBe(true)
  })
  test('lets the cleanup of a stopping run continue', async () => {
    const cleanup = [
      `walks: branch = 'on-cancel'`,
      `step_records: branch = 'on-cancel'`,
      'runs: cancel_requested_at = now()',
    ]
    expect(await passes(fence, { branch: 'on-cancel' }, cleanup)).toBe(true)
  })
  test.for(
    Object.entries({
      ...STOPPED,
      ...NOT_THIS_WALK,
      'the walk is no longer walking': `walks: status = 'requested'`,
      'another engine run has the walk': `walks: engine_run_id = 'another'`,
      ...(name === 'owner of visit' ? NOT_THIS_VISIT : {}),
    }),
  )('refuses where %s', async ([, changed]) => {
    expect(await passes(fence, {}, [changed])).toBe(false)
  })
})

describe.for([
  ['claim', CLAIM],
  ['claim of visit', CLAIM_OF_VISIT],
] as const)('%s', ([name, fence]) => {
  const requested = { claims: 'requested' }
  const parked = { claims: 'resting' }
  const isRequested = `walks: status = 'requested', engine_run_id = null`
  const isParked = `walks: status = 'resting', engine_run_id = null`

  test('lets through who claims a walk that is requested, or theirs already, or parked', async () => {
    expect(await passes(fence, requested, [isRequested])).toBe(true)
    expect(await passes(fence, requested)).toBe(true)
    expect(await passes(fence, parked, [isParked])).toBe(true)
    expect(await passes(fence, { ...requested, from_step: 's', from_visit: 1 }, [isRequested])).toBe(true)
  })
  test.for(Object.entries({ ...STOPPED, ...NOT_THIS_WALK, ...(name === 'claim of visit' ? NOT_THIS_VISIT : {}) }))(
    'refuses where %s',
    async ([, changed]) => {
      expect(await passes(fence, requested, [isRequested, changed])).toBe(false)
      expect(await passes(fence, parked, [isParked, changed])).toBe(false)
    },
  )
  test('refuses a walk that differs from its claimer’s read', async () => {
    expect(await passes(fence, requested, [isParked]), 'parked').toBe(false)
    expect(await passes(fence, parked, [isRequested]), 'requested').toBe(false)
    expect(await passes(fence, parked), 'walking').toBe(false)
    expect(await passes(fence, requested, [`walks: engine_run_id = 'another'`]), 'of another engine run').toBe(false)
    expect(await passes(fence, requested, [`walks: status = 'ended'`]), 'ended').toBe(false)
  })
  test('refuses a cursor that has moved', async () => {
    expect(await passes(fence, { ...requested, from_step: 'r', from_visit: 1 }, [isRequested])).toBe(false)
    expect(await passes(fence, { ...requested, from_step: 's', from_visit: 2 }, [isRequested])).toBe(false)
  })
})

test('a transaction’s writes to a run that it holds are refused if the run has ended', async () => {
  expect(await passes(HELD, {})).toBe(true)
  expect(await passes(HELD, {}, [STOPPED['the run has ended'] ?? ''])).toBe(false)
})
