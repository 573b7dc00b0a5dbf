import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import { UNREACHABLE, visibleError } from '@/app/_trpc/visible-error'
import { asSentence } from '@/app/_ui/sentence'
import type { VisibleError } from '@/server/trpc/errors'
import type { AppRouter } from '@/server/trpc/root'

type Inputs = inferRouterInputs<AppRouter>['auth']
type Outputs = inferRouterOutputs<AppRouter>['auth']

/**
 * Calls one of the few verbs open to people outside a workspace. These pages do not load the dashboard's data client,
 * so sign-in stays fast.
 * @throws CallFailed
 */
export async function call<N extends keyof Inputs & string>(
  name: N,
  input: Inputs[N],
  { signal, headers }: { signal?: AbortSignal; headers?: Record<string, string> } = {},
): Promise<Outputs[N]> {
  const response = await fetch(`/api/trpc/auth.${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(input),
    ...(signal ? { signal } : {}),
  })
  const answer = (await response.json()) as { result?: { data: Outputs[N] } } & Refusal
  if (answer.result) return answer.result.data
  throw new CallFailed(toldBy(answer))
}

/** A refusal by a verb, or one before any verb was called, such as of a large form. */
interface Refusal {
  error?: { data?: { error?: VisibleError } } & Partial<Omit<VisibleError, 'requestId'>>
  requestId?: string
}

/** tRPC's own `code` is a number. */
function toldBy({ error, requestId = '' }: Refusal): { error?: VisibleError } {
  if (error?.data?.error) return error.data
  if (typeof error?.code !== 'string') return {}
  return { error: { code: error.code, message: error.message ?? '', details: error.details ?? [], requestId } }
}

/** Carries the error as `visibleError` reads it. */
class CallFailed extends Error {
  override name = 'CallFailed'
  constructor(readonly data: { error?: VisibleError }) {
    super(data.error?.message)
  }
}

/** Errors per field name and for the whole form. */
export interface FormProblem {
  fields: Record<string, string>
  text: string | null
  /** The service's error code. */
  code: string | null
}

export const NO_PROBLEM: FormProblem = { fields: {}, text: null, code: null }

export function problemOf(error: unknown): FormProblem {
  const told = visibleError(error)
  if (!told) return { ...NO_PROBLEM, text: UNREACHABLE }
  const fields: Record<string, string> = {}
  for (const { path, message } of told.details) {
    const name = path?.split('.').at(-1)
    if (name) fields[name] ??= asSentence(message)
  }
  if (Object.keys(fields).length > 0) return { fields, text: null, code: told.code }
  const request = told.code === 'INTERNAL' ? ` (request ${told.requestId})` : ''
  return { fields, text: `${told.message}${request}.`, code: told.code }
}
