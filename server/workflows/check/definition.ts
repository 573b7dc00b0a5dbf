import { loadAgent } from '../../agents/find'
import type { ServiceContext } from '../../context'
import { keyProblems } from '../../definition/business-key'
import { Effort } from '../../definition/effort'
import { expand, writtenIds } from '../../definition/expand'
import { schemaOfFields } from '../../definition/fields-schema'
import { isJsonObject, type JsonObject } from '../../definition/json'
import { nearestName } from '../../definition/nearest'
import type { Definition } from '../../definition/schema'
import { misfitsIn } from '../../definition/types/misfits'
import type { ReadName } from '../../definition/types/read'
import { AppError } from '../../errors'
import { giveWay, inSlices } from '../../give-way'
import type { Use } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import { loadTool } from '../../tools/find'
import { certainMismatches } from '../../tools/json-schema'
import { misplacedSecrets } from '../../vault/misplaced'
import { findRowAt, findWhole } from '../../versioned/row-at'
import { advice } from '../advice'
import { WORKFLOW } from '../noun'
import { approvalWarnings } from './asking-agents'
import { assigneeWarnings } from './assignees'
import { type Flow, flowing } from './flow'
import { checkingGraph } from './graph'
import { isPinned, knownOutputs, pinnedOutputs } from './known-outputs'
import type { Problem } from './problem'
import { FOR_NAMES } from './scope'
import { unknownFields } from './unknown-fields'

/** Every problem of a definition, including problems with the tenant's tools and agents. */
export async function checkDefinition(ctx: ServiceContext, written: Definition): Promise<Problem[]> {
  const problems = await problemsOf(ctx, expand(written))
  const idOf = writtenIds(written)
  const placed = problems.map((problem) =>
    problem.stepId === undefined ? problem : { ...problem, stepId: idOf(problem.stepId) },
  )
  return [...placed, ...unknownFields(written)]
}

async function problemsOf(ctx: ServiceContext, definition: Definition): Promise<Problem[]> {
  const outputs = pinnedOutputs(await knownOutputs(ctx, definition))
  const problems = await inSlices(ctx.tenantId, checkingGraph(definition, outputs))
  problems.push(...checkKey(definition))
  problems.push(...(await advice(ctx, 'assignees', () => assigneeWarnings(ctx, definition), [])))
  problems.push(...(await advice(ctx, 'agents that ask', () => approvalWarnings(ctx, definition), [])))
  const looking = new Effort(FOR_NAMES)
  let flow: Flow | null = null
  const known = new Map<string, boolean>()
  const agents = new Map<string, ReturnType<typeof neverAnswers>>()
  const whyNot = (use: Use) => {
    const key = `${use.id}@${use.version}`
    const found = agents.get(key) ?? neverAnswers(ctx, use)
    agents.set(key, found)
    return found
  }
  for (const step of definition.steps) {
    await giveWay(ctx.tenantId)
    const type = findStepType(step.type)
    const config = type?.config.safeParse(step)
    if (!type || !config?.success) continue
    if (type.mode === 'effect' && type.sends) {
      const misplaced = await misplacedSecrets(ctx, type.sends(config.data))
      for (const { path, message } of misplaced)
        problems.push({
          severity: 'error',
          code: 'SECRET_NOT_ALLOWED',
          message,
          stepId: step.id,
          field: path ?? 'url',
        })
    }
    if (!type.uses) continue
    for (const use of type.uses(config.data)) {
      if (use.id.includes('${')) continue
      const exists = async (version: string | number) => {
        const key = `${use.kind}:${use.id}@${version}`
        const found = known.get(key) ?? (await resourceExists(ctx, use.kind, use.id, version))
        known.set(key, found)
        return found
      }
      const unnamed = use.kind === 'workflow' ? STARTED : 'latest'
      const version = use.version ?? unnamed
      const { code, what, field } = MISSING[use.kind]
      if (await exists(version)) {
        const uncallable = await whyNot(use)
        if (uncallable) problems.push({ severity: 'error', ...uncallable, stepId: step.id, field })
        const { args } = use
        if (!args) continue
        const warn = async () => {
          const taken = await takenBy(ctx, use, version)
          if (!taken) return []
          flow ??= await inSlices(ctx.tenantId, flowing(definition, outputs))
          return argumentWarnings(step.id, taken, args, flow.reads(step.id), looking)
        }
        problems.push(...(await advice(ctx, 'arguments of a step', warn, [])))
        continue
      }
      const hasOthers = use.version !== undefined && (await exists(unnamed))
      const message = hasOthers
        ? `${what} ${use.id} has no ${use.version === 'published' ? 'published version' : `version ${use.version}`}.`
        : `${what} not found: ${use.id}${use.version === undefined ? '' : ` version ${use.version}`}.`
      problems.push({ severity: 'error', code, message, stepId: step.id, field })
    }
  }
  return problems
}

