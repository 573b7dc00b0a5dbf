import type { TRPCClient } from '@trpc/client'
import type { Judged } from '@/server/definition/verdict-groups'
import type { AppRouter } from '@/server/trpc/root'

/** As many as one call takes. */
const AT_ONCE = 50

/** Tries runs on a saved version, some at a time, until the caller stops. Executes nothing. */
export async function tryPastRuns(
  client: TRPCClient<AppRouter>,
  of: { workflowId: string; version: number; runIds: readonly string[]; of: 'ended' | 'failed' },
  signal: AbortSignal,
  onJudged: (judged: readonly Judged[]) => void,
): Promise<Judged[]> {
  const judged: Judged[] = []
  for (let left = [...of.runIds]; left.length > 0 && !signal.aborted; ) {
    const body = { version: of.version, runIds: left.slice(0, AT_ONCE), of: of.of }
    const tried = await client.workflows.backtestRuns.mutate({ id: of.workflowId, body }, { signal })
    judged.push(...tried.runs)
    left = [...tried.left, ...left.slice(AT_ONCE)]
    onJudged([...judged])
  }
  return judged
}
