import { branchesAround, originOf, scopeIdOf } from '@/server/definition/branches'
import type { ForkCounts } from '@/server/views/runs/forks'
import type { SegmentKind } from '@/server/views/runs/segments'
import type { Timeline, TimelineRow } from '@/server/views/runs/timeline'

const STATUS = ['running', 'completed', 'failed', 'timed_out'] as const
const KINDS = ['queued', 'running', 'waiting'] as const satisfies readonly SegmentKind[]

export interface Segment {
  kind: SegmentKind
  from: number
  /** Null while it is still running. */
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
  /** The exit taken at a step with several, and its label. */
  exit: string | null
  exitLabel: string | null
  /** The branches it started; null if it does not fork. */
  fork: (ForkCounts & { id: string }) | null
  /** Copied from the run that this one retries. */
  carried: boolean
}

export function visitsOf({ steps, rows, forks, labels }: Timeline): Visit[] {
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
      exitLabel: exit === null ? null : (labels[stepId]?.[exit] ?? exit),
      fork: forks[seq] ? { ...forks[seq], id: scopeIdOf(branch, { stepId, visit }) } : null,
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
    forks: { ...known.forks, ...changed.forks },
    labels: { ...known.labels, ...changed.labels },
    names: { ...known.names, ...changed.names },
    cut: known.cut || changed.cut,
  }
}

/**
 * While a page watches a run, its branches may continue for days. Above the first limit, visits in branches are pruned
 * to the second.
 */
const MAX_IN_BRANCHES = 4_000
const KEPT_IN_BRANCHES = 2_000

/** Drops the oldest ended visits in branches, if there are too many. */
export function pruned(timeline: Timeline): Timeline {
  const inBranch = ([, step]: TimelineRow) => originOf(timeline.steps[step]?.[3] ?? '') !== null
  const inside = timeline.rows.filter(inBranch)
  if (inside.length <= MAX_IN_BRANCHES) return timeline
  const kept = new Set([...inside.slice(-KEPT_IN_BRANCHES), ...inside.filter(([, , , , , end]) => end === null)])
  return { ...timeline, rows: timeline.rows.filter((row) => !inBranch(row) || kept.has(row)), cut: true }
}

/** One branch's part of a timeline. */
export function ofBranch(timeline: Timeline, branch: string): Timeline {
  return { ...timeline, rows: timeline.rows.filter(([, step]) => timeline.steps[step]?.[3] === branch), cut: false }
}

/** Whether an agent works in a visit, so that it may have calls. Those of a carried one are in the earlier run. */
export function hasCalls({ type, carried }: Visit): boolean {
  return type === 'call-agent' && !carried
}

/** The name of an agent's call in the URL, and the parts of such a name; no step's id has a `~`. */
export const callKey = (visit: string, id: string) => `${visit}~${id}`

export function callAt(key: string): { visit: string; id: string } | null {
  const [, visit, id] = /^(.+)~([\d.]+)$/.exec(key) ?? []
  return visit === undefined || id === undefined ? null : { visit, id }
}

/** The branch in a visit's key. */
export function branchOfKey(key: string): string {
  const end = key.lastIndexOf(':')
  return end < 0 ? 'main' : key.slice(0, end)
}

/** The display path of a branch: "Credit › Item 17". */
export function placeText(branch: string, names: Timeline['names']): string {
  return branchesAround(branch)
    .map((name) => branchLabel(name, names))
    .join(' › ')
}

/** A branch's name, or an item's number. A branch's name is unknown without the visit that forked. */
export function branchLabel(branch: string, names: Timeline['names']): string {
  const { stepId = '', key = '' } = originOf(branch) ?? {}
  const name = names[stepId]?.find(([id]) => id === key)?.[1]
  if (name !== undefined) return name
  return /^\d+$/.test(key) ? `Item ${Number(key).toLocaleString('en')}` : key
}

