import { PgPreparedQuery } from 'drizzle-orm/pg-core'

/**
 * Postgres's text about the values themselves: `Key (hash)=(…) already exists`, the failing row, a function's context.
 */
const REVEALING = ['detail', 'where', 'internal_query', 'hint'] as const
/** The messages of class 22, data exceptions, quote the rejected value. Column names come unquoted or not at all. */
const QUOTES_VALUE = /^22/

/**
 * Removes every value sent with a failed statement from its error, before it can be logged or stored. The statement's
 * text, the code, and the names of constraint, table and column remain.
 * @returns the same error
 */
export function withoutValues<E>(error: E): E {
  if (!(error instanceof Error) || error.name !== 'PostgresError') return error
  const said = error as Error & { code?: string } & Partial<Record<(typeof REVEALING)[number], string>>
  for (const name of REVEALING) delete said[name]
  if (!QUOTES_VALUE.test(said.code ?? '')) return error
  const { message, stack = '' } = said
  const before = message.split(/[:"'`«»„“”]/)[0]?.trim() ?? ''
  if (before === message) return error
  said.message = `${before} …`
  Object.defineProperty(said, 'stack', { value: stack.replace(message, () => said.message), configurable: true })
  return error
}

interface Prepared {
  queryWithCache(text: string, params: unknown[], query: () => Promise<unknown>): Promise<unknown>
}

/**
 * Drizzle words its errors `Failed query: … params: …`, with the values in the message. It needs the parameters only
 * for that, and for a cache that we do not use, so we pass none.
 */
function keepParametersOutOfDrizzle(): void {
  const prepared = PgPreparedQuery.prototype as unknown as Prepared
  const own = prepared.queryWithCache
  if (typeof own !== 'function') throw new Error('Drizzle no longer runs its queries through queryWithCache.')
  prepared.queryWithCache = function (text, _params, query) {
    return own.call(this, text, [], query)
  }
}

keepParametersOutOfDrizzle()
