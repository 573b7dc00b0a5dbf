import { beginsBranch, fixedExits } from '@/server/definition/exits'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { RunOverview } from '@/server/views/runs/overview'
import { graphExits } from '../../workflows/[id]/canvas/graph'
import type { Taken } from '../../workflows/[id]/canvas/still-graph'
import { entryOf, START } from '../../workflows/[id]/model/definition'
import { exitsTaken, type Visit } from './timeline-model'

/** A person's choice at a step. */
export type Choice = Pick<RunOverview['answers'][number], 'stepId' | 'label' | 'answer'>

/**
 * How often the run took each exit. A fork takes its branches' exits; those of a list share one. An action without a
 * connection of its own counts in addition to the exit taken instead: it records the decision.
 */
export function takenIn(
  definition: Definition,
  catalog: Catalog,
  visits: readonly Visit[],
  choices: readonly Choice[],
): Taken {
  const counts = exitsTaken(visits)
  const exits = graphExits(definition, catalog)
  const add = (stepId: string, exit: string, times: number) => {
    const of = counts.get(stepId) ?? new Map<string, number>()
    counts.set(stepId, of.set(exit, (of.get(exit) ?? 0) + times))
  }
  const specOf = new Map(definition.steps.map(({ id, type }) => [id, entryOf(catalog, type)?.exits]))
  for (const { stepId, fork } of visits) {
    const spec = specOf.get(stepId)
    if (!fork || !spec) continue
    const ended = fork.succeeded + fork.failed
    for (const { id } of exits.get(stepId) ?? []) {
      if (!beginsBranch(spec, id)) continue
      add(stepId, id, fixedExits(spec).includes(id) ? Math.max(ended, Math.min(1, fork.total)) : 1)
    }
  }
  for (const { stepId, answer } of choices) {
    const chosen = actionIn(answer)
    const exit = exits.get(stepId)?.find(({ id }) => id === chosen)
    if (exit && !exit.used) add(stepId, exit.id, 1)
  }
  if (visits.length > 0) counts.set(START, new Map([['next', 1]]))
  return counts
}

function actionIn(answer: Choice['answer']): unknown {
  const given = 'value' in answer ? answer.value : null
  return typeof given === 'object' && given !== null && 'actionId' in given ? given.actionId : undefined
}