/**
 * Why an agent's answer fails each run: a step needs data. Null if it is not an agent, or may be another one by the
 * time of a run.
 */
async function neverAnswers(
  ctx: ServiceContext,
  { kind, id, version }: Use,
): Promise<Pick<Problem, 'code' | 'message'> | null> {
  if (kind !== 'agent' || !isPinned(version)) return null
  const { name, config } = await loadAgent(ctx, id, version ?? 'latest')
  if (config.supervisor) {
    const message = `The agent ${name} is a supervisor, which a step cannot call. Choose an agent that answers with data.`
    return { code: 'AGENT_SUPERVISOR', message }
  }
  if (config.outputSchema !== null) return null
  const message = `The agent ${name} answers in text, and a step needs data. Give the agent an output schema, or choose another.`
  return { code: 'AGENT_NO_STRUCTURED_OUTPUT', message }
}

/** Only a warning: a run without a key still runs. */
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
  workflow: { code: 'WORKFLOW_NOT_FOUND', what: 'Workflow', field: 'workflowId' },
} as const

async function resourceExists(
  ctx: ServiceContext,
  kind: keyof typeof MISSING,
  id: string,
  version: string | number,
): Promise<boolean> {
  try {
    if (kind === 'tool') await loadTool(ctx, id, version)
    else if (kind === 'agent') await loadAgent(ctx, id, version)
    else return (await workflowAt(ctx, id, version)).row.status !== 'archived'
    return true
  } catch (err) {
    if (err instanceof AppError && err.code === MISSING[kind].code) return false
    throw err
  }
}

/** The version that a start runs by default. */
const STARTED = 'started'

async function workflowAt(ctx: ServiceContext, id: string, version: string | number) {
  if (version === STARTED) return findWhole(ctx, WORKFLOW, id, STARTED)
  const found = await findRowAt(ctx, WORKFLOW, id, version)
  return { row: found.row, content: WORKFLOW.contentOf(found.version) }
}

/** The arguments of a tool, or the input of a workflow. */
interface Taken {
  what: string
  /** The step's field. */
  field: string
  code: Problem['code']
  schema: JsonObject
}

/** Null without a schema. */
async function takenBy(ctx: ServiceContext, { kind, id }: Use, version: string | number): Promise<Taken | null> {
  if (kind === 'workflow') {
    const { row, content } = await workflowAt(ctx, id, version)
    const schema = schemaOfFields(content.payload)
    return { what: `The workflow ${row.name}`, field: 'input', code: 'W_WORKFLOW_INPUT', schema }
  }
  if (kind !== 'tool') return null
  const { name, inputSchema } = await loadTool(ctx, id, version)
  return inputSchema && { what: `The tool ${name}`, field: 'args', code: 'W_TOOL_ARGS', schema: inputSchema }
}

/**
 * Warnings for arguments that would be rejected. A template's value is known only during a run, so only its type is
 * checked, but missing and unknown arguments are certain.
 */
function argumentWarnings(
  stepId: string,
  { what, field, code, schema }: Taken,
  args: JsonObject,
  read: ReadName,
  looking: Effort,
): Problem[] {
  const top = isJsonObject(schema.properties) ? Object.keys(schema.properties) : []
  const noun = field === 'args' ? 'argument' : 'field'
  const never = misfitsIn(args, schema, read, field).map(({ path, message }) => {
    const at = { severity: 'warning' as const, code, stepId, field: path, fault: 'wrong' as const }
    return { ...at, message: `${what} does not accept ${path}: ${message}` }
  })
  const certain = certainMismatches(schema, args, field).map(({ path, message, fault }): Problem => {
    const at = { severity: 'warning' as const, code, stepId, field: path, fault }
    if (fault === 'missing') return { ...at, message: `${what} needs ${path}.` }
    if (fault === 'wrong') return { ...at, message: `${what} does not accept ${path}: it ${message}.` }
    const name = path.slice(`${field}.`.length)
    const free = top.filter((known) => !Object.hasOwn(args, known))
    const suggestion = Object.hasOwn(args, name) ? nearestName(name, free, looking) : null
    const none = `${what} has no ${noun} ${path}.`
    return suggestion === null
      ? { ...at, message: none }
      : { ...at, message: `${none} Did you mean ${suggestion}?`, suggestion }
  })
  return [...certain, ...never]
}

/**
 * @param matters selects the blocking problems, if only a part runs
 * @throws AppError VALIDATION_FAILED with one detail per error; warnings block nothing
 */
export async function requireRunnable(
  ctx: ServiceContext,
  definition: Definition,
  matters?: (problem: Problem) => boolean,
): Promise<Problem[]> {
  const found = await checkDefinition(ctx, definition)
  const problems = matters ? found.filter(matters) : found
  const errors = problems.filter((problem) => problem.severity === 'error')
  if (errors.length > 0) throw new AppError('VALIDATION_FAILED', { details: errors })
  return problems.filter((problem) => problem.severity === 'warning')
}
