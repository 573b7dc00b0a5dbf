import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { postEvent } from '@/server/events/post'
import { sweepFiles } from '@/server/files/sweep'
import { MultipartInput } from '@/server/http/multipart-input'
import { onceForKey } from '@/server/rest/idempotency'
import { rerunRun } from '@/server/runs/rerun'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { countSubjectData } from '@/server/subjects/count'
import { deleteSubjectData } from '@/server/subjects/delete'
import { createWebhook } from '@/server/webhooks/create'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { forge } from '../support/invariants/finality'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { invokeAgent } from '../support/talk'

const ADA = 'ada|7f3'
const BOB = 'bob'
/** Each person's texts, in every place that takes one. */
const markOf = (sub: string) => `typed by ${sub.slice(0, 3).toUpperCase()}`

/**
 * Every column that names an actor. A new one must be classified here: whether the deletion finds the subject's data by
 * it, or whether its row belongs to the workspace or to others.
 */
const WHO: Record<string, 'deleted' | 'kept'> = {
  'agents.created_by': 'kept',
  'agents.updated_by': 'kept',
  'agent_versions.created_by': 'kept',
  'agent_turns.subject': 'deleted',
  'api_keys.created_by': 'kept',
  'applied_definitions.applied_by': 'kept',
  'audit_entries.actor_id': 'kept',
  'audit_entries.actor_kind': 'kept',
  'audit_entries.actor_name': 'kept',
  'events.posted_by': 'deleted',
  // A hash. An upload that no run has is removed within the hour, and another goes with its run.
  'files.uploaded_by': 'kept',
  'held_answers.person': 'kept',
  'idempotency_keys.subject': 'deleted',
  'drafts.updated_by': 'kept',
  'inbound_deliveries.created_by': 'kept',
  'inbound_webhooks.created_by': 'kept',
  'inbound_webhooks.updated_by': 'kept',
  'invitations.created_by': 'kept',
  'pause_votes.person': 'kept',
  'pauses.answered_by': 'kept',
  'run_comments.author': 'kept',
  'run_moves.moved_by': 'kept',
  'runs.started_by': 'deleted',
  'schedules.created_by': 'kept',
  'schedules.updated_by': 'kept',
  'signing_secrets.created_by': 'kept',
  'start_links.maker_id': 'kept',
  'task_claims.claimed_by': 'kept',
  'task_claims.person': 'kept',
  'task_links.answers_for': 'kept',
  'task_links.maker_id': 'kept',
  'test_cases.created_by': 'kept',
  'threads.subject': 'deleted',
  'tools.created_by': 'kept',
  'tools.updated_by': 'kept',
  'tool_versions.created_by': 'kept',
  'vault_secrets.created_by': 'kept',
  'vault_secrets.updated_by': 'kept',
  'webhook_endpoints.created_by': 'kept',
  'webhook_endpoints.updated_by': 'kept',
  'workflows.created_by': 'kept',
  'workflows.updated_by': 'kept',
  'workflow_versions.created_by': 'kept',
}

