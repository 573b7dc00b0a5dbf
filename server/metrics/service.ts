import { shared as databases } from '@/db/shared'
import { authorize } from '../auth/policy'
import { runsService } from '../auth/runs-service'
import type { ServiceContext } from '../context'
import { database } from '../database'
import { env } from '../env'
import { AppError } from '../errors'
import { inngestProblem, readInngestState } from '../host/engine-state'
import { scriptUsage } from '../tools/sandbox/shared-pool'
import { readShared, type Shared } from './database'
import { type Failures, readFailures } from './failures'

/** Thresholds beyond which a person should look, the same as the alerts in docs/operations.md. */
const LIMITS = { queueS: 30, outboxS: 60, sweepS: 300, webhooksS: 300, callsPerConnection: 2, scriptsPerWorker: 4 }

export type ServiceFigureId = 'engine' | 'queue' | 'outbox' | 'sweeps' | 'database' | 'webhooks' | 'scripts'

/** A figure of the service. The page explains it and what to do. */
export interface ServiceFigure {
  id: ServiceFigureId
  state: 'good' | 'bad'
  /** How many are waiting or working. */
  count: number
  /** How long the oldest has waited, in seconds; null if it does not apply. */
  oldestS: number | null
  /** The capacity; null without a limit. */
  of: number | null
}

export interface Service {
  at: string
  engine: 'embedded' | 'inngest'
  figures: ServiceFigure[]
  /** Why the Inngest server does not execute the runs; null if it does, or without one. */
  problem: string | null
  open: { running: number; waiting: number }
  failures: Failures | null
}

/**
 * The state of the service, for its operators: counts of all workspaces together, and the names of workspaces where
 * runs fail.
 * @throws AppError NOT_FOUND in any other workspace, UNAVAILABLE
 */
export async function readService(ctx: ServiceContext): Promise<Service> {
  authorize(ctx, 'service:read')
  if (!(await runsService(ctx.db, ctx.tenantId))) throw new AppError('NOT_FOUND')
  const { engine } = env()
  const [shared, failures, problem] = await Promise.all([readShared(), readFailures(), problemOf(engine)])
  if (!shared) throw new AppError('UNAVAILABLE', { details: [{ message: 'The database does not answer in time.' }] })
  const openOf = (wanted: string) => shared.open.find(({ status }) => status === wanted)?.runs ?? 0
  return {
    at: ctx.now().toISOString(),
    engine,
    figures: [...engineFigures(shared, engine, problem), ...figuresOf(shared), ...ownFigures()],
    problem,
    open: { running: openOf('running'), waiting: openOf('paused') },
    failures,
  }
}

async function problemOf(engine: Service['engine']): Promise<string | null> {
  if (engine !== 'inngest') return null
  return inngestProblem(await readInngestState(database().sql), env().deployment !== 'preview')
}

const figure = (
  id: ServiceFigureId,
  bad: boolean,
  count: number,
  more: Partial<ServiceFigure> = {},
): ServiceFigure => ({
  id,
  state: bad ? 'bad' : 'good',
  count,
  oldestS: null,
  of: null,
  ...more,
})

/** The queue is on the Inngest server, if used. */
function engineFigures(shared: Shared, engine: Service['engine'], problem: string | null): ServiceFigure[] {
  if (engine === 'inngest') return [figure('engine', problem !== null, problem === null ? 1 : 0)]
  const { workers, queued, queuedS } = shared
  return [
    figure('engine', Number(workers) === 0, Number(workers)),
    figure('queue', queuedS > LIMITS.queueS, queued, { oldestS: queued > 0 ? queuedS : null }),
  ]
}

/** The figures of all processes together. */
export function figuresOf({ outbox, outboxS, messages, messagesS, sweeps }: Shared): ServiceFigure[] {
  const swept = sweeps.find(({ sweep }) => sweep === 'runs')
  const often = env().deployment !== 'preview'
  return [
    figure('outbox', outboxS > LIMITS.outboxS, outbox, { oldestS: outbox > 0 ? outboxS : null }),
    figure('webhooks', messagesS > LIMITS.webhooksS, messages, { oldestS: messages > 0 ? messagesS : null }),
    figure('sweeps', often && swept !== undefined && swept.ageS > LIMITS.sweepS, sweeps.length, {
      oldestS: swept?.ageS ?? null,
    }),
  ]
}

/** The figures of the answering process. */
function ownFigures(): ServiceFigure[] {
  const pools = [...databases().usage.values()]
  const calls = pools.reduce((sum, { calls }) => sum + calls, 0)
  const most = pools.reduce((sum, { most }) => sum + most, 0)
  const { workers, waiting } = scriptUsage()
  return [
    figure('database', calls > LIMITS.callsPerConnection * most, calls, { of: most }),
    figure('scripts', waiting > LIMITS.scriptsPerWorker * Math.max(1, workers), waiting, { of: workers }),
  ]
}
