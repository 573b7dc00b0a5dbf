import type { SegmentKind } from '@/server/views/runs/segments'
import type { Timeline, TimelineRow } from '@/server/views/runs/timeline'

const STATUS = ['running', 'completed', 'failed'] as const
const KINDS = ['queued', 'running', 'waiting'] as const satisfies readonly SegmentKind[]

export interface Segment {
  kind: SegmentKind
  from: number
  /** Null while it is still going on. */
  to: number | null
}

/** One visit of a step. Times are in milliseconds since the run started. */
export interface Visit {
  seq: number
  /** Its name in the URL. */
  key: string
  stepId: string
  name: string
  type: string
  branch: string
  visit: number
  status: (typeof STATUS)[number]
  start: number
  end: number | null
  attempts: number
  segments: Segment[]
  /** Which exit the run took, of a step with several. */
  exit: string | null
  /** Copied from the run that this one retries. */
  carried: boolean
}

export function visitsOf({ steps, rows }: Timeline): Visit[] {
  return rows.map(([seq, step, visit, status, start, end, attempts, flat, exit = null]) => {
    const [stepId, name, type, branch] = steps[step] ?? ['', '', '', 'main']
    return {
      seq,
      key: branch === 'main' && visit === 1 ? stepId : `${branch}:${stepId}#${visit}`,
      stepId,
      name,
      type,
      branch,
      visit,
      status: STATUS[status] ?? 'running',
      start,
      end,
      attempts,
      segments: segmentsOf(flat, start, end),
      exit,
      carried: end !== null && end < 0,
    }
  })
}

function segmentsOf(flat: number[], start: number, end: number | null): Segment[] {
  if (flat.length === 0) return [{ kind: 'running', from: start, to: end }]
  return Array.from({ length: flat.length / 3 }, (_, index) => {
    const [kind = 0, from = start, to = -1] = flat.slice(index * 3, index * 3 + 3)
    return { kind: KINDS[kind] ?? 'running', from, to: to < 0 && end === null ? null : to }
  })
}

/** How often the run took each exit of each step. */
export function exitsTaken(visits: readonly Visit[]): Map<string, Map<string, number>> {
  const taken = new Map<string, Map<string, number>>()
  for (const { stepId, exit, status } of visits) {
    const by = exit ?? (status === 'completed' ? 'next' : null)
    if (by === null) continue
    const known = taken.get(stepId) ?? new Map<string, number>()
    taken.set(stepId, known.set(by, (known.get(by) ?? 0) + 1))
  }
  return taken
}

/** Merges known visits with changes: each visit in its latest state, in order. */
export function mergeTimeline(known: Timeline, changed: Timeline): Timeline {
  const steps = [...known.steps]
  const places = new Map(steps.map(([id, , , branch], index) => [`${branch}:${id}`, index]))
  const rows = new Map<number, TimelineRow>(known.rows.map((row) => [row[0], row]))
  for (const row of changed.rows) {
    const step = changed.steps[row[1]]
    if (!step) continue
    const key = `${step[3]}:${step[0]}`
    const place = places.get(key) ?? steps.push(step) - 1
    places.set(key, place)
    const [seq, , ...rest] = row
    rows.set(seq, [seq, place, ...rest])
  }
  return {
    change: Math.max(known.change, changed.change),
    startTime: changed.startTime,
    endTime: changed.endTime,
    steps,
    rows: [...rows.values()].sort((a, b) => a[0] - b[0]),
  }
}

/** Maps a run's time to the screen. Long stretches of pure waiting are shortened. */
export interface Axis {
  /** From 0 to 1. */
  place(ms: number): number
  /** Shortened stretches: their place and real duration. */
  breaks: { at: number; ms: number }[]
  end: number
}

interface Piece {
  from: number
  to: number
  at: number
  width: number
}

/** The width of a shortened stretch, as a fraction of the active time. */
const BREAK_PART = 0.12
/** Shorter waits are drawn to scale. */
const SHORTEST_BREAK_MS = 3_000

export function axisOf(visits: readonly Visit[], end: number): Axis {
  const busy = unite(
    visits
      .filter(({ carried }) => !carried)
      .flatMap(({ segments }) => segments.filter(({ kind }) => kind !== 'waiting'))
      .map(({ from, to }) => [Math.max(0, from), to ?? end] as const),
  )
  const last = Math.max(end, 1)
  const active = busy.reduce((sum, [from, to]) => sum + to - from, 0)
  const limit = Math.max(SHORTEST_BREAK_MS, active)
  const pieces: Piece[] = []
  const breaks: { from: number; ms: number }[] = []
  let now = 0
  let width = 0
  const add = (from: number, to: number, drawn: number) => {
    if (to <= from) return
    pieces.push({ from, to, at: width, width: drawn })
    width += drawn
  }
  for (const [from, to] of [...busy, [last, last] as const]) {
    const gap = from - now
    const left = gap > limit
    if (left) breaks.push({ from: now, ms: gap })
    add(now, from, left ? Math.max(active * BREAK_PART, 250) : gap)
    add(Math.max(now, from), to, to - Math.max(now, from))
    now = Math.max(now, to)
  }
  const total = width || 1
  const place = (ms: number) => {
    const piece = find(pieces, ms)
    if (!piece) return ms <= 0 ? 0 : 1
    const part = Math.min(1, Math.max(0, (ms - piece.from) / (piece.to - piece.from)))
    return (piece.at + part * piece.width) / total
  }
  return { place, end: last, breaks: breaks.map(({ from, ms }) => ({ at: place(from + ms / 2), ms })) }
}

function unite(spans: (readonly [number, number])[]): [number, number][] {
  const united: [number, number][] = []
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    const last = united.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else united.push([from, to])
  }
  return united
}

/** The piece that contains a point in time, by binary search: an axis may have thousands. */
function find(pieces: readonly Piece[], ms: number): Piece | undefined {
  let low = 0
  let high = pieces.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((pieces[middle]?.from ?? 0) <= ms) low = middle
    else high = middle - 1
  }
  const piece = pieces[low]
  return piece && ms >= piece.from ? piece : undefined
}

/** The visits that match the filter. */
export function chosen(visits: readonly Visit[], { text, errorsOnly }: { text: string; errorsOnly: boolean }): Visit[] {
  const wanted = text.trim().toLowerCase()
  return visits.filter(
    (visit) =>
      (!errorsOnly || visit.status === 'failed' || visit.attempts > 1) &&
      (wanted === '' ||
        visit.name.toLowerCase().includes(wanted) ||
        visit.stepId.toLowerCase().includes(wanted) ||
        visit.type.includes(wanted)),
  )
}

/** The state of a visit in one word. */
export function stateOf(visit: Visit): 'queued' | 'running' | 'paused' | 'completed' | 'failed' {
  if (visit.status !== 'running') return visit.status
  const kind = visit.segments.at(-1)?.kind
  if (kind === 'waiting') return 'paused'
  return kind === 'queued' ? 'queued' : 'running'
}
