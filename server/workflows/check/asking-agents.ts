import { mayAsk } from '../../agents/approval'
import { type LoadedAgent, loadAgent } from '../../agents/find'
import type { ServiceContext } from '../../context'
import { reachable } from '../../definition/paths'
import type { Definition } from '../../definition/schema'
import { AppError } from '../../errors'
import type { Use } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import type { Problem } from './problem'

/**
 * The names of the agents that may ask people, by the step that calls one. An agent whose id is known only during a run
 * is not among them.
 * @param steps the ids of the steps to look at
 * @param asks whether an agent may ask; by default about its calls
 */
export async function askingAgents(
  ctx: ServiceContext,
  definition: Definition,
  steps: ReadonlySet<string>,
  asks: (agent: LoadedAgent) => boolean = ({ config }) => mayAsk(config),
): Promise<Map<string, string>> {
  const asking = new Map<string, string>()
  const known = new Map<string, string | null>()
  for (const step of definition.steps) {
    if (!steps.has(step.id)) continue
    const type = findStepType(step.type)
    const config = type?.config.safeParse(step)
    const use = config?.success ? type?.uses?.(config.data).find(({ kind }) => kind === 'agent') : undefined
    if (!use || use.id.includes('${')) continue
    const key = `${use.id}@${use.version}`
    const name = known.has(key) ? known.get(key) : await nameIfAsking(ctx, use, asks)
    known.set(key, name ?? null)
    if (name) asking.set(step.id, name)
  }
  return asking
}

/** Null if it never asks, or is missing, which is another problem. */
async function nameIfAsking(
  ctx: ServiceContext,
  { id, version }: Use,
  asks: (agent: LoadedAgent) => boolean,
): Promise<string | null> {
  try {
    const agent = await loadAgent(ctx, id, version ?? 'latest')
    return asks(agent) ? agent.name : null
  } catch (err) {
    if (!(err instanceof AppError) || err.code !== 'AGENT_NOT_FOUND') throw err
    return null
  }
}

/** Warnings about agents that may ask on a path where nobody is asked. */
export async function approvalWarnings(ctx: ServiceContext, definition: Definition): Promise<Problem[]> {
  const warnings: Problem[] = []
  for (const [field, word] of PATHS) {
    const first = definition[field]
    if (first === undefined) continue
    for (const [stepId, name] of await askingAgents(ctx, definition, reachable(definition, first))) {
      const message = `The agent ${name} may ask people about its calls. On the ${word} path nobody is asked, so those calls are not made.`
      warnings.push({ severity: 'warning', code: 'W_APPROVAL', message, stepId, field: 'agentId' })
    }
  }
  return warnings
}

const PATHS = [
  ['onCancel', 'cleanup'],
  ['onFailure', 'failure'],
] as const
