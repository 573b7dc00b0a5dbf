import { createFetch } from './api'
import { serverRetryDelayMs } from './backoff'
import { createExecute } from './execute'
import { leave } from './presence'
import { queue, queueable } from './queue'
import { type FunctionSpec, parseRegistration } from './registry'
import { KEEP_MS, LEASE_MS, PLACES } from './settings'
import { signature } from './sign'
import type { Engine, EngineOptions } from './types'
import { Worker } from './worker'

export type {
  Engine,
  EngineLog,
  EngineOptions,
  HandlerAnswer,
  HandlerCall,
  NativeHandler,
  Queued,
  QueuedJob,
} from './types'

export function createEngine(options: EngineOptions): Engine {
  const { sql, handler, signingKey, bootId, hostId, log, appUrl = 'http://embedded.invalid/api/inngest' } = options
  const now = options.now ?? (() => new Date())
  const handlers = options.handlers ?? new Map()
  let specs: Promise<ReadonlyMap<string, FunctionSpec>> | undefined
  let direct: ReadonlyMap<string, FunctionSpec> = new Map()
  const learn = () => {
    // The current caller sees the failure; the next one tries again.
    specs ??= register({ ...options, appUrl }, now().getTime()).catch((error: unknown) => {
      specs = undefined
      throw error
    })
    return specs
  }
  const worker = new Worker(
    {
      sql,
      log,
      bootId,
      hostId,
      leaseMs: options.leaseMs ?? LEASE_MS,
      retryDelayMs: options.retryDelayMs ?? serverRetryDelayMs,
      now,
      at: options.now ? () => sql`${now().toISOString()}::text::timestamptz` : () => sql`now()`,
      specs: learn,
    },
    createExecute({ handler, handlers, appUrl, signingKey }),
    options.places ?? PLACES,
    options.keepMs ?? KEEP_MS,
  )
  return {
    fetch: createFetch(worker),
    async start() {
      await worker.open()
      direct = queueable(await learn(), handlers)
    },
    stop: async ({ graceMs }) => {
      direct = new Map()
      await worker.stop(graceMs)
      leave(bootId)
    },
    queue(event) {
      const spec = direct.get(event.name)
      return spec && queue(worker.ctx, spec, { ...event, ts: now().getTime() })
    },
    kick: () => worker.kick(),
  }
}

/** Asks the handler for its functions (an in-band sync) and rejects settings the engine cannot honour. */
async function register(
  { handler, appUrl, signingKey }: Pick<EngineOptions, 'handler' | 'signingKey'> & { appUrl: string },
  now: number,
): Promise<Map<string, FunctionSpec>> {
  const url = new URL(appUrl)
  const body = { url: url.href }
  const headers: Record<string, string> = {
    host: url.host,
    'content-type': 'application/json',
    'x-inngest-sync-kind': 'in_band',
  }
  if (signingKey) headers['x-inngest-signature'] = signature(signingKey, body, now)
  const answer = await handler({ method: 'PUT', url: url.href, headers, body }, new AbortController().signal)
  if (answer.status !== 200) throw new Error(`The handler did not list its functions: it answered ${answer.status}`)
  return parseRegistration(JSON.parse(answer.body))
}
