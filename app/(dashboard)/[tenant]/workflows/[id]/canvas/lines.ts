import type { Position } from '../model/definition'

export interface Box extends Position {
  width: number
  height: number
}

/** From a handle to the first bend, and from the last one to the target. */
export const LEAVE = 20
export const ARRIVE = 28
/** A line's minimum distance from a node. */
const MARGIN = 22
/** The distance between two lines that would otherwise overlap. */
export const APART = 14
const TRIES = 9
/** Between two neighbours that are too close for a line's usual margin, a gap this wide still fits one line. */
const NARROW = 8
/** A line's button, with room on either side for its dot and its arrow. */
const ROOM = 24 + 2 * 8

export interface Line {
  id: string
  from: string
  to: string
  start: Position
  end: Position
  /** It leaves its node at the side. */
  sideways: boolean
}

/** The route of a line around nodes: the x of its long vertical part, and the y at which it turns to it. */
export interface Lane {
  x: number
  leave: number
  /** The y at which it turns to its target; by default the usual distance above it. */
  arrive?: number
  /** Its long part is between two nodes whose gap fits only the line. */
  narrow?: boolean
}

/** The lanes of the lines that, drawn directly, would cross a node or lead back up. */
export function lanesOf(lines: readonly Line[], boxes: ReadonlyMap<string, Box>): Map<string, Lane> {
  const lanes = new Map<string, Lane>()
  const taken: { x: number; top: number; bottom: number; to: string }[] = []
  for (const { id, from, to, start, end, sideways } of lines) {
    const up = end.y < start.y + LEAVE
    if (!up && !sideways && end.y - start.y < LEAVE + ARRIVE + MARGIN * 2) continue
    const top = Math.min(start.y, end.y) + (up ? -ARRIVE : LEAVE)
    const bottom = Math.max(start.y, end.y) + (up ? LEAVE : -ARRIVE)
    const inTheWay: Box[] = []
    for (const [node, box] of boxes)
      if ((up || (node !== from && node !== to)) && box.y < bottom && box.y + box.height > top) inTheWay.push(box)
    const isFree = (x: number) =>
      (!sideways || x >= start.x + MARGIN / 2) &&
      inTheWay.every((box) => x <= box.x - MARGIN + 1 || x >= box.x + box.width + MARGIN - 1)
    const gap = up && !sideways ? gapBetween(boxes.get(from), boxes.get(to)) : null
    if (gap !== null && inTheWay.every((box) => gap < box.x || gap > box.x + box.width)) {
      lanes.set(id, { x: gap, leave: start.y + LEAVE, narrow: true })
      continue
    }
    const beside = inTheWay.flatMap((box) => [box.x - MARGIN, box.x + box.width + MARGIN])
    const direct = sideways ? [end.x, start.x + MARGIN] : [start.x, end.x]
    const cost = (x: number) => Math.abs(x - start.x) + Math.abs(x - end.x)
    // A line up always turns at a node's side.
    const found = (up ? beside : [...direct, ...beside]).filter(isFree).toSorted((a, b) => cost(a) - cost(b))[0]
    if (found === undefined) continue
    const meets = (x: number) =>
      taken.some((lane) => Math.abs(lane.x - x) < APART - 1 && lane.top < bottom && lane.bottom > top && lane.to !== to)
    const away = found < (start.x + end.x) / 2 ? -APART : APART
    const places = [away, -away].flatMap((by) => Array.from({ length: TRIES }, (_, n) => found + n * by))
    // Two lines that overlap are better than one through a node.
    const x = places.find((place) => isFree(place) && !meets(place)) ?? found
    taken.push({ x, top, bottom, to })
    lanes.set(id, { x, leave: leaveOf(start, sideways, x, boxes) })
  }
  return lanes
}

