import type { ServiceContext } from '../../context'
import type { JsonValue } from '../../definition/json'
import type { Definition } from '../../definition/schema'
import type { WorkflowCase } from '../../definition/test-case'
import type { RanCase } from '../../versioned/run-cases'
import { computingIn } from './compute'
import { type Budget, drive } from './drive'
import { endOf, startOf } from './ends'
import { assumedIn, factsOfKept, sentenceOf } from './kept'
import { Recorded } from './recorded'
import { Undetermined } from './unknown'
import { Cut, Walker } from './walk'

/** Its caller limits what it computes. */
const BUDGET: Budget = { visits: 20_000, ms: 2_000, computeMs: Number.POSITIVE_INFINITY }

/**
 * Replays a definition with a kept run's input, effects' results and people's answers. Recomputes everything else, and
 * executes nothing.
 * @param definition without errors, in the form that runs read
 * @param scripts its tools that only compute
 */
export async function replayCase(
  ctx: ServiceContext,
  definition: Definition,
  { kept, scripts }: { kept: WorkflowCase; scripts: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<RanCase> {
  const started = startOf(ctx, definition, kept.data)
  if ('failed' in started) return { ended: started }
  const source = new Recorded(factsOfKept(kept), computingIn(ctx, signal, scripts))
  try {
    const walk = new Walker(definition, source, ctx.now()).walk(started.state, definition.initialStep)
    const end = endOf(await drive(ctx.tenantId, walk, BUDGET))
    source.ended()
    const unknown = source.unknowns.reasonIn(end as JsonValue)
    if (unknown) return { ended: { notRun: sentenceOf(unknown, definition) } }
    return { ended: end, assumed: assumedIn(source.assumed, definition) }
  } catch (err) {
    if (err instanceof Undetermined) return { ended: { notRun: sentenceOf(err.reason, definition) } }
    if (err instanceof Cut) return { ended: { notRun: 'The walk takes too long to follow.' } }
    throw err
  }
}
