import { type Exit, exitOf, exitsOf, FAILURE_EXITS, fallsToNext } from '@/server/definition/exits'
import { edgesBySource } from '@/server/definition/paths'
import type { Definition, Edge, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { entryOf, findStep } from './definition'

/**
 * An exit as drawn. `only`: the single exit, without a label. `way`: one of several. `rest`: taken by the others if
 * they have no connection. `failure`: small and at the side. `stray`: used by an edge, but the step does not have it.
 */
export interface ShownExit extends Exit {
  tier: 'only' | 'way' | 'rest' | 'failure' | 'stray'
  /** Whether an edge leaves by it. */
  used: boolean
}

/** The exits of a step in display order. Empty if the step ends the run. */
export function shownExits(step: Step, catalog: Catalog, leaving: readonly Edge[]): ShownExit[] {
  const spec = entryOf(catalog, step.type)?.exits
  const exits = spec ? exitsOf(spec, step) : [{ id: 'next', label: 'Next' }]
  const used = new Set(leaving.map(exitOf))
  const known = new Set(exits.map(({ id }) => id))
  const ways = exits.filter(({ id }) => !FAILURE_EXITS.includes(id))
  const falls = spec !== undefined && ways.some(({ id }) => fallsToNext(spec, id))
  const tierOf = (id: string): ShownExit['tier'] => {
    if (FAILURE_EXITS.includes(id)) return 'failure'
    if (ways.length === 1) return 'only'
    return falls && id === 'next' ? 'rest' : 'way'
  }
  const strays = [...used].filter((id) => !known.has(id)).map((id) => ({ id, label: id }))
  return [
    ...exits.map((exit) => ({ ...exit, tier: tierOf(exit.id), used: used.has(exit.id) })),
    ...strays.map((exit) => ({ ...exit, tier: 'stray' as const, used: true })),
  ]
}

export function shownExitsOf(definition: Definition, catalog: Catalog, stepId: string): ShownExit[] {
  const step = findStep(definition, stepId)
  if (!step) return [{ id: 'next', label: 'Next', tier: 'only', used: definition.initialStep !== null }]
  return shownExits(
    step,
    catalog,
    definition.edges.filter((edge) => edge.from === stepId),
  )
}

/** The size of a node on the canvas without a row of exits. */
export const NODE_WIDTH = 248
export const NODE_HEIGHT = 72
/** The row of exits under a node with several exits. */
export const ROW_HEIGHT = 28
const WAY_WIDTH = 88
const REST_WIDTH = 44
/** From the top of a node to its first failure exit, and between two of them. */
const FAILURE_TOP = 24
const FAILURE_STEP = 26

export interface Size {
  width: number
  height: number
}

const inRow = ({ tier }: ShownExit) => tier === 'way' || tier === 'rest' || tier === 'stray'
const widthOf = ({ tier }: ShownExit) => (tier === 'rest' ? REST_WIDTH : WAY_WIDTH)

export function sizeOf(exits: readonly ShownExit[]): Size {
  const row = exits.filter(inRow)
  const width = row.reduce((sum, exit) => sum + widthOf(exit), 0)
  return { width: Math.max(NODE_WIDTH, width), height: NODE_HEIGHT + (row.length === 0 ? 0 : ROW_HEIGHT) }
}

/** The sizes of all steps, by id. */
export type Sizes = ReadonlyMap<string, Size>

export function sizesOf(definition: Definition, catalog: Catalog): Sizes {
  const leaving = edgesBySource(definition.edges)
  return new Map(
    definition.steps.map((step) => [step.id, sizeOf(shownExits(step, catalog, leaving.get(step.id) ?? []))]),
  )
}

/** The position and width of an exit's handle, from the top left corner of its node. */
export function handleAt(exits: readonly ShownExit[], exit: string): { x: number; y: number; width: number } {
  const { width, height } = sizeOf(exits)
  const failures = exits.filter(({ tier }) => tier === 'failure')
  const failure = failures.findIndex(({ id }) => id === exit)
  if (failure !== -1) return { x: width, y: FAILURE_TOP + failure * FAILURE_STEP, width: 0 }
  const row = exits.filter(inRow)
  const wanted = row.reduce((sum, each) => sum + widthOf(each), 0)
  const extra = Math.max(0, width - wanted) / Math.max(1, row.filter(({ tier }) => tier !== 'rest').length)
  let left = 0
  for (const each of row) {
    const wide = widthOf(each) + (each.tier === 'rest' ? 0 : extra)
    if (each.id === exit) return { x: left + wide / 2, y: height, width: wide }
    left += wide
  }
  return { x: width / 2, y: height, width: 0 }
}
