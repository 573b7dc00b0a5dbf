import { createHash } from 'node:crypto'
import type { Sql } from '@/db/index'
import { now } from '@/server/clock'
import type { Registration } from '@/server/definition/installation'
import { type Env, EnvError } from '@/server/env'
import { readInngestState, silentS } from '@/server/host/engine-state'
import type { Log } from '@/server/log'
import { callFunctions } from './serve'

const PATH = '/api/inngest'
/** The delays between attempts; the last one repeats. Short, because no run continues until one succeeds. */
const AGAIN_MS = [2_000, 5_000, 10_000, 20_000]
/** How often it checks whether the server still calls. */
const WATCH_MS = 5_000
/** A sweep is due every minute. If none comes, the server may have lost its state, including the functions. */
const MISSED_MS = 70_000
/** How long a start waits at most on a platform that bills by time. */
const START_MS = 8_000
/** How the SDK's message ends when the server has rejected the key. */
const REFUSED = /\bstatus code: 401\b/

/**
 * Registers the functions with the Inngest server, unless any process has already registered exactly the same.
 * @param options.always registers even then
 * @param options.repeats preserves the time of the previous registration, from which on the server should have called
 * @returns the outcome of the last registration
 * @throws EnvError if no setting names this service's address
 */
export async function registerFunctions(
  sql: Sql,
  settings: Env,
  {
    always = false,
    repeats = false,
    origin = settings.INNGEST_SERVE_ORIGIN ?? settings.PUBLIC_URL,
  }: { always?: boolean; repeats?: boolean; origin?: string | undefined } = {},
): Promise<Registration> {
  if (!origin) throw new EnvError('PUBLIC_URL is missing: the Inngest server must know where to call the functions.')
  const url = new URL(PATH, origin).href
  const fingerprint = await fingerprintOf(url, settings)
  const [row] = await sql<{ registration: Registration | null }[]>`select registration from installation`
  const last = row?.registration
  if (!always && last?.fingerprint === fingerprint && last.error === null) return last
  const error = await sendRegistration(url, settings)
  const kept = repeats && last?.fingerprint === fingerprint && last.error === null && error === null
  const registration: Registration = { url, fingerprint, at: kept ? last.at : now().toISOString(), error }
  await sql`update installation set registration = ${sql.json(registration)}`
  return registration
}

/**
 * Registers in the background until it succeeds, and again whenever the server stops calling.
 * @param restored called each time the functions were registered again
 * @returns stops it
 */
export function keepRegistering(
  sql: Sql,
  settings: Env,
  log: Log,
  restored: () => Promise<unknown>,
  { watchMs = WATCH_MS, missedMs = MISSED_MS } = {},
): () => void {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const later = (ms: number, work: () => Promise<void>) => {
    if (stopped) return
    timer = setTimeout(() => void work(), ms)
    timer.unref()
  }
  const attempt = async (tries: number, again: boolean): Promise<void> => {
    const outcome = await registerFunctions(sql, settings, { always: again, repeats: again }).catch((err: unknown) => ({
      url: undefined,
      error: String(err),
    }))
    if (stopped) return
    if (outcome.error === null) {
      log.info({ url: outcome.url }, 'the functions are registered with Inngest')
      if (!again) return later(watchMs, watch)
      await restored().catch((err: unknown) => log.warn({ err }, 'a sweep failed; the next one follows'))
      return later(missedMs, watch)
    }
    log.warn({ reason: outcome.error }, 'the functions could not be registered with Inngest; trying again')
    later(AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)] ?? 0, () => attempt(tries + 1, again))
  }
  const watch = async (): Promise<void> => {
    const silent = await readInngestState(sql).then(silentS, () => 0)
    if (stopped || silent * 1_000 < missedMs) return later(watchMs, watch)
    log.warn({ silentS: Math.round(silent) }, 'the Inngest server does not call; registering the functions again')
    await attempt(0, true)
  }
  void attempt(0, false)
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

/**
 * Registers once, at the start of a process that is suspended between requests. The health of the service reports a
 * failure.
 */
export async function registerAtStart(sql: Sql, settings: Env, log: Log): Promise<void> {
  const late = new Promise<never>((_, fail) =>
    setTimeout(() => fail(new Error(`no answer within ${START_MS} ms`)), START_MS).unref(),
  )
  const { error } = await Promise.race([registerFunctions(sql, settings), late]).catch((err: unknown) => ({
    error: String(err),
  }))
  if (error !== null) log.warn({ reason: error }, 'the functions could not be registered with Inngest')
}

async function sendRegistration(url: string, { VERCEL_AUTOMATION_BYPASS_SECRET: bypass }: Env): Promise<string | null> {
  const address = new URL(url)
  // Lets the server through Vercel's Deployment Protection.
  if (bypass) address.searchParams.set('x-vercel-protection-bypass', bypass)
  const { status, body } = await callFunctions({
    method: 'PUT',
    url: address.href,
    headers: { host: address.host },
    body: {},
  })
  if (status === 200) return null
  const { message = 'no reason given' } = JSON.parse(body || '{}') as { message?: string }
  // The SDK expects JSON from the server, whose refusal of a key is plain text.
  return REFUSED.test(message) ? 'the Inngest server refuses INNGEST_SIGNING_KEY (401)' : `${message} (${status})`
}

async function fingerprintOf(url: string, settings: Env): Promise<string> {
  const headers = { host: new URL(url).host, 'x-inngest-sync-kind': 'in_band' }
  const { body } = await callFunctions({ method: 'PUT', url, headers, body: { url } })
  const { functions } = JSON.parse(body) as { functions: unknown }
  const { INNGEST_BASE_URL, INNGEST_ENV, INNGEST_SIGNING_KEY, VERCEL_AUTOMATION_BYPASS_SECRET: bypass } = settings
  // The registered address contains the bypass, so a changed bypass requires a new registration.
  const parts = [url, functions, INNGEST_BASE_URL, INNGEST_ENV, INNGEST_SIGNING_KEY, ...(bypass ? [bypass] : [])]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
