import { randomUUID } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { callNoter, inngestProblem, readInngestState } from '@/server/host/engine-state'
import { bindEngineCheck, HEARTBEAT_FRESH_MS } from '@/server/host/health'
import { joinInstallation } from '@/server/host/installation'
import { machineId } from '@/server/host/machine'
import { apart, bindTracer, flushTraces } from '@/server/telemetry/traces'
import { isWellFormed, MAX_URL, METHODS } from './cli/guards.mjs'
import { forgetProxies } from './cli/local-mark.mjs'
import { DatabaseUnavailable, type Sql } from './db/index'
import { migrate } from './db/migrate'
import { checkPreparing } from './db/pooler'
import { reasonOf, whenAvailable } from './db/wait'
import { bindEngineFetch, EMBEDDED_URL, inngest } from './inngest/client'
import { readHeartbeatAge } from './inngest/engine/health'
import {
  createEngine,
  createEnqueuer,
  type Engine,
  type EngineOptions,
  type HandlerAnswer,
  type HandlerCall,
  Notifier,
} from './inngest/engine/index'
import { bindCallNoter, DEV_KEY_HEADER, setDevKey } from './inngest/public'
import { keepRegistering, registerAtStart } from './inngest/register'
import { createRelay, type KeepAlive, type OutgoingEvent } from './inngest/relay'
import { callFunctions, handlers } from './inngest/serve'
import { BOOT, couldNotStart } from './instrumentation-settings'
import { now, setClock } from './server/clock'
import type { Sweep } from './server/context'
import { keyring } from './server/crypto'
import { database } from './server/database'
import { type Env, EnvError, env, requirePlatform } from './server/env'
import { cachePages, type PageHandler } from './server/http/cached-page'
import { refusedPath } from './server/http/refused'
import { listenAlways, sweepRuns, watchDue } from './server/interpreter/driver'
import { log } from './server/log'
import { bindTransport } from './server/outbox'
import { refusedHeaders } from './server/rest/cors'
import type { ApiListener } from './server/rest/listener/create'
import { stopSandbox } from './server/tools/sandbox/run-script'
import { watchRetries } from './server/webhooks/retries'

export interface Runtime {
  /** Stops this process's work. Work in progress gets `graceMs`; the rest continues elsewhere, or at the next start. */
  stop(graceMs: number): Promise<void>
}

/** The headers that let a page on another origin read that its request was refused. */
export type Readable = (request: IncomingMessage) => Promise<Record<string, string>>

/** Reports the start's result to `cli/web.mjs`: Next itself only logs a failure and answers 500 from then on. */
export interface Boot {
  /**
   * @param api handles API requests before Next; null if Next handles them all
   * @param wrapPages wraps Next's pages for the web process
   */
  started(
    runtime: Runtime,
    api: ApiListener | null,
    wrapPages: (pages: PageHandler) => PageHandler,
    readable: Readable,
  ): void
  failed(message: string): void
}

const BOOTED = Symbol.for('millrace.booted')
const RUNTIME = Symbol.for('millrace.runtime')
type Global = typeof globalThis & { [BOOT]?: Boot; [BOOTED]?: Promise<void>; [RUNTIME]?: Runtime }

/**
 * Starts the runtime and reports to the surrounding process. A process that cannot start must exit. The web process
 * calls this before Next does.
 */
export function boot(): Promise<void> {
  const holder = globalThis as Global
  holder[BOOTED] ??= bootOnce(holder[BOOT])
  return holder[BOOTED]
}

async function bootOnce(listener: Boot | undefined): Promise<void> {
  try {
    const { TRUST_PROXY, VERCEL } = env()
    // Vercel itself refuses such requests, and replaces clients' proxy headers.
    if (!listener && !VERCEL) guardRequests(TRUST_PROXY)
    const runtime = await startRuntime(listener ? undefined : await keptAliveByNext())
    const wrapPages = env().NODE_ENV === 'production' ? cachePages : (pages: PageHandler) => pages
    listener?.started(runtime, await apiListener(), wrapPages, ({ headers: { origin, 'x-api-key': key } }) =>
      refusedHeaders(new Headers({ ...(origin && { origin }), ...(key && { 'x-api-key': String(key) }) })),
    )
  } catch (err) {
    if (!(err instanceof EnvError)) log().debug({ err }, 'the runtime did not start')
    const reason = err instanceof DatabaseUnavailable ? err.message : reasonOf(err)
    if (listener) return listener.failed(reason)
    // Next remembers the failure and would respond with 500 for as long as the process runs.
    couldNotStart(reason)
  }
}

/**
 * Without the web process, as on Vercel, this process may be suspended as soon as it has responded. Next's `after`
 * signals to the platform that work is left.
 */
async function keptAliveByNext(): Promise<KeepAlive> {
  const { after } = await import('next/server')
  return (work) => {
    try {
      after(work)
    } catch {
      // Outside a request (the relay's own timer), the process is awake anyway.
    }
  }
}

