import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { applyDefinitions } from '@/server/as-code/apply'
import { backtestDefinitions, type DefinitionsBacktest } from '@/server/as-code/backtest'
import { diffDefinitions } from '@/server/as-code/diff'
import { exportDefinitions } from '@/server/as-code/export'
import { PLURALS } from '@/server/as-code/schema'
import type { ServiceContext } from '@/server/context'
import { isJsonObject, type JsonObject, pathText } from '@/server/definition/json'
import { AppError, ERRORS, type ErrorCode, type ErrorDetail } from '@/server/errors'
import { isId } from '@/server/ids'
import { type Definitions, noDefinitions } from './folder'

export type Applied = Awaited<ReturnType<typeof applyDefinitions>>
export type Diff = Awaited<ReturnType<typeof diffDefinitions>>

/** The source of pulls and the target of applies. */
export interface Workspace {
  page(query: Record<string, string>): Promise<Definitions & { next: string | null }>
  diff(body: JsonObject): Promise<Diff>
  apply(body: JsonObject): Promise<Applied>
  backtest(body: JsonObject): Promise<DefinitionsBacktest>
  /** Where people see a run; its id if nobody knows. */
  runUrl(runId: string): string
}

export async function everythingIn(workspace: Workspace): Promise<Definitions> {
  const all: Definitions = noDefinitions()
  for (let query: Record<string, string> = {}; ; ) {
    const { next, ...found } = await workspace.page(query)
    for (const plural of PLURALS) {
      const list = found[plural]
      if (list) all[plural]?.push(...list)
      else delete all[plural]
    }
    if (next === null) return all
    if (next === query.after) throw new Error('The service repeats a page of its definitions.')
    query = { after: next }
  }
}

export function localWorkspace(ctx: ServiceContext): Workspace {
  return {
    page: (query) => exportDefinitions(ctx, query),
    diff: (body) => diffDefinitions(ctx, body),
    apply: (body) => applyDefinitions(ctx, body),
    backtest: (body) => backtestDefinitions(ctx, body, new AbortController().signal),
    runUrl: (runId) => runId,
  }
}

const TIMEOUT_MS = 120_000
const PAUSE_MS = 5_000

export interface Remote {
  url: string
  apiKey: string
  tenantId: string | undefined
  /** Passes Vercel's Deployment Protection. */
  bypass: string | undefined
}

/** A service on another machine. */
export function remoteWorkspace(remote: Remote): Workspace {
  const path = '/api/definitions'
  return {
    page: async (query) => pageOf(await ask<JsonObject>(remote, `${path}?${new URLSearchParams(query)}`)),
    diff: (body) => ask(remote, `${path}/diff`, body),
    apply: (body) => ask(remote, `${path}/apply`, body),
    backtest: (body) => patiently(() => ask(remote, `${path}/backtest`, body)),
    runUrl: (runId) => `${remote.url.replace(/\/+$/, '')}/r/${encodeURIComponent(runId)}`,
  }
}

const ATTEMPTS = 12

/** Again while another backtest of the workspace is under way. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (err) {
      if (!(err instanceof AppError) || err.code !== 'RATE_LIMITED' || attempt === ATTEMPTS) throw err
      await sleep(PAUSE_MS)
    }
  }
}

const Listed = z.array(z.looseObject({ id: z.string().refine(isId) }))
const Page = z.object({
  tools: Listed,
  agents: Listed,
  workflows: Listed,
  // A service of an earlier version has neither; only those who may change inbound webhooks see them.
  schedules: Listed.optional(),
  inboundWebhooks: Listed.optional(),
  next: z.string().nullable(),
})

/** Ids become file names, so they are validated. */
function pageOf(answer: JsonObject): Definitions & { next: string | null } {
  const page = Page.safeParse(answer)
  if (page.success) return page.data as Definitions & { next: string | null }
  const where = pathText(page.error.issues[0]?.path ?? [])
  throw new Error(`The service answered with something that is not a list of definitions: see ${where}. Check --url.`)
}

/** The answer, in the form that the service's document promises. */
async function ask<T>({ url, apiKey, tenantId, bypass }: Remote, path: string, body?: JsonObject): Promise<T> {
  const address = `${url.replace(/\/+$/, '')}${path}`
  const response = await fetch(address, {
    method: body ? 'POST' : 'GET',
    headers: {
      'x-api-key': apiKey,
      ...(tenantId === undefined ? {} : { 'x-tenant-id': tenantId }),
      ...(bypass === undefined ? {} : { 'x-vercel-protection-bypass': bypass }),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    // A redirect's target must not get the key.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((err: unknown) => {
    throw new Error(`${address} could not be reached: ${reasonOf(err)}.`)
  })
  const text = await response.text()
  const answer = parsed(text)
  if (response.ok && answer) return answer as T
  const error = isJsonObject(answer?.error) ? answer.error : null
  if (!error) throw new Error(`${address} responded with ${response.status}, and not as Millrace does. Check --url.`)
  const { code, message, details } = error
  throw new AppError(typeof code === 'string' && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'INTERNAL', {
    message: `${String(message)} (${response.status} from ${url})`,
    details: (Array.isArray(details) ? details : []) as ErrorDetail[],
  })
}

function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

function reasonOf(err: unknown): string {
  const cause = err instanceof Error ? (err.cause ?? err) : err
  return cause instanceof Error ? cause.message : String(cause)
}
