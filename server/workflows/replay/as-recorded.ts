import { branchesAround, originOf, scopeIdOf } from '../../definition/branches'
import { diffValues } from '../../definition/diff'
import { exitOf } from '../../definition/exits'
import { expressionReferences } from '../../definition/expression/fields'
import { graphOf } from '../../definition/graph'
import { own } from '../../definition/json'
import { reachable } from '../../definition/paths'
import type { Definition, Step } from '../../definition/schema'
import { findReferences } from '../../definition/template'
import { referringConfig } from '../../definition/templated-config'
import { isSamePlace, type Place, type Way, type WayVisit } from '../../definition/verdict'
import { findStepType } from '../../steps/registry'
import { readStep } from '../check/flow'

// A step that decides on a hidden value did so in the run too. Where the step and all that gave it what it reads are equal
// in both versions, and the walk has come there as the run did, it decides as the run recorded.

/** What a person says otherwise than the run recorded it: what these steps gave, and these fields. */
export interface Changed {
  steps: ReadonlySet<string>
  names: ReadonlySet<string>
}

const NOTHING: Changed = { steps: new Set(), names: new Set() }

/** Two versions of a definition, compared by the names that their steps read and define. */
export class BothVersions {
  private readonly known = new Map<string, ReadonlySet<string> | null>()
  private readonly paths = new Map<string, boolean>()
  private readonly givers: ReadonlyMap<string, ReadonlySet<string>>

  constructor(
    private readonly was: Definition,
    private readonly now: Definition,
    private readonly changed: Changed = NOTHING,
  ) {
    this.givers = giversIn(was, now)
  }

  /**
   * The steps that give a step what it reads, and itself; null if one of them, or START, is not equal in both versions, or
   * gives something else.
   */
  feeding(stepId: string): ReadonlySet<string> | null {
    const step = graphOf(this.now).step(stepId)
    return step ? this.once(`step ${stepId}`, readsOf(step), [stepId]) : null
  }

  /** Whether the path behind an exit is another one, or has another step. */
  pathDiffers(stepId: string, exit: string): boolean {
    const key = `${stepId} ${exit}`
    const differs = this.paths.get(key) ?? this.comparePaths(stepId, exit)
    this.paths.set(key, differs)
    return differs
  }

  private comparePaths(stepId: string, exit: string): boolean {
    const [was, now] = [pathOf(this.was, stepId, exit), pathOf(this.now, stepId, exit)]
    return was.edges !== now.edges || [...now.steps].some((id) => !this.isEqual(id))
  }

  /** Whether a step ends the run with a result of its own. */
  ends(stepId: string): boolean {
    const step = graphOf(this.now).step(stepId)
    return step?.type === 'end-flow' && step.output !== undefined
  }

  /** The same for a field. */
  giving(name: string): ReadonlySet<string> | null {
    return this.once(`field ${name}`, [name], [])
  }

  private once(key: string, names: Iterable<string>, steps: string[]): ReadonlySet<string> | null {
    const known = this.known.get(key)
    if (known !== undefined) return known
    const found = this.follow(new Set(names), new Set(steps))
    this.known.set(key, found)
    return found
  }

  /** Adds what gives these names, and what gives to that. */
  private follow(names: Set<string>, steps: Set<string>): ReadonlySet<string> | null {
    for (const stepId of steps) if (!this.isEqual(stepId)) return null
    // Both sets grow while they are read.
    for (const name of names) {
      // Every failure gives the error, and every field may be read as a whole.
      if (name === 'error' || name === '_') {
        if (!this.areEqual) return null
        for (const { id } of this.now.steps) steps.add(id)
      }
      if (this.changed.names.has(name)) return null
      const [before, after] = [own(this.was.payload, name), own(this.now.payload, name)]
      if (diffValues(before, after).length > 0) return null
      for (const stepId of [...(this.givers.get(name) ?? []), ...(this.givers.get(ANY) ?? [])]) {
        if (this.changed.steps.has(stepId)) return null
        if (steps.has(stepId)) continue
        if (!this.isEqual(stepId)) return null
        steps.add(stepId)
        for (const read of readsOf(graphOf(this.now).step(stepId))) names.add(read)
      }
    }
    return steps
  }