/** The middle of the narrow gap between two nodes side by side; null without a gap, or if it has room for lanes. */
function gapBetween(one: Box | undefined, other: Box | undefined): number | null {
  if (!one || !other || one.y >= other.y + other.height || other.y >= one.y + one.height) return null
  const [left, right] = one.x < other.x ? [one, other] : [other, one]
  const width = right.x - (left.x + left.width)
  return width >= NARROW && width < 2 * MARGIN ? right.x - width / 2 : null
}

/** The y below the nodes that a line passes on its way to its lane. */
function leaveOf(start: Position, sideways: boolean, lane: number, boxes: ReadonlyMap<string, Box>): number {
  if (sideways) return start.y
  const [left, right] = [Math.min(start.x, lane), Math.max(start.x, lane)]
  let leave = start.y + LEAVE
  for (const { x, y, width, height } of boxes.values())
    if (x < right && x + width > left && y < leave && y + height > start.y) leave = Math.max(leave, y + height + 12)
  return leave
}

/** The bends of a line, ends included. */
export function bendsOf(start: Position, end: Position, sideways: boolean, lane: Lane | undefined): Position[] {
  const leave = sideways ? start.y : (lane?.leave ?? start.y + LEAVE)
  const arrive = lane?.arrive ?? end.y - ARRIVE
  if (lane !== undefined) {
    // Straighten a line that is nearly straight.
    const x = [start.x, end.x].find((near) => !sideways && Math.abs(near - lane.x) < 4) ?? lane.x
    return [start, { x: start.x, y: leave }, { x, y: leave }, { x, y: arrive }, { x: end.x, y: arrive }, end]
  }
  if (sideways) return [start, { x: end.x, y: start.y }, end]
  if (Math.abs(start.x - end.x) < 3) return [start, end]
  const middle = Math.max((start.y + end.y) / 2, Math.min(leave, end.y))
  return [start, { x: start.x, y: middle }, { x: end.x, y: middle }, end]
}

/** An SVG path with rounded bends. */
export function roundedPath(points: readonly Position[], radius: number): string {
  const [first, ...rest] = points.filter((point, i) => {
    const before = points[i - 1]
    return !before || before.x !== point.x || before.y !== point.y
  })
  if (!first) return ''
  let path = `M${first.x},${first.y}`
  let at = first
  for (const [i, point] of rest.entries()) {
    const next = rest[i + 1]
    if (!next) path += `L${point.x},${point.y}`
    else {
      const r = Math.min(radius, distance(at, point) / 2, distance(point, next) / 2)
      const [a, b] = [towards(point, at, r), towards(point, next, r)]
      path += `L${a.x},${a.y}Q${point.x},${point.y} ${b.x},${b.y}`
    }
    at = point
  }
  return path
}

/** The position of a line's label and button: its middle, or the stretch before the gap between two nodes. */
export function labelAt(points: readonly Position[], lane: Lane | undefined): Position {
  const [, from, to] = points
  return lane?.narrow && from && to ? { x: (from.x + to.x) / 2, y: from.y } : middleOf(points)
}

/** Whether a line is long enough for a button that covers neither its starting dot nor its arrow. */
export function hasRoom(points: readonly Position[]): boolean {
  return lengthOf(points) >= ROOM
}

export function middleOf(points: readonly Position[]): Position {
  const lengths = points.slice(1).map((point, i) => distance(points[i] ?? point, point))
  let left = lengthOf(points) / 2
  for (const [i, length] of lengths.entries()) {
    const [a, b] = [points[i], points[i + 1]]
    if (!a || !b) break
    if (left <= length) return length === 0 ? a : towards(a, b, left)
    left -= length
  }
  return points[0] ?? { x: 0, y: 0 }
}

function lengthOf(points: readonly Position[]): number {
  return points.slice(1).reduce((sum, point, i) => sum + distance(points[i] ?? point, point), 0)
}

function distance(a: Position, b: Position): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}

function towards(from: Position, to: Position, by: number): Position {
  const length = distance(from, to)
  if (length === 0) return from
  return { x: from.x + ((to.x - from.x) * by) / length, y: from.y + ((to.y - from.y) * by) / length }
}
