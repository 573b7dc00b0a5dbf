import { exitOf } from '@/server/definition/exits'
import { isJsonObject, type JsonObject, type JsonValue, own, pathText } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import { expressionsIn } from '@/server/definition/template'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import { numberOrText } from '../../../_arguments/values'
import { FIRST_BOUND } from './connect'
import { exitsOf, findStep, openExitOf } from './definition'
import { keyFix, stepFix } from './draft-fixes'
import { addStep, updateStep } from './edit-steps'
import type { Fix } from './fix'
import { renameRoot, rewriteText } from './references'

/** The fix of a problem, or null when it needs a person's decision. */
export function fixOf(definition: Definition, catalog: Catalog, problem: Problem): Fix | null {
  const { code, stepId } = problem
  const step = stepId === undefined ? undefined : findStep(definition, stepId)
  if (code === 'UNKNOWN_ON_CANCEL') {
    return { label: 'Remove the cleanup path', apply: ({ onCancel: _gone, ...rest }) => rest }
  }
  if (code === 'UNKNOWN_ON_FAILURE') {
    return { label: 'Remove the failure path', apply: ({ onFailure: _gone, ...rest }) => rest }
  }
  if (code === 'UNKNOWN_INITIAL_STEP' || code === 'NO_INITIAL_STEP') {
    const first = definition.steps[0]
    if (!first) return null
    return { label: `Start with ${first.id}`, apply: (before) => ({ ...before, initialStep: first.id }) }
  }
  if (code === 'DANGLING_EDGE') {
    const ids = new Set(definition.steps.map(({ id }) => id))
    return withEdges('Remove the connection', ({ from, to }) => ids.has(from) && ids.has(to))
  }
  if (code === 'W_BUSINESS_KEY') return keyFix(definition, problem)
  if (!step) return null
  switch (code) {
    case 'EXPRESSION_UNRESOLVED':
    case 'W_REF_MAYBE':
      return (
        (placeOf(step, problem.field) === null ? null : referenceFix(step.id, problem)) ??
        stepFix(definition, catalog, problem)
      )
    case 'W_TOOL_ARGS':
    case 'W_WORKFLOW_INPUT':
      return argumentFix(step.id, step, problem)
    case 'AMBIGUOUS_EDGES': {
      const seen = new Set<string>()
      return withEdges('Keep the first connection', (edge) => {
        const key = `${edge.from} ${exitOf(edge)}`
        return edge.from !== step.id || seen.size !== seen.add(key).size
      })
    }
    case 'UNKNOWN_EXIT': {
      const exits = exitsOf(definition, catalog, step.id).map(({ id }) => id)
      return withEdges('Remove the connection', (edge) => edge.from !== step.id || exits.includes(exitOf(edge)))
    }
    case 'CYCLE_WITHOUT_BOUND':
      return {
        label: `Allow ${FIRST_BOUND.toLocaleString('en')} visits`,
        apply: (before) => updateStep(before, step.id, { maxVisits: FIRST_BOUND }),
      }
    case 'W_NO_END': {
      const end = catalog.steps.find(({ mode }) => mode === 'end')
      const exit = openExitOf(definition, catalog, step.id)
      if (!end || exit === null) return null
      return {
        label: `Add ${end.title}`,
        apply: (before) => addStep(before, catalog, end.type, { after: step.id, exit }).definition,
      }
    }
    default:
      return stepFix(definition, catalog, problem)
  }
}

function withEdges(label: string, keep: (edge: Definition['edges'][number]) => boolean): Fix {
  return { label, apply: (before) => ({ ...before, edges: before.edges.filter(keep) }) }
}

/** A name with one near match is renamed; a value that may be missing gets an empty text as its fallback. */
function referenceFix(stepId: string, { code, field = '', message, suggestion }: Problem): Fix | null {
  const source = /^\$\{(.*?)\} (can never|may)/.exec(message)?.[1]
  if (source === undefined) return null
  const root = /^[A-Za-z_][\w-]*/.exec(source)?.[0] ?? ''
  if (code === 'EXPRESSION_UNRESOLVED') {
    if (suggestion === undefined) return null
    const rename = renameRoot(root, suggestion)
    return inText(`Use \${${suggestion}}`, stepId, field, (text) => rewriteText(text, rename).text)
  }
  return inText('Add an empty fallback', stepId, field, (text) => {
    let result = ''
    let at = 0
    for (const { end, reference } of expressionsIn(text)) {
      if (reference.root !== root || reference.fallback) continue
      result += `${text.slice(at, end - 1).trimEnd()} ?? ""}`
      at = end
    }
    return result + text.slice(at)
  })
}

