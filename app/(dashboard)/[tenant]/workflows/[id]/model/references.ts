import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { Definition, Step } from '@/server/definition/schema'
import { expressionsIn, type Reference, referenceText, type Segment } from '@/server/definition/template'
import { referringConfig } from '@/server/definition/templated-config'

/** The new start of a reference, or null to leave it. `length` is the number of source characters it replaces. */
type Rewrite = (reference: Reference) => { text: string; length: number } | null

export interface Found {
  stepId: string
  /** The path of the field, as in the server's problems. */
  path: string
  reference: Reference
}

/** Every `${…}` of the steps, with its location. Scripts have none. */
export function referencesIn(definition: Definition): Found[] {
  const found: Found[] = []
  for (const step of definition.steps) {
    visit(referringConfig(step), '', (text, path) => {
      for (const { reference } of expressionsIn(text)) found.push({ stepId: step.id, path, reference })
    })
  }
  return found
}

/** References to a name; `_` is all run data. */
export function referencesTo(definition: Definition, root: string): Found[] {
  return referencesIn(definition).filter(({ reference }) => reference.root === root)
}

/** Rewrites references in every step and preserves the text around them. */
export function rewriteReferences(steps: Step[], rewrite: Rewrite): { steps: Step[]; count: number } {
  let count = 0
  const rewritten = steps.map((step) => {
    const before = count
    const config = map(referringConfig(step), (text) => {
      const { text: changed, count: here } = rewriteText(text, rewrite)
      count += here
      return changed
    }) as JsonObject
    return count === before ? step : { ...step, ...config }
  })
  return { steps: rewritten, count }
}

/** `${from…}` becomes `${to…}`. */
export function renameRoot(from: string, to: string): Rewrite {
  return (reference) => (reference.root === from ? withStart(reference, [to]) : null)
}

/**
 * Replaces the first part of a reference with a path.
 * @param replaced the number of names it replaces, including the root
 */
export function withStart({ ends }: Reference, path: readonly [string, ...Segment[]], replaced = 1) {
  return { text: referenceText(path), length: ends[replaced - 1] ?? 0 }
}

/** `${root.from…}` becomes `${root.to…}`. */
export function renameProperty(root: string, from: string, to: string): Rewrite {
  return (reference) =>
    reference.root === root && reference.path[0] === from ? withStart(reference, [root, to], 2) : null
}

export function anyOf(...rewrites: Rewrite[]): Rewrite {
  return (reference) => {
    for (const rewrite of rewrites) {
      const change = rewrite(reference)
      if (change) return change
    }
    return null
  }
}

export function rewriteText(text: string, rewrite: Rewrite): { text: string; count: number } {
  let result = ''
  let at = 0
  let count = 0
  for (const { start, end, reference } of expressionsIn(text)) {
    const change = rewrite(reference)
    if (!change) continue
    const inside = text.slice(start + 2, end - 1)
    const from = start + 2 + (inside.length - inside.trimStart().length)
    result += text.slice(at, from) + change.text
    at = from + change.length
    count++
  }
  return { text: result + text.slice(at), count }
}

function map(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return value.includes('${') ? change(value) : value
  if (Array.isArray(value)) return value.map((item) => map(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(item, change)]))
}

function visit(value: JsonValue, path: string, see: (text: string, path: string) => void): void {
  if (typeof value === 'string') {
    if (value.includes('${')) see(value, path)
  } else if (Array.isArray(value)) for (const [i, item] of value.entries()) visit(item, `${path}[${i}]`, see)
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) visit(item, path === '' ? key : `${path}.${key}`, see)
}

/** The number of references that a new id would update, in words. */
export function referencesText(count: number): string {
  if (count === 0) return 'No expression refers to this step.'
  return count === 1 ? 'Changing it updates 1 reference.' : `Changing it updates ${count} references.`
}