let dataDir: string
let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
let release: () => void
const held = new Promise<void>((resolve) => {
  release = resolve
})
let workflows: { asks: string; calls: string; holds: string; agent: string }

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-subjects-'))
  database = await freshDatabase()
  effects = await startEffects(() => ({ after: held }))
  runtime = await startTestRuntime(database.url, { DATA_DIR: dataDir, MILLRACE_EMBEDDED: '1' })
  await createWebhook(runtime.ctx, { url: 'https://a.example', description: '', events: ['run.paused', 'run.failed'] })
  const { id: agent } = await createAgent(runtime.ctx, {
    name: 'Echo',
    instructions: 'Repeat.',
    outputSchema: { type: 'object', properties: { said: { type: 'string' } } },
  })
  const payload = { note: { type: 'string' } }
  const create = async (...steps: { id: string; type: string }[]) => {
    const edges = steps.slice(1).map((step, i) => ({ from: steps[i]?.id ?? '', to: step.id }))
    return (await createWorkflow(runtime.ctx, { name: 'W', payload, steps, edges } as never)).id
  }
  const talk = { id: 'talk', type: 'call-agent', agentId: agent, message: '${note}' }
  const asks = await create(talk, { id: 'ask', type: 'collect-inputs', output: { more: { type: 'string' } } } as never)
  workflows = {
    agent,
    asks,
    calls: await create({ id: 'call', type: 'run-workflow', workflowId: asks, input: { note: '${note}' } } as never),
    holds: await create({ id: 'hold', type: 'test-effect', url: effects.url, body: { note: '${note}' } } as never),
  }
})
afterAll(async () => {
  release()
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const as = (sub: string): ServiceContext => ({
  ...runtime.ctx,
  actor: { kind: 'jwt', id: sub, secretId: 'sec_1', role: 'operator' },
})
const paused = (runId: string) => runtime.wait(runId, (run) => run.status === 'paused')
const answer = (ctx: ServiceContext, runId: string, more: string) =>
  resumeRun(ctx, { runId, body: { type: 'collect_inputs', data: { more } } })

/** A run with a file and a conversation, which waits for a person. */
async function asking(ctx: ServiceContext, note: string): Promise<string> {
  const file = { name: `${note}.txt`, type: 'text/plain', bytes: Buffer.from(note) }
  const body = new MultipartInput(new Map([['note', [note]]]), file)
  const { runId } = await startRun(ctx, { workflowId: workflows.asks, body })
  await paused(runId)
  return runId
}

/** Everything that a person leaves behind, through every door. @returns an open run */
async function live(sub: string): Promise<string> {
  const ctx = as(sub)
  const note = markOf(sub)
  const done = await asking(ctx, note)
  await answer(ctx, done, note)
  await runtime.wait(done)
  await invokeAgent(ctx, { agentId: workflows.agent, body: { message: note } }, new AbortController().signal)
  await postEvent(ctx, { name: 'said', data: { note } })
  const request = new Request('http://localhost/x', { method: 'POST', headers: { 'idempotency-key': sub } })
  await onceForKey(ctx, request, {}, async () => ({ body: { note } }))
  // Another person repeats the run, and so has its data.
  const { runId: again } = await rerunRun(runtime.ctx, { runId: done, body: {} })
  await paused(again)
  await answer(runtime.ctx, again, 'x')
  await runtime.wait(again)
  const { runId: parent } = await startRun(ctx, { workflowId: workflows.calls, body: { note } })
  const child = async () =>
    (await database.sql`select id from runs where parent_run_id = ${parent} and status = 'paused'`)[0]?.id
  await expect.poll(child, { timeout: 20_000 }).toBeTruthy()
  return asking(ctx, note)
}

type Rows = Map<string, string>

/** Every row of the product and of its engine, as text, by table and the row's own place. */
async function everything(): Promise<Rows> {
  const tables = await database.sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname in ('public', 'engine') and tablename not like 'invariants%'`
  const rows: Rows = new Map()
  for (const { name } of tables) {
    const found = await database.sql.unsafe<{ text: string }[]>(`select t::text as text from ${name} t`)
    for (const { text } of found) rows.set(`${name} ${text}`, name)
  }
  return rows
}

const tablesWith = (rows: Rows, text: string) =>
  [...new Set([...rows].filter(([row]) => row.includes(text)).map(([, table]) => table))].sort()

test('every column that says who did something is decided', async () => {
  const found = await database.sql<{ name: string }[]>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and data_type = 'text'
      and column_name ~ '(_by|^by|subject|^sub|person|actor(_.*)?|owner|author|caller|maker_id|answers_for)$' and column_name <> 'owner'`
  expect(found.map(({ name }) => name).sort()).toEqual(Object.keys(WHO).sort())
})

test('all data of a subject goes, and nobody else’s', async () => {
  const open = await live(ADA)
  const bobs = await live(BOB)
  // Her decision in his run is part of it.
  await answer(as(ADA), bobs, 'yes')
  await runtime.wait(bobs)
  await expect(deleteSubjectData(runtime.ctx, { sub: ADA })).rejects.toMatchObject({
    code: 'CONFLICT',
    details: [{ openRuns: 3 }],
  })
  const { runId: busy } = await startRun(as(ADA), { workflowId: workflows.holds, body: { note: markOf(ADA) } })
  await expect.poll(() => effects.seen.length).toBe(1)

  const counted = await countSubjectData(runtime.ctx, { sub: ADA })
  expect(counted).toMatchObject({ sub: ADA, runs: 6, openRuns: 4, files: 2, events: 1, idempotencyKeys: 1 })
  const { openRuns, sub, atLeast, ...counts } = counted
  expect(atLeast).toBe(false)
  const before = await everything()
  expect(tablesWith(before, markOf(ADA))).toEqual(
    expect.arrayContaining([
      'public.runs',
      'public.messages',
      'public.events',
      'public.files',
      'public.idempotency_keys',
    ]),
  )
  const mine = await database.sql<{ id: string }[]>`
    select id from runs where input::text like ${`%${markOf(ADA)}%`}
    union select thread_id from messages where content::text like ${`%${markOf(ADA)}%`}`
  expect(readdirSync(join(dataDir, 'files', runtime.ctx.tenantId))).toHaveLength(4)

  const { deleted, done } = await deleteSubjectData(runtime.ctx, { sub: ADA, terminateRuns: 'true' })
  expect(done).toBe(true)
  expect(deleted).toEqual(counts)
  release()
  await expect(getRunStatus(runtime.ctx, { runId: open })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })

  // The running step finds its run gone, and the engine has nothing left to do for it.
  const left = async () => tablesWith(await everything(), busy)
  await expect.poll(left, { timeout: 30_000 }).not.toContain('engine.jobs')
  const after = await everything()
  expect(tablesWith(after, markOf(ADA))).toEqual([])
  expect(tablesWith(after, ADA)).toEqual(['public.pauses'])
  const hers = [ADA, markOf(ADA), ...mine.map(({ id }) => id)]
  const gone = [...before].filter(([row]) => !after.has(row))
  const changes =
    /^(engine\.|public\.(outbox|sweeps|counted_days|webhook_(endpoints|deliveries)|api_keys|idempotency_keys) )/
  expect(gone.filter(([row]) => !changes.test(row) && !hers.some((text) => row.includes(text)))).toEqual([])
  expect(gone.length).toBeGreaterThan(40)
  expect(readdirSync(join(dataDir, 'files', runtime.ctx.tenantId))).toHaveLength(2)
  expect(await countSubjectData(runtime.ctx, { sub: ADA })).toMatchObject({ runs: 0, files: 0, threads: 0, events: 0 })
  const bob = await countSubjectData(runtime.ctx, { sub: BOB })
  expect({ ...bob, runs: bob.runs + 1, openRuns: 4 }).toEqual({ ...counted, sub: BOB })
}, 60_000)

