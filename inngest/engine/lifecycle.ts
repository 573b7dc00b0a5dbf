import { plainError } from './call'
import type { Claim, EngineContext } from './context'
import { ingest } from './ingest'
import { dropJob } from './jobs'
import { settle } from './waits'

interface Ended {
  function_id: string
  event: string
  status: 'completed' | 'failed' | 'cancelled'
  output: string | null
  parent_run_id: string | null
  parent_step_id: string | null
}

/** Notifies a run's parent, functions and waits that it has ended. Safe to repeat: each part happens once. */
export async function notifyRunEnded(ctx: EngineContext, claim: Claim): Promise<void> {
  const [run] = await ctx.sql<Ended[]>`
    select function_id, event, status, output, parent_run_id, parent_step_id from engine.runs where id = ${claim.runId}`
  if (run && run.status !== ('running' as string)) {
    const output: unknown = JSON.parse(run.output ?? 'null')
    if (run.parent_run_id !== null && run.parent_step_id !== null) {
      const value = run.status === 'completed' ? { data: output } : { error: parentError(run, output) }
      await settle(ctx, [{ run: run.parent_run_id, step: run.parent_step_id, value: JSON.stringify(value) }])
    }
    const original: unknown = JSON.parse(run.event)
    const data = {
      function_id: run.function_id,
      run_id: claim.runId,
      event: original,
      events: [original],
      ...(run.status === 'failed' ? { error: output } : {}),
      ...(run.status === 'completed' ? { result: output } : {}),
      _inngest: { status: STATUS[run.status] },
    }
    const at = ctx.now().getTime()
    const names = ['inngest/function.finished']
    if (run.status !== 'completed') names.push(`inngest/function.${run.status}`)
    for (const name of names) {
      // The run's id is the event's id. The name separates the two events of one end.
      await ingest(ctx, { id: claim.runId, name, data, ts: at }, name)
    }
  }
  await dropJob(ctx, claim)
}

const STATUS = { completed: 'Completed', failed: 'Failed', cancelled: 'Cancelled' }

function parentError(run: Ended, output: unknown): unknown {
  if (run.status === 'cancelled') return plainError(`The invoked function ${run.function_id} was cancelled`)
  return output
}
