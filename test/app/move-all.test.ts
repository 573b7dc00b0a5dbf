import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { moveAll, moveAllBack, type Progress } from '@/app/(dashboard)/[tenant]/workflows/[id]/versions/move-all'
import type { Refused } from '@/server/runs/moves/move'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type Client = Parameters<typeof moveAll>[0]
interface Sent {
  runIds: string[]
  batch?: string
}

const no = (runId: string, verdict: 'not_now' | 'not_possible' = 'not_now'): Refused => ({
  ...{ runId, code: 'MOVE_REFUSED', verdict, reasons: [], changes: [] },
})

/** A service whose answers the test makes up. */
function service(refuses: (runId: string, call: number) => Refused | null) {
  const sent: Sent[] = []
  const mutate = async (body: Sent) => {
    sent.push(body)
    const refused = body.runIds.flatMap((runId) => refuses(runId, sent.length) ?? [])
    const names = new Set(refused.map(({ runId }) => runId))
    const moved = body.runIds.flatMap((runId) => (names.has(runId) ? [] : [{ runId, verdict: 'asks_again' as const }]))
    return { batch: body.batch ?? 'mov_1', moved, refused }
  }
  return { sent, client: { runs: { move: { mutate } } } as unknown as Client }
}

const ids = (count: number) => Array.from({ length: count }, (_, n) => `run_${n}`)
const how = { workflowId: 'wf', batch: '', toVersion: 5, asksAgain: true, dropVotes: false, reason: '' }

async function moving(of: ReturnType<typeof service>, runIds: string[], signal = new AbortController().signal) {
  const seen: Progress[] = []
  const over = moveAll(of.client, { ...how, runIds }, signal, (now) => seen.push(now))
  return { seen, over }
}

test('runs are moved 25 a call, in one batch', async () => {
  const of = service((runId) => (runId === 'run_3' ? no(runId, 'not_possible') : null))
  const { seen, over } = await moving(of, ids(60))
  await over
  expect(of.sent.map(({ runIds, batch }) => [runIds.length, batch])).toEqual([
    [25, undefined],
    [25, 'mov_1'],
    [10, 'mov_1'],
  ])
  expect(seen.at(-1)).toMatchObject({ askedAgain: 59, refused: [{ runId: 'run_3' }], waiting: null })
})

test('busy runs are tried again until they are not, and named after ten minutes', async () => {
  const soon = service((runId, call) => (runId === 'run_1' && call < 4 ? no(runId) : null))
  const first = await moving(soon, ids(2))
  await vi.advanceTimersByTimeAsync(60_000)
  await first.over
  expect(soon.sent.map(({ runIds }) => runIds)).toEqual([['run_0', 'run_1'], ['run_1'], ['run_1'], ['run_1']])
  expect(first.seen.map(({ waiting }) => waiting?.count ?? 0)).toEqual([1, 1, 1, 0])

  const never = service((runId) => no(runId))
  const second = await moving(never, ids(1))
  await vi.advanceTimersByTimeAsync(599_000)
  const tries = never.sent.length
  expect(tries).toBeGreaterThan(100)
  await vi.advanceTimersByTimeAsync(60_000)
  await second.over
  expect(never.sent.length - tries).toBeLessThan(3)
  expect(second.seen.at(-1)).toMatchObject({ moved: [], refused: [{ runId: 'run_0' }] })
})

test('who stops waits for nothing, and sends nothing more', async () => {
  const of = service((runId) => no(runId))
  const stopping = new AbortController()
  const { over } = await moving(of, ids(1), stopping.signal)
  await vi.advanceTimersByTimeAsync(1_000)
  stopping.abort()
  await over
  expect(of.sent).toHaveLength(1)
})

test('a batch is moved back until none is left, without those that were refused', async () => {
  const sent: object[] = []
  const answers = [
    { batch: 'mov_2', moved: [{ runId: 'a' }], refused: [no('b')], left: true },
    { batch: 'mov_2', moved: [{ runId: 'c' }], refused: [], left: false },
  ]
  const mutate = async (body: object) => {
    sent.push(body)
    return answers[sent.length - 1]
  }
  const seen: { count: number }[] = []
  const client = { runs: { moveBack: { mutate } } } as unknown as Client
  const batch = { workflowId: 'wf', batch: 'mov_1' }
  await moveAllBack(client, batch, new AbortController().signal, (now) => seen.push(now))
  expect(sent).toEqual([
    { ...batch, skip: [] },
    { ...batch, skip: ['b'], back: 'mov_2' },
  ])
  expect(seen.at(-1)).toMatchObject({ count: 2, refused: [{ runId: 'b' }] })
})
