import { originOf, scopeIdOf } from '../../definition/branches'
import { exitOf } from '../../definition/exits'
import { type JsonObject, type JsonValue, jsonSize } from '../../definition/json'
import { rootsOf } from '../../definition/roots'
import type { PauseSignal } from '../../definition/run'
import type { Step } from '../../definition/schema'
import { nameOf } from '../../definition/step-name'
import { findReferences, resolveTemplates } from '../../definition/template'
import type { Place, Reason } from '../../definition/verdict'
import { needsText } from '../../definition/verdict-text'
import {
  type Entered,
  type Entry,
  failureAtEntry,
  fillIn,
  lookupWith,
  type Position,
} from '../../interpreter/flow/index'
import type { Asked } from '../../steps/define-step'
import type { Arriving } from '../../workflows/replay/arriving'
import type { Origin, Origins } from '../../workflows/replay/origins'
import { placeOf } from '../../workflows/replay/recorded'
import type { Failure, Outputs } from '../../workflows/replay/source'
import { Undetermined } from '../../workflows/replay/unknown'

/** What a visit would do: compute, call something, ask people, wait, run a child or branches, or end the run. */
export type Does = 'computes' | 'calls' | 'asks' | 'waits for an event' | 'waits' | 'runs' | 'forks' | 'ends' | 'fails'

/** A value that a step refers to. `of` is the written id of the step that gave it, or before which it was changed. */
export interface Read {
  name: string
  value: JsonValue | null
  /** Whether it has no value. */
  missing: boolean
  from: 'start' | 'gave' | 'changed'
  of: string | null
}

/** A visit that has not begun. */
export interface Next {
  at: Place
  /** Its step as it is written. */
  step: string
  does: Does
  /** Its settings, filled in. As written if that fails. */
  config: JsonObject
  reads: Read[]
  /** Where its exits lead. */
  exits: { exit: string; to: string }[]
  /** What it asks people. */
  signal: PauseSignal | null
  event: { name: string; key: string | null } | null
  /** Whether time may pass before the answer. */
  expires: boolean
  /** How it fails before it does anything. */
  fails: Failure | null
  /** Why it cannot continue: what it was given does not fit, or it depends on a value that was not given. */
  problem: string | null
  /** The data at this place, as far as they fit. */
  data: JsonObject
  leftOut: string[]
  /** The branches around it, innermost first. */
  branches: { scope: string; step: string; key: string; keys: string[] }[]
}

/** What a screen shows of the data. */
const MAX_BYTES = 128 * 1024
/** More branches have numbers for names. */
const MAX_KEYS = 1_000

interface Standing {
  source: Arriving
  origins: Origins
  idOf: (stepId: string) => string
  /** Masks. */
  json: <T>(value: T) => T
  /** Masks a question, whose form still names hidden fields. */
  question: (signal: PauseSignal) => PauseSignal
  standing: { entry: Entry<Position>; outputs: Outputs }
  reason: Reason | null
}

/** The visit before which a walk stands. */
export function nextOf(of: Standing): Next {
  const { idOf, json, standing, reason } = of
  const { entry, outputs } = standing
  const { step } = entry
  const look = lookAt(of)
  const asked = look.asked
  const words = { step: (stepId: string) => nameIn(entry, stepId) }
  return {
    ...{ at: placeOf(entry), step: idOf(step.id), does: look.does },
    config: json(configOf(entry, outputs) ?? look.config),
    reads: readsOf(of),
    exits: exitsOf(entry, idOf),
    signal: asked?.signal ? of.question(asked.signal) : null,
    event: asked?.event ? json({ name: asked.event.name, key: asked.event.key }) : null,
    expires: asked?.dueAt !== undefined,
    fails: look.fails && json(look.fails),
    problem: problemOf(reason ?? look.reason, words, json),
    ...fitting(json(entry.state.data)),
    branches: branchesOf(of),
  }
}

/** What a step would do, from the outside of its work. */
function lookAt({ source, standing: { entry, outputs } }: Standing) {
  const { step, type } = entry
  const nothing = { config: settingsOf(step), asked: null, fails: null, reason: null }
  try {
    const entered = source.look(entry, outputs)
    if ('failure' in entered) return { ...nothing, does: usually(entry), fails: entered.failure }
    if (!('begins' in entered)) return { ...nothing, does: ends(entered) }
    const { begins, asked } = entered
    const does = type.mode === 'effect' && source.mayCompute(entry, begins) ? 'computes' : usually(entry, asked)
    return { ...nothing, does, asked }
  } catch (err) {
    if (err instanceof Undetermined) return { ...nothing, does: usually(entry), reason: err.reason }
    return { ...nothing, does: usually(entry), fails: failureAtEntry(err) }
  }
}

function ends(entered: Entered): Does {
  if ('fails' in entered) return 'fails'
  return 'result' in entered && entered.result !== undefined ? 'ends' : 'computes'
}