  /** Whether both versions declare the same fields and have the same steps. */
  private get areEqual(): boolean {
    const [{ payload: was, steps }, { payload: now, steps: others }] = [this.was, this.now]
    if (this.changed.steps.size > 0 || this.changed.names.size > 0) return false
    return (
      steps.length === others.length && diffValues(was, now).length === 0 && steps.every(({ id }) => this.isEqual(id))
    )
  }

  private isEqual(stepId: string): boolean {
    const [before, after] = [graphOf(this.was).step(stepId), graphOf(this.now).step(stepId)]
    return before !== undefined && after !== undefined && diffValues(doing(before), doing(after)).length === 0
  }
}

function pathOf(definition: Definition, stepId: string, exit: string): { steps: ReadonlySet<string>; edges: string } {
  const start = graphOf(definition).target(stepId, exit)
  const steps = start === null ? new Set<string>() : reachable(definition, start)
  const edges = definition.edges.filter(({ from }) => steps.has(from))
  return {
    steps,
    edges: [start, ...edges.map((edge) => `${edge.from} ${exitOf(edge)} ${edge.to}`).toSorted()].join(', '),
  }
}

/** Stands for a step that may give any name. */
const ANY = ''

/** The steps of either version that may give a name: by id, as a field, or to a body that they open. */
function giversIn(...definitions: Definition[]): ReadonlyMap<string, ReadonlySet<string>> {
  const givers = new Map<string, Set<string>>()
  const add = (name: string, stepId: string) => givers.set(name, (givers.get(name) ?? new Set()).add(stepId))
  for (const step of definitions.flatMap(({ steps }) => steps)) {
    const type = findStepType(step.type)
    const read = readStep(step)
    const defined = read?.type.defines?.(read.config, step.id)
    add(step.id, step.id)
    if (type?.mode === 'fork' || (type?.defines && (!defined || defined.open))) add(ANY, step.id)
    for (const name of Object.keys(defined?.fields ?? {})) add(name, step.id)
  }
  return givers
}

/** The names that a step refers to. */
function readsOf(step: Step | undefined): string[] {
  if (!step) return []
  const found = [...findReferences(referringConfig(step)).references, ...expressionReferences(step).references]
  return [...found.map(({ reference }) => reference.root), ...(findStepType(step.type)?.reads?.(step) ?? [])].filter(
    (name) => name !== 'secrets',
  )
}

/** What a step does: not its words for people, how often it tries, or which version of a tool gives its result. */
function doing(step: Step) {
  const { name: _n, description: _d, position: _p, retry: _r, timeoutMs: _t, version: _v, ...rest } = step
  return rest
}

/**
 * The visit of the run at this place, if the walk came there as the run did, as far as these steps go.
 * @param walked the visits of the walk so far
 */
export function visitAsRecorded(
  way: Way,
  walked: readonly WayVisit[],
  here: Place,
  steps: ReadonlySet<string>,
): WayVisit | null {
  const at = way.visits.findIndex((visit) => isSamePlace(visit, here))
  const found = way.visits[at]
  if (!found || found.isStopped) return null
  const before = linesOf(way.visits.slice(0, at), here, steps)
  const now = linesOf(
    walked.filter((visit) => !isSamePlace(visit, here)),
    here,
    steps,
  )
  return before === now ? found : null
}

/** The visits of these steps that led to a place. Branches beside it did not. */
function linesOf(visits: readonly WayVisit[], here: Place, steps: ReadonlySet<string>): string {
  const lines = new Map<string, string[]>()
  for (const { branch, stepId, visit, exit } of visits) {
    if (!steps.has(stepId) || isBeside(branch, here.branch)) continue
    const line = `${stepId}#${visit} ${exit}`
    lines.set(branch, [...(lines.get(branch) ?? []), line])
  }
  return JSON.stringify([...lines].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Whether a branch belongs to a fork that `here` is in too, as another branch of it. */
function isBeside(branch: string, here: string): boolean {
  const around = new Set(branchesAround(here))
  return branchesAround(branch).some((name) => {
    const origin = originOf(name)
    return origin !== null && !around.has(name) && here.startsWith(`${scopeIdOf(origin.parent, origin)}/`)
  })
}