function argumentFix(
  stepId: string,
  step: JsonObject,
  { field = '', fault, suggestion, message }: Problem,
): Fix | null {
  const path = placeOf(step, field)
  const name = path?.at(-1)
  if (path === null || name === undefined || path.length < 2) return null
  const value = valueAt(step, path)
  if (value === undefined) return null
  if (fault === 'unknown' && typeof name === 'string') {
    const parent = path.slice(0, -1)
    const taken = (object: JsonValue | undefined) =>
      suggestion !== undefined && isJsonObject(object) && Object.hasOwn(object, suggestion)
    // Both have a value, so a person decides which one counts.
    if (taken(valueAt(step, parent))) return null
    const rename = (to: string | null) => (object: JsonValue) =>
      isJsonObject(object) && !taken(object)
        ? Object.fromEntries(
            Object.entries(object).flatMap(([key, item]) =>
              key !== name ? [[key, item]] : to === null ? [] : [[to, item]],
            ),
          )
        : object
    return {
      label: suggestion === undefined ? `Remove ${name}` : `Rename ${name} to ${suggestion}`,
      apply: (before) => changeAt(before, stepId, parent, rename(suggestion ?? null)),
    }
  }
  if (fault !== 'wrong' || typeof value === 'object') return null
  const wanted = /must be (number|integer|string|boolean)/.exec(message)?.[1]
  const text = String(value).trim()
  const converted =
    wanted === 'string'
      ? text
      : wanted === 'boolean' && (text === 'true' || text === 'false')
        ? text === 'true'
        : wanted === 'number' || wanted === 'integer'
          ? numberOrText(text)
          : null
  if (converted === null || converted === value) return null
  if (wanted === 'number' && typeof converted !== 'number') return null
  if (wanted === 'integer' && !Number.isInteger(converted)) return null
  return { label: `Make ${name} a ${wanted}`, apply: (before) => changeAt(before, stepId, path, () => converted) }
}

function inText(label: string, stepId: string, field: string, change: (text: string) => string): Fix {
  return {
    label,
    apply: (before) =>
      changeAt(before, stepId, namesOf(field), (value) => (typeof value === 'string' ? change(value) : value)),
  }
}

/** The names of a problem's path, such as `args.lines[0].name`. */
function namesOf(field: string): (string | number)[] {
  return [...field.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) =>
    index === undefined ? (name ?? '') : Number(index),
  )
}

/** The place in a step that a problem's path names; null if it may be another, because a name contains a dot or bracket. */
function placeOf(step: JsonObject, field = ''): (string | number)[] | null {
  const names = namesOf(field)
  const sure = names.every((_, index) => {
    const at = valueAt(step, names.slice(0, index))
    const rest = pathText(names.slice(index))
    return !isJsonObject(at) || !Object.keys(at).some((key) => /[.[\]]/.test(key) && rest.startsWith(key))
  })
  return sure && pathText(names) === field ? names : null
}

function valueAt(value: JsonValue | undefined, path: readonly (string | number)[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (at, name) =>
      Array.isArray(at) ? at[Number(name)] : isJsonObject(at) && typeof name === 'string' ? own(at, name) : undefined,
    value,
  )
}

function changeAt(
  definition: Definition,
  stepId: string,
  [root, ...path]: readonly (string | number)[],
  change: (value: JsonValue) => JsonValue,
): Definition {
  const step = findStep(definition, stepId)
  const value = step && typeof root === 'string' ? own(step, root) : undefined
  if (typeof root !== 'string' || value === undefined) return definition
  return updateStep(definition, stepId, { [root]: changed(value, path, change) })
}

function changed(
  value: JsonValue,
  path: readonly (string | number)[],
  change: (value: JsonValue) => JsonValue,
): JsonValue {
  const [name, ...rest] = path
  if (name === undefined) return change(value)
  if (Array.isArray(value)) return value.map((item, index) => (index === name ? changed(item, rest, change) : item))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === name ? changed(item, rest, change) : item]),
  )
}