/** Maps a run's time to the screen. Long stretches of pure waiting are shortened. */
export interface Axis {
  /** From 0 to 1. */
  place(ms: number): number
  /** The shortened stretches: their ends and their real duration. */
  breaks: { from: number; to: number; ms: number }[]
  /** The stretches between the shortened ones, all to one scale, in run time. */
  stretches: { from: number; to: number }[]
  /** The run time that fills the whole width. */
  span: number
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

/** @param cut only some visits inside branches are loaded */
export function axisOf(visits: readonly Visit[], end: number, cut = false): Axis {
  const busy = unite(
    visits
      // A forking step's time is its branches' time.
      .filter(({ carried, fork }) => !carried && (cut || fork === null))
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
  const ends = breaks.map(({ from, ms }) => from + ms)
  return {
    place,
    breaks: breaks.map(({ from, ms }) => ({ from: place(from), to: place(from + ms), ms })),
    stretches: [0, ...ends].map((from, index) => ({ from, to: breaks[index]?.from ?? last })),
    span: total,
    end: last,
  }
}

/** A section of an axis, stretched to the whole width. */
export function zoomed(axis: Axis, { from, to }: { from: number; to: number }): Axis {
  const scale = (at: number) => (at - from) / (to - from)
  return {
    ...axis,
    place: (ms) => scale(axis.place(ms)),
    breaks: axis.breaks.map((one) => ({ ...one, from: scale(one.from), to: scale(one.to) })),
    span: axis.span * (to - from),
  }
}

export interface Tick {
  /** From 0 to 1. */
  at: number
  text: string
  /** Time continues here after a shortened wait. */
  goesOn: boolean
}

/** About this many fit side by side. */
const TICKS = 5
/** The minimum distance between two labels: room for a label of this many characters. */
const APART = 0.15
const CHARS = 8
const STEPS_MS = [
  ...[1, 10, 100].flatMap((ten) => [ten, 2 * ten, 5 * ten]),
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3_600_000),
  ...[1, 2, 7, 14, 30, 90, 365].map((days) => days * 86_400_000),
]

/** Whether a label is so close to the end that it is left of its line. */
export function isLeft(at: number): boolean {
  return at > 0.86
}

function overlaps(before: Tick | undefined, at: number, text: string): boolean {
  if (!before) return false
  const chars = before.text.length + (isLeft(at) ? text.length : 0)
  return at - before.at < APART * Math.max(1, chars / CHARS)
}

/**
 * Round times along the axis. After a shortened wait, the first tick shows the total time so far; the following count
 * from there.
 */
export function ticksOf({ place, stretches, span }: Axis): Tick[] {
  const step = STEPS_MS.find((ms) => ms * TICKS >= span) ?? STEPS_MS.at(-1) ?? 1
  const ticks: Tick[] = []
  for (const { from, to } of stretches) {
    // A zoomed axis shows only a few ticks of a long stretch, so start at the first visible one.
    const skipped = Math.max(0, Math.floor(-place(from) * (span / step)))
    for (let ms = skipped * step; from + ms <= to; ms += step) {
      const at = place(from + ms)
      if (at > 1) break
      if (at < 0) continue
      const last = ticks.at(-1)
      const goesOn = from > 0 && ms === 0
      const text = from > 0 && !goesOn ? `+${offsetText(ms)}` : offsetText(goesOn ? wholeSeconds(from) : from + ms)
      const close = overlaps(last, at, text)
      // The end of a wait is more useful than a round time just before it.
      if (close && goesOn && !last?.goesOn && !overlaps(ticks.at(-2), at, text)) ticks.pop()
      else if (close) continue
      ticks.push({ at, text, goesOn })
    }
  }
  return ticks
}

/** A wait this long may still be ongoing, and ongoing waits show whole seconds. */
export const LONG_WAIT_MS = 10_000
const wholeSeconds = (ms: number) => (ms < LONG_WAIT_MS ? ms : Math.floor(ms / 1_000) * 1_000)

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const

/** The two largest nonzero units in the usual format: 200 ms, 5.3 s, 1 m 05 s, 3 h 05 m, 3 d 4 h. */
export function offsetText(ms: number): string {
  let left = Math.round(ms)
  if (left >= 1_000 && left < 60_000) return `${Math.round(left / 100) / 10} s`
  const parts: string[] = []
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size)
    left -= count * size
    const inside = parts.length > 0 && (unit === 's' || unit === 'm')
    if (count > 0) parts.push(`${inside ? String(count).padStart(2, '0') : count} ${unit}`)
    // Only the next smaller unit adds useful detail.
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break
  }
  return parts.join(' ') || '0'
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
      (!errorsOnly || visit.status === 'failed' || visit.status === 'timed_out' || visit.attempts > 1) &&
      (wanted === '' ||
        visit.name.toLowerCase().includes(wanted) ||
        visit.stepId.toLowerCase().includes(wanted) ||
        visit.type.includes(wanted)),
  )
}

/** A segment's name: between two others, it may be more than a wait for a turn. */
export function wordOf(visit: Pick<Visit, 'segments' | 'type'>, segment: Segment): string {
  if (segment.kind !== 'queued') return segment.kind
  const before = visit.segments[visit.segments.indexOf(segment) - 1]?.kind
  if (before === 'running') return 'waits to try again'
  const asks = visit.type === 'collect-inputs' || visit.type === 'request-user-action'
  // Most of it is the time in which an answer can be undone.
  return before === 'waiting' && asks ? 'answered, and can be undone' : 'queued'
}

/** The state of a visit in one word. */
export function stateOf(visit: Visit): 'queued' | 'running' | 'paused' | 'completed' | 'failed' | 'timed_out' {
  if (visit.status !== 'running') return visit.status
  const kind = visit.segments.at(-1)?.kind
  if (kind === 'waiting') return 'paused'
  return kind === 'queued' ? 'queued' : 'running'
}
