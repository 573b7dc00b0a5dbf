import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import type { Db } from '@/db/index'
import type { ServiceContext } from '@/server/context'
import type { Role } from '@/server/roles'
import type { PresentedRun } from '@/server/runs/present'
import { expectInvariants } from './invariants/check'
import { installFinality } from './invariants/finality'

const RUNTIME = Symbol.for('millrace.runtime')
type Holder = typeof globalThis & { [RUNTIME]?: { stop(graceMs: number): Promise<void> } }

/** The product in this process on its own database: with relay and embedded engine, without HTTP. */
export interface TestRuntime {
  db: Db
  ctx: ServiceContext
  /** A context with another role in the same tenant, or in another tenant (created on first use). */
  as(role: Role, tenantId?: string): Promise<ServiceContext>
  /** Saves a definition and starts a run of it. @returns the run's id */
  start(definition: object, data?: object): Promise<string>
  status(runId: string): Promise<PresentedRun>
  /** The run as soon as `until` holds for it; by default, once it has ended. Fails after `timeoutMs`. */
  wait(runId: string, until?: (run: PresentedRun) => boolean, timeoutMs?: number): Promise<PresentedRun>
  /** Stops it, and fails if the remaining runs violate an invariant. */
  stop(): Promise<void>
}

/**
 * Call once per test file, before anything from `server`, because the environment is read once per process.
 * @param settings environment variables in addition to DATABASE_URL
 */
export async function startTestRuntime(url: string, settings: Record<string, string> = {}): Promise<TestRuntime> {
  for (const name of ['INNGEST_DEV', 'INNGEST_EVENT_KEY', 'INNGEST_SIGNING_KEY']) delete process.env[name]
  Object.assign(process.env, { DATABASE_URL: url, MILLRACE_TEST_STEPS: '1', LOG_LEVEL: 'fatal', ...settings })
  const { startRuntime } = await import('@/instrumentation-node')
  await startRuntime()

  const { database } = await import('@/server/database')
  const { now } = await import('@/server/clock')
  const { log } = await import('@/server/log')
  const { createWorkflow } = await import('@/server/workflows/lifecycle')
  const { startRun } = await import('@/server/runs/start')
  const { getRunStatus } = await import('@/server/runs/status')
  const { db, sql: raw } = database()
  await installFinality(raw)

  async function as(role: Role, tenantId = 'ten_test'): Promise<ServiceContext> {
    await db.execute(
      sql`insert into tenants (id, slug, name) values (${tenantId}, lower(${tenantId}::text), ${tenantId}) on conflict do nothing`,
    )
    return {
      tenantId,
      actor: { kind: 'apiKey', id: `key_${role}`, role },
      db,
      log: log(),
      // As all transports do: rows stamped by two clocks are out of order.
      now,
      requestId: 'test',
      trusted: null,
    }
  }
  const ctx = await as('owner')
  const status = (runId: string) => getRunStatus(ctx, { runId })

  return {
    db,
    ctx,
    as,
    status,
    async start(definition, data = {}) {
      const { id } = await createWorkflow(ctx, { name: 'Test', ...definition })
      return (await startRun(ctx, { workflowId: id, body: data as never })).runId
    },
    async wait(runId, until = (run) => run.endTime !== undefined, timeoutMs = 60_000) {
      const deadline = Date.now() + timeoutMs
      for (;;) {
        const run = await status(runId)
        if (until(run)) return run
        if (Date.now() > deadline) throw new Error(`The run is still ${JSON.stringify(run, null, 2)}`)
        await sleep(20)
      }
    },
    async stop() {
      const holder = globalThis as Holder
      await holder[RUNTIME]?.stop(2_000)
      delete holder[RUNTIME]
      await expectInvariants(raw)
    },
  }
}
