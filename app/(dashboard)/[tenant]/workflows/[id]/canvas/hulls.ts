import { exitsOf } from '@/server/definition/exits'
import { type Region, regionsOf } from '@/server/definition/regions'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { entryOf, findStep, type Position } from '../model/definition'
import type { Size } from '../model/exit-row'

/** A branch's body with its name on the canvas. */
export interface Body extends Region {
  id: string
  label: string
  /** Its connections; its hull follows them from step to step. */
  lines: { from: string; to: string }[]
  /** The number of levels of bodies nested in it. */
  holds: number
}

/**
 * The area behind a body: rectangles around each step and between connected steps, so that it touches no other steps,
 * and its extension beyond them.
 */
export interface Hull {
  id: string
  label: string
  parts: Position[][]
  reach: number
  /** The position of its label. */
  at: Position
}

type Box = Position & Size

const REACH = 16
/** An outer body extends further than its inner one, so that both are visible. */
const REACH_MORE = 10

/** The bodies that have steps, outer ones first. A body that leads back to its own step is left out. */
export function bodiesOf(definition: Definition, catalog: Catalog): Body[] {
  const regions = regionsOf(definition, ({ type }) => entryOf(catalog, type)?.exits).filter(
    ({ fork, steps }) => !steps.has(fork),
  )
  // A body has fewer steps than the one around it, so inner ones are counted first.
  const counts = new Map<Region, number>()
  for (const region of regions.toSorted((a, b) => a.steps.size - b.steps.size)) {
    const inner = [...counts].flatMap(([one, count]) => (region.steps.has(one.fork) ? [count + 1] : []))
    counts.set(region, Math.max(0, ...inner))
  }
  return regions
    .map((region) => {
      const { fork, exit } = region
      const step = findStep(definition, fork)
      const spec = step && entryOf(catalog, step.type)?.exits
      const label = step && spec && exitsOf(spec, step).find(({ id }) => id === exit)?.label
      const lines = definition.edges.filter(({ from, to }) => region.steps.has(from) && region.steps.has(to))
      return { ...region, id: `${fork} ${exit}`, label: label ?? exit, lines, holds: counts.get(region) ?? 0 }
    })
    .sort((a, b) => b.steps.size - a.steps.size)
}

export function hullsOf(bodies: readonly Body[], boxes: ReadonlyMap<string, Box>): Hull[] {
  return bodies.flatMap(({ id, label, steps, lines, holds }) => {
    const within = [...steps].flatMap((step) => boxes.get(step) ?? [])
    const [first] = within
    if (!first) return []
    const top = within.reduce((best, box) => (box.y < best.y ? box : best), first)
    const reach = REACH + holds * REACH_MORE
    const between = lines.flatMap(({ from, to }) => {
      const [a, b] = [boxes.get(from), boxes.get(to)]
      return a && b ? [around([...cornersOf(a), ...cornersOf(b)])] : []
    })
    const parts = [...within.map(cornersOf), ...between]
    return [{ id, label, parts, reach, at: { x: top.x, y: top.y - reach } }]
  })
}

function cornersOf({ x, y, width, height }: Box): Position[] {
  const [right, bottom] = [x + width, y + height]
  return [
    { x, y },
    { x: right, y },
    { x: right, y: bottom },
    { x, y: bottom },
  ]
}

/** The convex hull of some points, clockwise as `cornersOf`: by Andrew's monotone chain. */
function around(points: readonly Position[]): Position[] {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y)
  const half = (ordered: readonly Position[]) => {
    const chain: Position[] = []
    for (const point of ordered) {
      while (chain.length > 1 && !turnsLeft(chain.at(-2), chain.at(-1), point)) chain.pop()
      chain.push(point)
    }
    return chain.slice(0, -1)
  }
  return [...half(sorted), ...half(sorted.reverse())]
}

function turnsLeft(a: Position | undefined, b: Position | undefined, c: Position): boolean {
  return a !== undefined && b !== undefined && (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0
}

export function pathOf({ parts }: Hull): string {
  return parts.map((corners) => `M${corners.map(({ x, y }) => `${x},${y}`).join('L')}Z`).join('')
}