test('a thread that only a turn knows goes with its run, one that the run continued stays', async () => {
  const ctx = as('cy')
  const { runId } = await startRun(ctx, { workflowId: workflows.asks, body: { note: 'x' } })
  await paused(runId)
  await answer(ctx, runId, 'x')
  await runtime.wait(runId)
  const again = await Promise.all([1, 2].map(async () => (await rerunRun(runtime.ctx, { runId, body: {} })).runId))
  for (const one of again) {
    await paused(one)
    await answer(runtime.ctx, one, 'x')
    await runtime.wait(one)
  }
  const [began, continued] = again
  // As if the process had ended between the end of the turn and the record of its step.
  await forge(database.sql, again)
  await database.sql`update step_records set usage = usage - 'threadId' where run_id in ${database.sql(again)}`
  await database.sql`update threads set created_at = created_at - interval '1 day'
    where id in (select thread_id from agent_turns where run_id = ${continued ?? ''})`
  const threads = await database.sql<{ runId: string; id: string }[]>`
    select run_id as "runId", thread_id as id from agent_turns where run_id in ${database.sql(again)}`
  await deleteSubjectData(runtime.ctx, { sub: 'cy' })
  const left = await database.sql`select id from threads where id in ${database.sql(threads.map(({ id }) => id))}`
  expect(threads.map((thread) => thread.runId).sort()).toEqual([began, continued].sort())
  expect(left.map(({ id }) => id)).toEqual(threads.filter((thread) => thread.runId === continued).map(({ id }) => id))
})

