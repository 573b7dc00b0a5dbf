import { APART, ARRIVE, bendsOf, type Lane, LEAVE, type Line } from './lines'

/** A horizontal part of a line that leads down. */
interface Part {
  line: Line
  /** The bends at its ends; a line without a lane has one such part. */
  at: 'leave' | 'arrive' | 'only'
  y: number
  left: number
  right: number
  /** The limits of its vertical moves. */
  top: number
  bottom: number
}

/** How far the horizontal part of a line with a lane may move: away from its own node, and towards it. */
const AWAY = 22
const TOWARDS = 6

/** The lanes, with separate heights for lines to different nodes whose horizontal parts would overlap. */
export function withHeights(lines: readonly Line[], lanes: ReadonlyMap<string, Lane>): Map<string, Lane> {
  const moved = new Map(lanes)
  for (const group of groupsOf(lines.flatMap((line) => partsOf(line, lanes.get(line.id))))) {
    // Those that go farthest turn first: the others would cross them.
    const farthest = group.toSorted((a, b) => b.right - b.left - (a.right - a.left))
    const targets = [...new Set(farthest.map(({ line }) => line.to))]
    const top = Math.max(...group.map((part) => part.top))
    const bottom = Math.min(...group.map((part) => part.bottom))
    if (targets.length < 2 || top >= bottom) continue
    const step = Math.min(APART, (bottom - top) / (targets.length - 1))
    const height = step * (targets.length - 1)
    const middle = group.reduce((sum, { y }) => sum + y, 0) / group.length
    const first = Math.min(Math.max(middle - height / 2, top), bottom - height)
    for (const { line, at } of group) {
      const y = first + step * targets.indexOf(line.to)
      const lane = moved.get(line.id)
      if (at === 'only' || !lane) moved.set(line.id, { x: line.end.x, leave: y, arrive: y })
      else moved.set(line.id, { ...lane, [at]: y })
    }
  }
  return moved
}

function partsOf(line: Line, lane: Lane | undefined): Part[] {
  const { start, end, sideways } = line
  // A line that leads back has its own colour, and bends the other way.
  if (end.y < start.y + LEAVE) return []
  const bends = bendsOf(start, end, sideways, lane)
  const part = (at: Part['at'], index: number, top: number, bottom: number): Part[] => {
    const [a, b] = [bends[index], bends[index + 1]]
    if (!a || !b || Math.abs(a.x - b.x) < 3 || (sideways && a.y === start.y)) return []
    return [{ line, at, y: a.y, left: Math.min(a.x, b.x), right: Math.max(a.x, b.x), top, bottom }]
  }
  if (!lane) {
    const room = end.y - start.y
    return bends.length < 4
      ? []
      : part('only', 1, start.y + Math.min(LEAVE, room / 4), end.y - Math.min(ARRIVE, room / 3))
  }
  const arrive = end.y - ARRIVE
  return [
    ...part('leave', 1, lane.leave - TOWARDS, lane.leave + AWAY),
    ...part('arrive', 3, arrive - AWAY, arrive + TOWARDS),
  ]
}

/** Groups of parts that overlap, directly or through others. */
function groupsOf(parts: readonly Part[]): Part[][] {
  let groups: Part[][] = []
  for (const part of parts) {
    const met = groups.filter((group) => group.some((other) => meet(part, other)))
    groups = [...groups.filter((group) => !met.includes(group)), [...met.flat(), part]]
  }
  return groups.filter((group) => group.length > 1)
}

/** Lines to the same node may join. */
function meet(a: Part, b: Part): boolean {
  return (
    a.line.to !== b.line.to && Math.abs(a.y - b.y) < APART - 1 && a.left < b.right + APART && b.left < a.right + APART
  )
}
