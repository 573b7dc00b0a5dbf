import { loadAgent } from '../../agents/find'
import type { ServiceContext } from '../../context'
import { keyProblems } from '../../definition/business-key'
import { isJsonObject, type JsonObject } from '../../definition/json'
import type { Definition } from '../../definition/schema'
import { AppError } from '../../errors'
import { findStepType } from '../../steps/registry'
import { loadTool } from '../../tools/find'
import { certainMismatches } from '../../tools/json-schema'
import { misplacedSecrets } from '../../vault/misplaced'
import { checkGraph } from './graph'
import { nearestName } from './nearest'
import type { Problem } from './problem'

/** Every problem of a definition, including those with the tenant's tools and agents. */
export async function checkDefinition(ctx: ServiceContext, definition: Definition): Promise<Problem[]> {
  const problems = [...checkGraph(definition), ...checkKey(definition)]
  const known = new Map<string, boolean>()
  for (const step of definition.steps) {
    const type = findStepType(step.type)
    const config = type?.config.safeParse(step)
    if (!type || !config?.success) continue
    if (type.mode === 'effect' && type.sends) {
      const misplaced = await misplacedSecrets(ctx, type.sends(config.data))
      for (const { path, code, message } of misplaced)
        problems.push({
          severity: 'error',
          code: String(code ?? 'SECRET_NOT_ALLOWED'),
          message,
          stepId: step.id,
          field: path ?? 'url',
        })
    }
    if (!type.uses) continue
    for (const use of type.uses(config.data)) {
      if (use.id.includes('${')) continue
      const version = use.version ?? 'latest'
      const key = `${use.kind}:${use.id}@${version}`
      const exists = known.get(key) ?? (await resourceExists(ctx, use.kind, use.id, version))
      known.set(key, exists)
      if (exists && use.kind === 'tool') problems.push(...(await argumentWarnings(ctx, step.id, use, version)))
      if (exists) continue
      const { code, what, field } = MISSING[use.kind]
      const message = `${what} not found: ${use.id}${use.version === undefined ? '' : ` version ${use.version}`}.`
      problems.push({ severity: 'error', code, message, stepId: step.id, field })
    }
  }
  return problems
}

/** A warning only: a run that has no key still runs. */
function checkKey(definition: Definition): Problem[] {
  return keyProblems(definition).map((message) => ({
    severity: 'warning',
    code: 'W_BUSINESS_KEY',
    message,
    field: 'businessKey',
  }))
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
    await (kind === 'tool' ? loadTool(ctx, id, version) : loadAgent(ctx, id, version))
    return true
  } catch (err) {
    if (err instanceof AppError && err.code === MISSING[kind].code) return false
    throw err
  }
}

/**
 * Warnings for arguments the tool would refuse. What a template gives is known only during a run, so its value is not
 * checked, but missing and unknown arguments are certain.
 */
async function argumentWarnings(
  ctx: ServiceContext,
  stepId: string,
  use: { id: string; args?: JsonObject | undefined },
  version: string | number,
): Promise<Problem[]> {
  const { args } = use
  if (!args) return []
  const tool = await loadTool(ctx, use.id, version)
  if (!tool.inputSchema) return []
  const top = isJsonObject(tool.inputSchema.properties) ? Object.keys(tool.inputSchema.properties) : []
  return certainMismatches(tool.inputSchema, args, 'args').map(({ path, message, fault }) => {
    const at = { severity: 'warning' as const, code: 'W_TOOL_ARGS', stepId, field: path, fault }
    if (fault === 'missing') return { ...at, message: `The tool ${tool.name} needs ${path}.` }
    if (fault === 'wrong') return { ...at, message: `The tool ${tool.name} does not accept ${path}: it ${message}.` }
    const name = path.slice('args.'.length)
    const free = top.filter((known) => !Object.hasOwn(args, known))
    const suggestion = Object.hasOwn(args, name) ? nearestName(name, free) : null
    const none = `The tool ${tool.name} has no argument ${path}.`
    return suggestion === null
      ? { ...at, message: none }
      : { ...at, message: `${none} Did you mean ${suggestion}?`, suggestion }
  })
}

/** @throws AppError VALIDATION_FAILED with one detail per error; warnings do not prevent anything */
export async function requireRunnable(ctx: ServiceContext, definition: Definition): Promise<Problem[]> {
  const problems = await checkDefinition(ctx, definition)
  const errors = problems.filter((problem) => problem.severity === 'error')
  if (errors.length > 0) throw new AppError('VALIDATION_FAILED', { details: errors })
  return problems.filter((problem) => problem.severity === 'warning')
}
