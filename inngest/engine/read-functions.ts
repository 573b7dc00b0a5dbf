import { type FunctionSpec, parseRegistration } from './registry'
import { signature } from './sign'
import type { EngineOptions } from './types'

/** The handler's address if the options name none. Nothing listens there: calls stay in the process. */
const UNUSED_ADDRESS = 'http://embedded.invalid/api/inngest'

export function addressOf({ appUrl = UNUSED_ADDRESS }: Pick<EngineOptions, 'appUrl'>): string {
  return appUrl
}

/** Reads the functions on first use. On failure the caller gets the error, and the next caller tries again. */
export function functionReader(
  options: Pick<EngineOptions, 'handler' | 'signingKey' | 'appUrl'>,
  now: () => Date,
): () => Promise<ReadonlyMap<string, FunctionSpec>> {
  let specs: Promise<ReadonlyMap<string, FunctionSpec>> | undefined
  return () => {
    specs ??= register(options, now().getTime()).catch((error: unknown) => {
      specs = undefined
      throw error
    })
    return specs
  }
}

/** Requests the handler's functions (an in-band sync) and rejects settings the engine cannot honour. */
async function register(
  options: Pick<EngineOptions, 'handler' | 'signingKey' | 'appUrl'>,
  now: number,
): Promise<Map<string, FunctionSpec>> {
  const { handler, signingKey } = options
  const url = new URL(addressOf(options))
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
