import { eventType, Inngest, type Logger } from 'inngest'
import { z } from 'zod'
import { env } from '@/server/env'
import { log } from '@/server/log'

const ENGINE_FETCH = Symbol.for('millrace.engine.fetch')
type Global = typeof globalThis & { [ENGINE_FETCH]?: typeof fetch }

/** Sends the SDK's calls to the embedded engine. Called by instrumentation, the only module that knows the engine. */
export function bindEngineFetch(engineFetch: typeof fetch): void {
  ;(globalThis as Global)[ENGINE_FETCH] = engineFetch
}

const engineFetch: typeof fetch = (input, init) => {
  const bound = (globalThis as Global)[ENGINE_FETCH]
  if (!bound) return Promise.reject(new Error('The embedded engine has not been started in this process.'))
  return bound(input, init)
}

const logger: Logger = {
  debug: (...args: unknown[]) => log().debug({ sdk: describe(args) }, 'inngest'),
  info: (...args: unknown[]) => log().debug({ sdk: describe(args) }, 'inngest'),
  warn: (...args: unknown[]) => log().warn({ sdk: describe(args) }, 'inngest'),
  error: (...args: unknown[]) => log().error({ sdk: describe(args) }, 'inngest'),
}

/** The SDK's messages without their attached objects, which may hold results of steps. */
function describe(args: unknown[]): string {
  return args
    .filter((arg) => typeof arg === 'string' || arg instanceof Error)
    .map((arg) => (arg instanceof Error ? `${arg.name}: ${arg.message}` : arg))
    .join(' ')
}

export const EMBEDDED_URL = 'http://embedded.invalid'

export const inngest = new Inngest({
  id: 'millrace',
  aiMetadata: false,
  logger,
  internalLogger: logger,
  ...(env().engine === 'embedded'
    ? // No limit of this process applies to a call, so it may last as long as its walk (0 means no limit).
      { isDev: true, baseUrl: EMBEDDED_URL, fetch: engineFetch, checkpointing: { maxRuntime: 0 } }
    : env().VERCEL
      ? { checkpointing: { maxRuntime: '50s' } }
      : {}),
})

const Run = z.object({ tenantId: z.string(), runId: z.string() })

export const walkRequested = eventType('workflow/walk.requested', {
  schema: Run.extend({ branch: z.string(), epoch: z.number(), segment: z.number() }),
})
export const webhookDue = eventType('webhook/endpoint.due', {
  schema: z.object({ tenantId: z.string(), endpointId: z.string() }),
})
export const taskMailDue = eventType('mail/task.due', {
  schema: z.object({ tenantId: z.string(), mailId: z.string() }),
})
export const eventPosted = eventType('workflow/event.posted', {
  schema: z.object({ tenantId: z.string(), seq: z.number() }),
})
export const childIsDue = eventType('workflow/child.due', { schema: Run })
export const answerHeld = eventType('workflow/answer.held', {
  schema: Run.extend({ pauseId: z.string(), person: z.string(), until: z.iso.datetime() }),
})
export const runTerminated = eventType('workflow/run.terminated', { schema: Run })
