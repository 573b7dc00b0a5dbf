import type { TRPCClient } from '@trpc/client'
import type { Refused } from '@/server/runs/moves/move'
import type { AppRouter } from '@/server/trpc/root'

type Client = { runs: Pick<TRPCClient<AppRouter>['runs'], 'move' | 'moveBack'> }

/** As many as one call takes without being slow. */
const AT_ONCE = 25
/** When to try busy runs again, and for how long. */
const AGAIN_MS = 4_000
const MOST_MS = 600_000
/** More refusals than one call names. */
const MOST_REFUSED = 1_000

export interface How {
  toVersion: number
  asksAgain: boolean
  dropVotes: boolean
  reason: string
}

/** What became of the runs so far. */
export interface Progress {
  batch: string
  moved: string[]
  askedAgain: number
  refused: Refused[]
  /** The runs among them that are busy, and are tried again until then. */
  waiting: { count: number; until: number } | null
}

/**
 * Moves runs, some at a time. Tries those that are busy again, until they are not or ten minutes have passed.
 * @param batch of earlier moves, to which these belong; empty for none
 */
export async function moveAll(
  client: Client,
  of: { workflowId: string; runIds: readonly string[]; batch: string } & How,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const { workflowId, runIds, reason, batch: earlier, ...how } = of
  const until = Date.now() + MOST_MS
  let batch = earlier
  const [moved, asked, refused] = [new Set<string>(), new Set<string>(), new Map<string, Refused>()]
  const busy = () => [...refused.values()].flatMap((one) => (isBusy(one) ? [one.runId] : []))
  for (let left = [...runIds]; left.length > 0 && !signal.aborted; left = busy()) {
    for (let at = 0; at < left.length && !signal.aborted; at += AT_ONCE) {
      const body = { workflowId, ...how, runIds: left.slice(at, at + AT_ONCE), ...(reason ? { reason } : {}) }
      const answer = await client.runs.move.mutate({ ...body, ...(batch ? { batch } : {}) })
      batch = answer.batch
      for (const { runId, verdict } of answer.moved) {
        moved.add(runId)
        refused.delete(runId)
        if (verdict === 'asks_again') asked.add(runId)
      }
      for (const one of answer.refused) refused.set(one.runId, one)
      const count = busy().length
      const waiting = count > 0 ? { count, until } : null
      onProgress({ batch, moved: [...moved], askedAgain: asked.size, refused: [...refused.values()], waiting })
    }
    if (busy().length === 0 || Date.now() >= until) return
    await pause(AGAIN_MS, signal)
  }
}

/** Whether it may succeed when it is tried again. */
export function isBusy(one: Refused): boolean {
  return one.code === 'MOVE_REFUSED' && one.verdict === 'not_now'
}

/** Moves the runs of a batch back that have begun no step since, some at a time. */
export async function moveAllBack(
  client: Client,
  { workflowId, batch }: { workflowId: string; batch: string },
  signal: AbortSignal,
  onProgress: (progress: { count: number; refused: Refused[] }) => void,
): Promise<void> {
  let back = ''
  let count = 0
  const refused: Refused[] = []
  for (let left = true; left && !signal.aborted; ) {
    const skip = refused.map(({ runId }) => runId)
    const answer = await client.runs.moveBack.mutate({ workflowId, batch, skip, ...(back ? { back } : {}) })
    back = answer.batch
    count += answer.moved.length
    refused.push(...answer.refused)
    left = answer.left && refused.length < MOST_REFUSED
    onProgress({ count, refused: [...refused] })
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', over)
      resolve()
    }
    const timer = setTimeout(over, ms)
    signal.addEventListener('abort', over)
  })
}