/**
 * Under `next start`, does the web process's work before a request reaches Next: Node reports each request before its
 * server handles it.
 */
function guardRequests(trustedProxies: number): void {
  subscribe('http.server.request.start', (message) => {
    const { request } = message as { request: IncomingMessage }
    if (trustedProxies === 0) forgetProxies(request)
    delete request.headers['x-millrace-local']
    if (request.url?.startsWith('/api/')) delete request.headers.rsc
    if ((request.url?.length ?? 0) > MAX_URL) request.url = refusedPath('length')
    else if (!isWellFormed(request.url)) request.url = refusedPath('path')
    else if (!METHODS.includes(request.method ?? '')) {
      request.url = refusedPath('method')
      request.method = 'GET'
    }
  })
}

/**
 * The routes are loaded only if the listener is used: `next start` and Vercel have none, and under hot reload this
 * module would serve outdated ones.
 */
async function apiListener(): Promise<ApiListener | null> {
  // Next evaluates this while it compiles, so `npm run dev` does not compile every route before it starts.
  if (process.env.NODE_ENV !== 'production' || env().API_THROUGH_NEXT) return null
  const [{ ROUTES }, { createApiListener }] = await Promise.all([
    import('./server/rest/routes'),
    import('./server/rest/listener/create'),
  ])
  return createApiListener(ROUTES)
}

/**
 * The composition root: this process's database, relay and engine, created once.
 * @param keepAlive set where the process may sleep as soon as it has answered
 */
export async function startRuntime(keepAlive?: KeepAlive): Promise<Runtime> {
  const holder = globalThis as Global
  if (holder[RUNTIME]) return holder[RUNTIME]
  const settings = env()
  requirePlatform(settings)
  const url = settings.DATABASE_URL
  if (!url) throw new EnvError('DATABASE_URL is missing. Start with `npm start`, which brings its own database.')
  // The only way to make next-auth use the address that people visited when NEXTAUTH_URL is not set.
  process.env.AUTH_TRUST_HOST ??= '1'
  // A missing key should stop the start, not fail on the first token.
  const keys = keyring()
  const waiting = { onWait: (reason: string) => log().warn({ reason }, 'waiting for the database') }
  // A platform that starts a process per burst of requests migrates when it deploys.
  if (!settings.VERCEL) await whenAvailable(() => migrate(settings.directUrl ?? url), waiting)
  if (!(await whenAvailable(() => checkPreparing(url), waiting)))
    log().warn({}, 'the pooler of DATABASE_URL loses prepared statements; continuing without them, which is slower')
  // From here on, `database()` returns this pool.
  const { sql, db } = database()
  // The first statements show whether the server accepts the pool's connection settings.
  await whenAvailable(() => joinInstallation(sql, settings, keys), waiting)
  await whenAvailable(() => db.$client.rows.unsafe('select 1'), waiting)
  await whenAvailable(() => setClock(sql), waiting)

  // A process that is suspended between requests gets no notifications; it listens while a request waits for a run.
  if (!settings.VERCEL) listenAlways()
  const stopTracing = await startTracing(settings)
  bindEngineCheck(settings.engine === 'embedded' ? () => beats(sql) : () => isCalled(sql, settings))
  const work = settings.ENGINE === 'off' ? await serveOnly(settings, sql) : await carryOn(settings, keepAlive)
  const runtime: Runtime = {
    async stop(graceMs) {
      await work.stop(graceMs)
      await stopTracing()
    },
  }
  log().info({ engine: settings.engine, work: settings.ENGINE }, 'runtime started')
  holder[RUNTIME] = runtime
  return runtime
}

