import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Sql } from './db/index'
import { migrate } from './db/migrate'
import { bindEngineFetch, EMBEDDED_URL, inngest } from './inngest/client'
import { readHeartbeatAge } from './inngest/engine/health'
import { createEngine, type Engine, type HandlerAnswer, type HandlerCall } from './inngest/engine/index'
import { DEV_KEY_HEADER, setDevKey } from './inngest/public'
import { createRelay, type OutgoingEvent } from './inngest/relay'
import { callFunctions } from './inngest/serve'
import { keyring } from './server/crypto'
import { database } from './server/database'
import { type Env, env } from './server/env'
import { bindHeartbeat } from './server/health'
import { log } from './server/log'
import { bindRelay } from './server/outbox'
import { stopSandbox } from './server/tools/sandbox/run-script'

export interface Runtime {
  /** Ends the work of this process: what is under way gets `graceMs`, the rest goes on elsewhere or at the next start. */
  stop(graceMs: number): Promise<void>
}

const RUNTIME = Symbol.for('millrace.runtime')
type Global = typeof globalThis & { [RUNTIME]?: Runtime }

/** The composition root: database, relay and engine of this process, once. */
export async function startRuntime(): Promise<void> {
  const holder = globalThis as Global
  if (holder[RUNTIME]) return
  const settings = env()
  if (!settings.DATABASE_URL)
    throw new Error('DATABASE_URL is missing: start the service with `npm start`, which brings its own database.')
  // next-auth reads it here only: without NEXTAUTH_URL people sign in under the address they came to.
  process.env.AUTH_TRUST_HOST ??= '1'
  // Now rather than at the first token: it says what is missing.
  keyring()
  await migrate(settings.DATABASE_URL)
  // `database()` gives the same pool afterwards.
  const { db, sql } = database()
  // The first statement shows whether the server takes what the pool asks of its connections.
  await sql`select 1`.catch(() => sql`select 1`)

  const engine = settings.engine === 'embedded' ? embeddedEngine(settings, sql) : null
  const relay = createRelay({ db, send: sendEvents, log: log() })
  bindHeartbeat(engine ? () => readHeartbeatAge(sql) : async () => 0)
  if (engine) {
    bindEngineFetch(engine.fetch)
    // Under hot reload the functions answer over this very server, which is not listening yet.
    if (settings.NODE_ENV === 'development') startWhenListening(engine)
    else await engine.start()
  }
  relay.start()
  bindRelay(relay)
  log().info({ engine: settings.engine }, 'runtime started')

  holder[RUNTIME] = {
    async stop(graceMs) {
      await engine?.stop({ graceMs })
      await relay.stop()
      await stopSandbox()
      log().info({}, 'runtime stopped')
    },
  }
}

function embeddedEngine(settings: Env, sql: Sql): Engine {
  return createEngine({
    sql,
    handler:
      settings.NODE_ENV === 'development'
        ? callOverHttp(settings)
        : async (call) => (await callFunctions(call)) as never,
    bootId: randomUUID(),
    // Attempts of steps are counted by the product itself, at most 20; the engine must not give up before that.
    mostDeliveries: 25,
    hostId: settings.MILLRACE_HOST_ID ?? hostname(),
    appUrl: `${EMBEDDED_URL}/api/inngest`,
    log: log(),
  })
}

function startWhenListening(engine: Engine): void {
  const attempt = () =>
    engine.start().catch((err: unknown) => {
      log().debug({ err }, 'the functions do not answer yet')
      setTimeout(attempt, 500)
    })
  setTimeout(attempt, 500)
}

/**
 * Under hot reload this module keeps the functions as they were at the start, while the route has them as
 * edited: so the calls go through the route, with a key that only this process knows.
 */
function callOverHttp(settings: Env): (call: HandlerCall, signal: AbortSignal) => Promise<HandlerAnswer> {
  const key = randomUUID()
  setDevKey(key)
  return async (call, signal) => {
    const { pathname, search } = new URL(call.url)
    const response = await fetch(`http://localhost:${settings.port}${pathname}${search}`, {
      method: call.method,
      headers: { ...call.headers, 'content-type': 'application/json', [DEV_KEY_HEADER]: key },
      body: JSON.stringify(call.body ?? {}),
      signal,
    })
    return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
  }
}

function sendEvents(events: OutgoingEvent[]): Promise<unknown> {
  return inngest.send(events as Parameters<typeof inngest.send>[0])
}
