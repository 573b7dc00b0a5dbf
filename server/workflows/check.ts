import { loadAgent } from '../agents/find'
import type { ServiceContext } from '../context'
import { AppError, type ErrorDetail } from '../errors'
import { findStepType } from '../steps/registry'
import { getToolVersion } from '../tools/find'
import { checkGraph, type Problem } from './graph'
import type { Definition } from './schema'

/** Every problem of a definition, those with the tenant's resources included. */
export async function checkDefinition(ctx: ServiceContext, definition: Definition): Promise<Problem[]> {
  const problems = checkGraph(definition)
  const known = new Map<string, boolean>()
  for (const step of definition.steps) {
    const type = findStepType(step.type)
    const config = type?.config.safeParse(step)
    if (!type?.uses || !config?.success) continue
    for (const use of type.uses(config.data as never)) {
      if (use.id.includes('${')) continue
      const version = use.version ?? 'latest'
      const key = `${use.kind}:${use.id}@${version}`
      const exists = known.get(key) ?? (await resourceExists(ctx, use.kind, use.id, version))
      known.set(key, exists)
      if (exists) continue
      const { code, what, field } = MISSING[use.kind]
      const message = `${what} not found: ${use.id}${use.version === undefined ? '' : ` version ${use.version}`}.`
      problems.push({ severity: 'error', code, message, stepId: step.id, field })
    }
  }
  return problems
}

const MISSING = {
  tool: { code: 'TOOL_NOT_FOUND', what: 'Tool', field: 'toolId' },
  agent: { code: 'AGENT_NOT_FOUND', what: 'Agent', field: 'agentId' },
} as const

async function resourceExists(
  ctx: ServiceContext,
  kind: keyof typeof MISSING,
  id: string,
  version: string | number,
): Promise<boolean> {
  try {
    await (kind === 'tool' ? getToolVersion(ctx, id, version) : loadAgent(ctx, id, version))
    return true
  } catch (err) {
    if (err instanceof AppError && err.code === MISSING[kind].code) return false
    throw err
  }
}

/** @throws AppError VALIDATION_FAILED with one detail for each error; warnings do not stop anything */
export async function requireRunnable(ctx: ServiceContext, definition: Definition): Promise<Problem[]> {
  const problems = await checkDefinition(ctx, definition)
  const errors = problems.filter((problem) => problem.severity === 'error')
  if (errors.length > 0) throw new AppError('VALIDATION_FAILED', { details: errors as ErrorDetail[] })
  return problems.filter((problem) => problem.severity === 'warning')
}
