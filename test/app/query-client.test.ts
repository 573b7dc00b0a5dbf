import { expect, test } from 'vitest'
import { makeQueryClient } from '@/app/_trpc/query-client'

const refused = (httpStatus: number) => Object.assign(new Error('no'), { data: { httpStatus } })

/** Whether a query would repeat by itself after this error. */
async function goesOn(error: unknown, enabled?: boolean): Promise<boolean> {
  const client = makeQueryClient()
  const queryKey = ['x']
  const asked = {
    queryKey,
    queryFn: () => Promise.reject(error),
    retry: false,
    ...(enabled === undefined ? {} : { enabled }),
  }
  await client.prefetchQuery(asked)
  const query = client.getQueryCache().find({ queryKey })
  const options = client.defaultQueryOptions(client.defaultQueryOptions(asked))
  if (!query || typeof options.enabled !== 'function') throw new Error('There is no such query.')
  return options.enabled(query as never)
}

test('a query that the role may not read is not repeated at its interval; others are', async () => {
  expect(await goesOn(refused(403))).toBe(false)
  expect(await goesOn(refused(403), true)).toBe(false)
  expect(await goesOn(refused(503))).toBe(true)
  expect(await goesOn(refused(404))).toBe(true)
  expect(await goesOn(refused(503), false)).toBe(false)
})