function usually({ type }: Entry<Position>, asked: Asked | null = null): Does {
  switch (type.mode) {
    case 'effect':
      return 'calls'
    case 'pause':
      if (type.startsRun) return 'runs'
      if (type.elapses) return 'waits'
      return asked?.event ? 'waits for an event' : 'asks'
    case 'fork':
      return 'forks'
    case 'end':
      return 'ends'
    case 'fail':
      return 'fails'
    default:
      return 'computes'
  }
}

/** With secrets as they are written. Null if it cannot be filled in. */
function configOf({ step, type, state }: Entry<Position>, outputs: Outputs): JsonObject | null {
  try {
    const lookup = lookupWith(state.data, outputs)
    const { config } = fillIn(step, type, lookup)
    // Fields that the step itself fills in, because they may name secrets.
    const secrets = secretsIn(config)
    const filled = resolveTemplates(templatesOf(config, secrets), (root) =>
      root === 'secrets' ? secrets : lookup(root),
    )
    return settingsOf({ ...config, ...filled } as Step)
  } catch {
    return null
  }
}

/** Those fields that name a secret or are still to be filled in. */
function templatesOf(config: JsonObject, secrets: JsonObject): JsonObject {
  if (Object.keys(secrets).length === 0) return {}
  return Object.fromEntries(Object.entries(config).filter(([name]) => !OWN.has(name)))
}

function secretsIn(config: JsonObject): JsonObject {
  const names = findReferences(config).references.flatMap(({ reference: { root, path } }) =>
    root === 'secrets' && typeof path[0] === 'string' ? [path[0]] : [],
  )
  return Object.fromEntries(names.map((name) => [name, `\${secrets.${name}}`]))
}

const OWN = new Set(['id', 'name', 'description', 'position', 'type', '$runId', '$values'])

function settingsOf(step: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(step).filter(([name, value]) => !OWN.has(name) && value !== undefined))
}

function readsOf({ origins, idOf, json, standing: { entry, outputs } }: Standing): Read[] {
  const { data } = entry.state
  const lookup = lookupWith(data, outputs)
  const names = [...rootsOf(entry.step)].filter((name) => name !== 'secrets' && name !== '_').toSorted()
  return names.map((name) => {
    const value = lookup(name)
    const origin = origins.find(entry, name, Object.hasOwn(data, name))
    const shown = value === undefined ? null : json({ [name]: value })[name]
    const isLarge = shown !== null && jsonSize(shown ?? null) > MAX_BYTES
    return {
      name,
      value: isLarge ? 'Too large to show here' : (shown ?? null),
      missing: value === undefined,
      ...from(origin, idOf),
    }
  })
}

function from(origin: Origin, idOf: Standing['idOf']): Pick<Read, 'from' | 'of'> {
  if (origin === 'start') return { from: 'start', of: null }
  if ('gave' in origin) return { from: 'gave', of: idOf(origin.gave.stepId) }
  return { from: 'changed', of: idOf(origin.changed.stepId) }
}

function exitsOf({ state, step }: Entry<Position>, idOf: Standing['idOf']): Next['exits'] {
  const { edges } = state.definition
  return edges.filter((edge) => edge.from === step.id).map((edge) => ({ exit: exitOf(edge), to: idOf(edge.to) }))
}

function problemOf(reason: Reason | null, words: { step(id: string): string }, json: Standing['json']): string | null {
  if (!reason) return null
  if (reason.why === 'hidden') return 'This depends on a value that is hidden here. Type the value before you go on.'
  if (reason.why === 'script') return 'The script took too long to compute. Type its result, or run the step.'
  return `${json(needsText(reason, words)).replaceAll('The recorded ', 'The ')}.`
}

function nameIn({ state }: Entry<Position>, stepId: string): string {
  const step = state.definition.steps.find(({ id }) => id === stepId)
  return step ? nameOf(step) : stepId
}

function fitting(all: JsonObject): Pick<Next, 'data' | 'leftOut'> {
  const data: JsonObject = {}
  const leftOut: string[] = []
  let left = MAX_BYTES
  for (const [name, value] of Object.entries(all)) {
    const size = jsonSize({ [name]: value })
    if (size > left) leftOut.push(name)
    else {
      left -= size
      data[name] = value
    }
  }
  return { data, leftOut }
}

function branchesOf({ source, idOf, standing: { entry } }: Standing): Next['branches'] {
  const found: Next['branches'] = []
  for (let origin = originOf(entry.state.ref.branch); origin; origin = originOf(origin.parent)) {
    const { parent, stepId, key } = origin
    const scope = scopeIdOf(parent, origin)
    found.push({ scope, step: idOf(stepId), key, keys: (source.begun.get(scope) ?? []).slice(0, MAX_KEYS) })
  }
  return found
}