/** Only a process with a trace receiver loads the tracing code. @returns a function that sends the rest */
async function startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME }: Env): Promise<() => Promise<void>> {
  if (OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return async () => {}
  const { openTracer } = await import('@/server/telemetry/open-tracer')
  const tracer = openTracer(OTEL_SERVICE_NAME ?? 'millrace', log())
  bindTracer(tracer)
  return async () => {
    bindTracer(null)
    await tracer.stop().catch((err: unknown) => log().warn({ err }, 'the last traces could not be sent'))
  }
}

/** After each response, the process may sleep: events and traces are sent first. */
function leaveNothing(kick: () => void, keepAlive: KeepAlive): void {
  kick()
  // The request's own span ends only after this.
  const sent = setImmediate().then(flushTraces)
  keepAlive(sent.catch((err: unknown) => log().warn({ err }, 'traces could not be sent')))
}

/** Leaves the work to other processes: writes jobs and events, and notifies those processes. */
async function serveOnly({ QUEUE_LIMIT }: Env, sql: Sql): Promise<Runtime> {
  // Only reads the functions' settings, so this process may call them itself under hot reload too.
  const enqueuer = createEnqueuer({
    sql,
    handler: callHere,
    handlers,
    appUrl: APP_URL,
    log: log(),
    mostWaiting: QUEUE_LIMIT,
  })
  await enqueuer.start()
  const notifier = new Notifier(sql, OUTBOX_CHANNEL, log())
  bindTransport({ kick: () => notifier.notify(), queue: enqueuer.queue, room: enqueuer.room, older: enqueuer.older })
  return {
    async stop() {
      await stopSandbox()
      log().info({}, 'runtime stopped')
    },
  }
}

function ofEngine({ queue, slotFor, room, startsWait, older }: Engine) {
  return { queue, slotFor, room, startsWait, older }
}

/** Runs the relay, and the engine unless Inngest is the engine. */
async function carryOn(settings: Env, keepAlive?: KeepAlive): Promise<Runtime> {
  const { db, sql } = database()
  const engine = settings.engine === 'embedded' ? embeddedEngine(settings, sql) : null
  const leaveInngest = engine ? () => {} : await meetInngest(settings, sql)
  const relay = createRelay({ db, send: sendEvents, log: log(), keepAlive })
  if (engine) {
    bindEngineFetch(engine.fetch)
    // Under hot reload, calls go over HTTP to this same server, which is not listening yet.
    if (settings.NODE_ENV === 'development') startWhenListening(engine)
    else await engine.start()
  }
  relay.start()
  bindTransport({
    kick: relay.kick,
    ...(keepAlive ? { answered: () => leaveNothing(relay.kick, keepAlive) } : {}),
    ...(engine ? ofEngine(engine) : {}),
  })
  // A process that is suspended between requests checks after each request instead.
  const listening = settings.VERCEL ? null : listen(OUTBOX_CHANNEL, relay.kick)
  // On Inngest, an engine run waits for the time limit of a pause, but not for that of a question, or of a whole run.
  const pauses = engine ? 'all' : 'questions'
  const stopWatching = settings.VERCEL ? () => {} : watchDue({ db, log: log(), now }, { pauses })
  const stopRetries = settings.VERCEL ? () => {} : watchRetries({ db, log: log(), now })
  const stopSweep = engine ? sweepOnce({ db, log: log(), now }) : () => {}
  return {
    async stop(graceMs) {
      leaveInngest()
      stopWatching()
      stopRetries()
      stopSweep()
      await engine?.stop({ graceMs })
      listening?.close()
      await relay.stop()
      await stopSandbox()
      log().info({}, 'runtime stopped')
    },
  }
}

/** Soon resumes the work of a process that died, instead of at the next minute's sweep. */
function sweepOnce(sweep: Sweep): () => void {
  const timer = setTimeout(() => {
    sweepRuns(sweep).catch((err: unknown) => log().warn({ err }, 'the first sweep failed; the next one follows'))
  }, FIRST_SWEEP_MS)
  return () => clearTimeout(timer)
}

/** @param heard also called whenever it begins to listen, because it may have missed notifications before */
function listen(channel: string, heard: () => void): { close(): void } {
  const { ready, close } = database().listen(channel, { heard, listening: heard })
  ready.catch((err: unknown) => log().debug({ err, channel }, 'cannot listen yet; looking now and then'))
  return { close }
}

async function beats(sql: Sql): Promise<boolean> {
  const age = await readHeartbeatAge(sql)
  return age !== null && age < HEARTBEAT_FRESH_MS
}

async function isCalled(sql: Sql, { deployment }: Env): Promise<boolean> {
  return inngestProblem(await readInngestState(sql), deployment !== 'preview') === null
}

/** Registers this service with the Inngest server. @returns a function for when this process stops */
async function meetInngest(settings: Env, sql: Sql): Promise<() => void> {
  bindCallNoter(callNoter(sql))
  // A server that has lost its functions has lost its runs, too.
  const restored = () => sweepRuns({ db: database().db, log: log(), now })
  if (!settings.VERCEL) return keepRegistering(sql, settings, log(), restored)
  await registerAtStart(sql, settings, log())
  return () => {}
}

/** By then, work left from before is overdue (`ANSWER_TAKEN_MS` and the like). */
const FIRST_SWEEP_MS = 6_000
/** Rung by processes without a relay, and by the database for events that triggers write. */
const OUTBOX_CHANNEL = 'outbox'
const APP_URL = `${EMBEDDED_URL}/api/inngest`

const callHere: EngineOptions['handler'] = async (call) => (await apart(() => callFunctions(call))) as never

function embeddedEngine(settings: Env, sql: Sql): Engine {
  return createEngine({
    sql,
    byKey: database().db.$client.rows,
    listen,
    handler: settings.NODE_ENV === 'development' ? callOverHttp(settings) : callHere,
    // Under hot reload, this module would continue with the old functions.
    ...(settings.NODE_ENV === 'development' ? {} : { handlers }),
    bootId: randomUUID(),
    hostId: settings.MILLRACE_HOST_ID ?? machineId(),
    appUrl: APP_URL,
    mostWaiting: settings.QUEUE_LIMIT,
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
 * Under hot reload this module has the functions of the start; only the route has the edited ones. So calls use the
 * route, with a key that only this process knows.
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
