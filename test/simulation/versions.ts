import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { moveRuns } from '@/server/runs/moves/move'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import type { Dice } from '../graphs/generate'
import type { Graph } from '../graphs/reference'
import { definitionFor } from './plot'

/** A version between which the simulation moves runs. */
export interface Version {
  version: number
  /** Whether it goes the ways of the graph, so that a run that was moved to it still ends as the graph predicts. */
  same: boolean
}

type Drawn = ReturnType<typeof definitionFor>
type Steps = Drawn['steps']

/** Creates the workflow of a graph, with versions between which runs can move if there are `dice` for that. */
export async function publishVersions(
  ctx: ServiceContext,
  { graph, cleanup, dice }: { graph: Graph; cleanup: boolean; dice: Dice | null },
): Promise<{ workflowId: string; versions: Version[] }> {
  const first = definitionFor(graph, cleanup)
  const { id: workflowId } = await createWorkflow(ctx, { name: 'Simulated', ...first })
  if (dice === null) return { workflowId, versions: [] }
  const versions = [{ ...(await publishWorkflow(ctx, { id: workflowId })), same: true }]
  const others = [{ drawn: asking(first), same: true }, ...(dice.chance(60) ? [otherWay(first, dice)] : [])]
  for (const { drawn, same } of others) {
    await updateWorkflow(ctx, { id: workflowId, body: drawn as never })
    versions.push({ ...(await publishWorkflow(ctx, { id: workflowId })), same })
  }
  return { workflowId, versions: versions.map(({ version, same }) => ({ version, same })) }
}

/** Its tasks ask something else, and the run takes the same ways. */
function asking(drawn: Drawn): Drawn {
  const steps = drawn.steps.map((step, at) =>
    ['collect-inputs', 'request-user-action'].includes(String(step.type)) && at % 2 === 0
      ? { ...step, title: 'Asked again' }
      : step.type === 'delay'
        ? { ...step, for: 'PT0.03S' }
        : step,
  )
  return { ...drawn, steps }
}

/** It has one step more or less on its ways, or waits at a step of another name. */
function otherWay(drawn: Drawn, dice: Dice): { drawn: Drawn; same: false } {
  const edge = dice.pick([null, ...drawn.edges])
  if (edge === null || dice.chance(30)) return { drawn: renamed(drawn, dice), same: false }
  const between: JsonObject = { id: 'between', type: 'set-data', values: { between: 1 } }
  const edges = [...drawn.edges.filter((other) => other !== edge), { ...edge, to: 'between' }]
  return {
    drawn: {
      ...drawn,
      steps: [...drawn.steps, between] as Steps,
      edges: [...edges, { from: 'between', to: edge.to }] as Drawn['edges'],
    },
    same: false,
  }
}

/** What an id becomes in a version in which it has another one. */
const RENAMED = 'new_'

/** The id that a step has in the graph. */
export function idInGraph(stepId: string): string {
  return stepId.startsWith(RENAMED) ? stepId.slice(RENAMED.length) : stepId
}

function renamed(drawn: Drawn, dice: Dice): Drawn {
  const { id: old } = dice.pick(drawn.steps.filter(({ id }) => id !== 'undo'))
  const named = (id: unknown) => (id === old ? `${RENAMED}${id}` : id)
  return {
    ...drawn,
    initialStep: named(drawn.initialStep) as string,
    ...(drawn.onFailure === undefined ? {} : { onFailure: named(drawn.onFailure) as string }),
    steps: drawn.steps.map((step) => ({ ...step, id: named(step.id) })) as Steps,
    edges: drawn.edges.map((edge) => ({ ...edge, from: named(edge.from), to: named(edge.to) })) as Drawn['edges'],
  }
}

/** @returns why it was refused; null if it was moved */
export async function moveOne(
  ctx: ServiceContext,
  { workflowId, toVersion, runId }: { workflowId: string; toVersion: number; runId: string },
): Promise<string | null> {
  const { refused } = await moveRuns(ctx, { workflowId, toVersion, runIds: [runId], asksAgain: true, dropVotes: true })
  const [one] = refused
  if (!one) return null
  return one.reasons.map(({ code }) => code).join(' ') || one.code
}
