import { beforeEach, describe, expect, test, vi } from 'vitest'
import { reserveStream, watchEnd } from '@/server/http/open-streams'
import { type EventSource, openStream } from '@/server/http/sse'

vi.hoisted(() => Object.assign(process.env, { STREAMS_PER_TENANT: '3', STREAMS_TOTAL: '5' }))

const refusal = expect.objectContaining({ code: 'TOO_MANY_STREAMS', status: 429, headers: { 'retry-after': '5' } })

/** How many places of a tenant are free, determined by taking them all. */
function free(tenantId = 'ten_a'): number {
  const taken: (() => void)[] = []
  try {
    for (;;) taken.push(reserveStream(tenantId))
  } catch (err) {
    expect(err).toEqual(refusal)
  } finally {
    for (const leave of taken) leave()
  }
  return taken.length
}
beforeEach(() => {
  expect(free()).toBe(3)
})

test('a tenant has its own places, and all of them together have no more than the process', () => {
  const leave = [...Array(3)].map(() => reserveStream('ten_a'))
  expect(() => reserveStream('ten_a')).toThrow(refusal)
  leave.push(reserveStream('ten_b'), reserveStream('ten_c'))
  expect(() => reserveStream('ten_d')).toThrow(refusal)
  leave[0]?.()
  leave[0]?.()
  expect(free('ten_d')).toBe(1)
  for (const one of leave) one()
})

test('streams that pages can do without leave half of the places to others', () => {
  const leave = [...Array(2)].map(() => reserveStream('ten_a', { spare: true }))
  expect(() => reserveStream('ten_a', { spare: true })).toThrow(refusal)
  leave.push(reserveStream('ten_b', { spare: true }))
  expect(() => reserveStream('ten_c', { spare: true })).toThrow(refusal)
  leave.push(reserveStream('ten_a'), reserveStream('ten_c'))
  for (const one of leave) one()
})

const endless: EventSource = async function* (signal) {
  yield { event: 'first', data: 1 }
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
}
const brief: EventSource = async function* () {
  yield { event: 'only', data: 1 }
}
const broken: EventSource = async function* () {
  yield { event: 'first', data: 1 }
  throw new Error('broken')
}

async function drain(stream: ReadableStream<Uint8Array> | null): Promise<void> {
  const reader = stream?.getReader()
  while (reader && !(await reader.read()).done);
}

type Way = (caller: AbortController) => Promise<unknown>
const open = (source: EventSource | null, signal: AbortSignal) => openStream('ten_a', signal, async () => source)
const ways: [string, Way][] = [
  ['is read to its end', async ({ signal }) => drain(await open(brief, signal))],
  ['breaks', async ({ signal }) => expect(drain(await open(broken, signal))).rejects.toThrow('broken')],
  ['is cancelled unread', async ({ signal }) => (await open(endless, signal))?.cancel()],
  [
    'is cancelled after its first event',
    async ({ signal }) => {
      const reader = (await open(endless, signal))?.getReader()
      await reader?.read()
      await reader?.read()
      await reader?.cancel()
    },
  ],
  [
    'loses its caller before the first byte, and is never read',
    async (caller) => {
      await open(endless, caller.signal)
      caller.abort()
    },
  ],
  [
    'loses its caller before it is opened',
    async (caller) => {
      caller.abort()
      await open(endless, caller.signal)
    },
  ],
  [
    'loses its caller while it is read',
    async (caller) => {
      const reading = drain(await open(endless, caller.signal))
      caller.abort()
      await reading
    },
  ],
  ['has nothing to tell', async ({ signal }) => expect(await open(null, signal)).toBeNull()],
  [
    'cannot be opened',
    async ({ signal }) =>
      expect(openStream('ten_a', signal, () => Promise.reject(new Error('none')))).rejects.toThrow('none'),
  ],
]

describe('1,000 streams leave no place taken when each', () => {
  test.each(ways)('%s', async (_, way) => {
    for (let i = 0; i < 1_000; i++) await way(new AbortController())
    expect(free()).toBe(3)
  })
})

describe('the end of events is reported', () => {
  const watched = () => {
    let ends = 0
    const events = watchEnd(endless(new AbortController().signal), () => {
      ends += 1
    })
    return { iterator: events[Symbol.asyncIterator](), ends: () => ends }
  }

  test('when nobody ever asked for one', async () => {
    const { iterator, ends } = watched()
    await iterator.return?.()
    expect(ends()).toBe(1)
  })

  test('when they fail', async () => {
    let ended = false
    const events = watchEnd(broken(new AbortController().signal), () => {
      ended = true
    })
    await expect(
      (async () => {
        for await (const _ of events) expect(ended).toBe(false)
      })(),
    ).rejects.toThrow('broken')
    expect(ended).toBe(true)
  })
})
