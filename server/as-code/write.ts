import type { AgentConfig } from '../agents/schema'
import { type JsonObject, type JsonValue, toStorableJson } from '../definition/json'
import type { Definition, Edge, Step } from '../definition/schema'
import { optionalSettings } from '../definition/settings'
import { findStepType } from '../steps/registry'
import type { ToolDefinition } from '../tools/schema'

// A reader wants the same order of names everywhere, and a diff only the changes. Deeper names stay in the author's
// order, in which forms and schemas are shown.

export function writeWorkflow(definition: Definition): JsonObject {
  const { name, description, initialStep, payload, steps, edges } = definition
  const { businessKey, limits, onCancel, onFailure } = optionalSettings(definition)
  return toStorableJson({
    name,
    ...unless(description === '', { description }),
    ...unless(businessKey === undefined, { businessKey }),
    ...unless(limits === undefined, { limits }),
    ...unless(Object.keys(payload).length === 0, { payload }),
    ...unless(initialStep === null, { initialStep }),
    steps: steps.map(writeStep),
    ...unless(edges.length === 0, { edges: edges.map(writeEdge) }),
    ...unless(onCancel === undefined, { onCancel }),
    ...unless(onFailure === undefined, { onFailure }),
  })
}

const FIRST = ['id', 'type', 'name', 'description']
const LAST = ['saveAs', 'maxVisits', 'timeoutMs', 'retry', 'position']

/** In the editor's order: what the step is, its type's fields, then the fields of all steps. */
function writeStep(step: Step): Step {
  const own = Object.keys(findStepType(step.type)?.form ?? {})
  const known = [...FIRST, ...own.filter((name) => !FIRST.includes(name) && !LAST.includes(name)), ...LAST]
  return inOrder(step, known)
}

const writeEdge = (edge: Edge): Edge => inOrder(edge, ['from', 'on', 'to'])

/** Unknown names come last, sorted. */
function inOrder<T extends object>(object: T, known: readonly string[]): T {
  const rest = Object.keys(object)
    .filter((name) => !known.includes(name))
    .sort()
  const names = [...known.filter((name) => Object.hasOwn(object, name)), ...rest]
  return Object.fromEntries(names.map((name) => [name, object[name as keyof T]])) as T
}

export function writeAgent(config: AgentConfig): JsonObject {
  const {
    name,
    description,
    instructions,
    model,
    fallbacks,
    fallbackOn,
    limits,
    tools,
    outputSchema,
    supervisor,
    handoffs,
  } = config
  return toStorableJson({
    name,
    ...unless(description === '', { description }),
    model: writeModel(model),
    ...(fallbacks ? { fallbacks: fallbacks.map(writeModel) } : {}),
    ...(fallbackOn ? { fallbackOn } : {}),
    ...(limits ? { limits } : {}),
    ...unless(!supervisor, { supervisor }),
    ...unless(instructions === '', { instructions }),
    ...unless(tools.length === 0, { tools: tools.map((use) => unlessLatest(use, use.toolId)) }),
    ...unless(handoffs.length === 0, { handoffs: handoffs.map((use) => unlessLatest(use, use.agentId)) }),
    ...unless(outputSchema === null, { outputSchema }),
  })
}

function writeModel({ settings, ...model }: AgentConfig['model']) {
  return { ...model, ...unless(Object.keys(settings).length === 0, { settings }) }
}

/** A bare id means the latest version, whose calls need no decision. */
function unlessLatest<U extends { version: string | number; approval?: unknown }>(use: U, id: string): U | string {
  return use.version === 'latest' && use.approval === undefined ? id : use
}

export function writeTool({ name, description, kind, config, inputSchema, outputSchema }: ToolDefinition): JsonObject {
  return toStorableJson({
    name,
    ...unless(description === '', { description }),
    kind,
    ...unless(inputSchema === null, { inputSchema }),
    ...unless(outputSchema === null, { outputSchema }),
    config,
  })
}

export function unless<T extends Record<string, JsonValue | object | undefined>>(
  absent: boolean,
  field: T,
): Partial<T> {
  return absent ? {} : field
}