test('a deletion that breaks off is finished by calling again', async () => {
  const ctx = await runtime.as('owner', 'ten_again')
  const { id } = await createWorkflow(ctx, { name: 'W', steps: [{ id: 'set', type: 'set-data', values: {} }] })
  const add = (name: string, count: number, by: string, via: string, retryOf = '') => database.sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, outcome, input, data, started_by,
      started_via, retry_of, start_time, end_time)
    select 'ten_again', ${name} || n, ${id}, 1, 'W', 'completed', 'succeeded', '{}', '{}', ${by}, ${via},
      case when ${retryOf} <> '' then ${retryOf} || n end, now(), now()
    from generate_series(100, ${99 + count}::int) n`
  await add('run_E', 130, 'eve', 'jwt')
  await add('run_AGAIN', 60, 'key_1', 'apiKey', 'run_E')
  await add('run_TWICE', 60, 'key_2', 'apiKey', 'run_AGAIN')
  await add('run_KEY', 3, 'eve', 'apiKey')
  const file = crypto.randomUUID()
  await database.sql`
    insert into files (tenant_id, id, run_id, name, declared_type, sniffed_type, size, sha256, created_at, claimed_at)
    values ('ten_again', ${file}, 'run_TWICE100', 'x', 'a/b', 'a/b', 1, 'x', now(), now())`
  await database.sql.unsafe(`
    create function breaks() returns trigger language plpgsql as $$ begin
      if old.id = 'run_AGAIN150' then raise exception 'power cut'; end if; return old; end $$;
    create trigger breaks before delete on runs for each row execute function breaks()`)
  await expect(deleteSubjectData(ctx, { sub: 'eve' })).rejects.toThrow()
  await database.sql.unsafe('drop trigger breaks on runs; drop function breaks')
  const half = await countSubjectData(ctx, { sub: 'eve' })
  expect(half.runs).toBeGreaterThan(0)
  expect(half.runs).toBeLessThan(250)
  const { deleted, done } = await deleteSubjectData(ctx, { sub: 'eve' })
  expect([deleted.runs, done]).toEqual([half.runs, true])
  // Ids of callers of other kinds are distinguished, even if they look the same.
  const rest = await database.sql<{ id: string }[]>`select id from runs where tenant_id = 'ten_again' order by id`
  expect(rest.map((run) => run.id)).toEqual(['run_KEY100', 'run_KEY101', 'run_KEY102'])
  await sweepFiles({ db: runtime.db, log: ctx.log, now: ctx.now })
  expect(await database.sql`select 1 from files where id = ${file}`).toHaveLength(0)
  expect(existsSync(join(dataDir, 'files', 'ten_again', file))).toBe(false)
})

test('an invalid subject is refused, and so is a caller who may not delete', async () => {
  const { id } = await createApiKey(runtime.ctx, { name: 'K', role: 'viewer' })
  for (const query of [{}, { sub: '' }, { sub: 'system' }, { sub: id }, { sub: 'x'.repeat(257) }])
    await expect(countSubjectData(runtime.ctx, query)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(deleteSubjectData(await runtime.as('admin'), { sub: ADA })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(deleteSubjectData(as(ADA), { sub: ADA })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})
