import { branchOf, originOf } from '@/server/definition/branches'
import type { BranchItem } from '@/server/views/runs/branches'
import type { CallList, CallRow } from '@/server/views/runs/calls'
import type { ShownMove } from '@/server/views/runs/moves'
import type { Timeline } from '@/server/views/runs/timeline'
import { callKey, hasCalls, stateOf, type Visit } from './timeline-model'

type Fork = NonNullable<Visit['fork']>

export type Line = {
  key: string
  depth: number
  /** It is also in the list of all items. */
  twin?: boolean
} & (
  | { kind: 'boundary' }
  | { kind: 'visit'; visit: Visit; where: string | null; open: boolean | null }
  /** The number of items, with a field to jump to one. */
  | { kind: 'counts'; fork: Fork; name: string }
  | { kind: 'call'; call: CallRow }
  | { kind: 'heading'; text: string }
  /** The run continued on another version from here. */
  | { kind: 'move'; move: ShownMove }
  /** `item` is set for failed branches; for all others it is fetched by page. */
  | { kind: 'branch'; branch: string; fork: Fork; position: number; item: BranchItem | null; open: boolean }
  | { kind: 'more'; fork: Fork; left: number }
  | { kind: 'note'; text: string }
)

/** The timeline's lines. All iterations of a step form one block, so that the cost does not depend on their number. */
export interface Tree {
  count: number
  at(index: number): Line | undefined
  /** The line of a visit's or branch's key; -1 if missing. */
  placeOf(key: string): number
  /** A line's parent; -1 at the top. */
  parentOf(index: number): number
}

export interface Shown {
  visits: readonly Visit[]
  names: Timeline['names']
  /** Only some visits inside branches are loaded. */
  cut: boolean
  ended: boolean
  /** The forks, branches and calls opened or closed by the user, by key. */
  opened: ReadonlyMap<string, boolean>
  /** The first failed items, by the id of the fork; absent while they load. */
  failed: ReadonlyMap<string, readonly BranchItem[]>
  /** The visits of open branches, fetched separately. */
  inside: ReadonlyMap<string, readonly Visit[]>
  /** The calls of open visits of agents, by the numbers of their records; absent while they load. */
  calls: ReadonlyMap<number, CallList>
  /** Oldest first. */
  moves: readonly ShownMove[]
}

/** A step's branches are listed immediately up to the first limit, and with their contents up to the second. */
const FEW_BRANCHES = 20
const FEW_OPEN = 5
/** With fewer items, failed ones are visible without a list of their own. */
const FAILED_FIRST_FROM = 10

/** A branch opens separately in the list of failed ones and in the list of all. */
export const failedKey = (branch: string) => `failed:${branch}`
const countsKey = (forkId: string) => `${forkId}/#`
/** The key of a visit's calls. No branch has such a name. */
export const callsKey = ({ seq }: Pick<Visit, 'seq'>) => `~${seq}`

/** The visits whose calls are open. */
export function openCalls(opened: Shown['opened']): number[] {
  return [...opened].flatMap(([key, is]) => (is && key.startsWith('~') ? [Number(key.slice(1))] : []))
}

/** What a line of a visit opens: its branches or its calls. Null if it has neither. */
export function insideOf(visit: Visit): string | null {
  if (visit.fork) return visit.fork.total > 0 ? visit.fork.id : null
  return hasCalls(visit) ? callsKey(visit) : null
}

export function isOpen(fork: Fork, opened: Shown['opened']): boolean {
  return opened.get(fork.id) ?? fork.total <= FEW_BRANCHES
}

/** Whether failed items are listed before all others. */
export function failedFirst(fork: Fork): boolean {
  return fork.failed > 0 && fork.total > FAILED_FIRST_FROM
}

interface Block {
  start: number
  parent: number
  size: number
  line(offset: number): Line
}

export function treeOf(shown: Shown, ends: { start: string; result: string }): Tree {
  const { visits, names, cut, opened } = shown
  const blocks: Block[] = []
  const places = new Map<string, number>()
  const ranges = new Map<string, { from: number; at: number; size: number }[]>()
  let count = 0
  const byBranch = new Map<string, Visit[]>()
  for (const visit of visits) {
    const known = byBranch.get(visit.branch)
    if (known) known.push(visit)
    else byBranch.set(visit.branch, [visit])
  }
  const add = (parent: number, size: number, line: Block['line']) => {
    blocks.push({ start: count, parent, size, line })
    count += size
    return count - size
  }
  const one = (parent: number, line: Line) => {
    const at = add(parent, 1, () => line)
    if (!places.has(line.key)) places.set(line.key, at)
    return at
  }
  const addVisit = (visit: Visit, depth: number, parent: number, twin = false) => {
    const { fork, key } = visit
    const inside = insideOf(visit)
    const open = inside === null ? null : fork ? isOpen(fork, opened) : opened.get(inside) === true
    const at = one(parent, { kind: 'visit', key, visit, depth, twin, where: null, open })
    if (!open) return
    if (!fork) return addCalls(visit, depth + 1, at, twin)
    const named = names[visit.stepId]
    if (named) {
      for (const [position, [id]] of named.entries()) addBranch(fork, branchOf(fork.id, id), position, depth + 1, at)
    } else addItems(fork, visit, depth + 1, at)
  }
  const addCalls = (visit: Visit, depth: number, parent: number, twin: boolean) => {
    const known = shown.calls.get(visit.seq)
    for (const call of known?.calls ?? [])
      one(parent, { kind: 'call', key: callKey(visit.key, call.id), call, depth: depth + call.depth, twin })
    const text = underWay(visit, known)
    if (text !== null) one(parent, { kind: 'note', key: `${visit.key} …`, text, depth, twin })
  }
  const addBranch = (
    fork: Fork,
    branch: string,
    position: number,
    depth: number,
    parent: number,
    item: BranchItem | null = null,
  ) => {
    const key = item ? failedKey(branch) : branch
    const open = opened.get(key) ?? (!cut && item === null && fork.total <= FEW_OPEN)
    const at = one(parent, { kind: 'branch', key, branch, fork, position, item, depth, open })
    if (!open) return
    const within = shown.inside.get(branch) ?? (cut ? undefined : (byBranch.get(branch) ?? []))
    if (!within) one(at, { kind: 'note', key: `${key} …`, text: 'Loading…', depth: depth + 1 })
    else if (within.length === 0) one(at, { kind: 'note', key: `${key} …`, text: 'No steps yet.', depth: depth + 1 })
    for (const visit of within ?? []) addVisit(visit, depth + 1, at, item !== null)
  }
  const addItems = (fork: Fork, { name }: Visit, depth: number, parent: number) => {
    one(parent, { kind: 'counts', key: countsKey(fork.id), fork, name, depth })
    if (failedFirst(fork)) {
      const failed = shown.failed.get(fork.id)
      one(parent, { kind: 'heading', key: `${fork.id} failed`, text: 'Failed', depth })
      if (!failed) one(parent, { kind: 'note', key: `${fork.id} …`, text: 'Loading…', depth })
      for (const item of failed ?? []) addBranch(fork, branchOf(fork.id, item.key), item.position, depth, parent, item)
      const left = fork.failed - (failed?.length ?? 0)
      if (failed && left > 0) one(parent, { kind: 'more', key: `${fork.id} more`, fork, left, depth })
      one(parent, { kind: 'heading', key: `${fork.id} all`, text: 'All items', depth })
    }
    const openItems = [...Array(fork.total <= FEW_OPEN ? fork.total : 0).keys()]
    for (const [key, open] of opened) {
      const origin = open && key.startsWith(`${fork.id}/`) ? originOf(key) : null
      if (origin && branchOf(fork.id, origin.key) === key) openItems.push(Number(origin.key))
    }
    let from = 0
    const range = (to: number) => {
      const first = from
      if (to <= first) return
      const at = add(parent, to - first, (offset) => {
        const branch = branchOf(fork.id, String(first + offset))
        return { kind: 'branch', key: branch, branch, fork, position: first + offset, item: null, depth, open: false }
      })
      ranges.set(fork.id, [...(ranges.get(fork.id) ?? []), { from: first, at, size: to - first }])
    }
    for (const position of [...new Set(openItems)].sort((a, b) => a - b)) {
      if (position >= fork.total) break
      range(position)
      addBranch(fork, branchOf(fork.id, String(position)), position, depth, parent)
      from = position + 1
    }
    range(fork.total)
  }
  const boundary = (key: string) => one(-1, { kind: 'boundary', key, depth: 0 })
  boundary(ends.start)
  const moves = [...shown.moves]
  const addMoves = (before: number) => {
    for (let move = moves[0]; move && move.afterSeq < before; move = moves[0]) {
      one(-1, { kind: 'move', key: `moved ${move.at}`, move, depth: 0 })
      moves.shift()
    }
  }
  for (const visit of visits) {
    if (originOf(visit.branch) !== null) continue
    addMoves(visit.seq)
    addVisit(visit, 0, -1)
  }
  addMoves(Number.POSITIVE_INFINITY)
  if (shown.ended) boundary(ends.result)
  const blockAt = (index: number) => {
    let [low, high] = [0, blocks.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((blocks[middle]?.start ?? 0) <= index) low = middle
      else high = middle - 1
    }
    const block = blocks[low]
    return block && index >= block.start && index < block.start + block.size ? block : undefined
  }
  return {
    count,
    at: (index) => {
      const block = blockAt(index)
      return block?.line(index - block.start)
    },
    placeOf: (key) => {
      const known = places.get(key)
      if (known !== undefined) return known
      const origin = originOf(key)
      const forkId = origin && key.slice(0, key.length - origin.key.length - 1)
      const position = Number(origin?.key)
      const found = ranges.get(forkId ?? '')?.find(({ from, size }) => position >= from && position < from + size)
      return found ? found.at + position - found.from : -1
    },
    parentOf: (index) => blockAt(index)?.parent ?? -1,
  }
}

/** What follows the calls of a visit: what its agent waits for, or that it made no calls. */
function underWay(visit: Visit, known: CallList | undefined): string | null {
  if (!known) return 'Loading…'
  if (stateOf(visit) === 'paused' && known.waiting.length > 0)
    return `Waits for a decision: ${known.waiting.join(', ')}`
  if (stateOf(visit) === 'running')
    return known.waiting.length > 0 ? `Under way: ${known.waiting.join(', ')}` : 'The model is answering…'
  return known.calls.length === 0 ? 'No calls were recorded.' : null
}

/** Only the given visits, each with its branch. */
export function listOf(visits: readonly Visit[], whereOf: (branch: string) => string): Tree {
  return {
    count: visits.length,
    at: (index) => {
      const visit = visits[index]
      if (!visit) return undefined
      return { kind: 'visit', key: visit.key, visit, depth: 0, where: whereOf(visit.branch) || null, open: null }
    },
    placeOf: (key) => visits.findIndex((visit) => visit.key === key),
    parentOf: () => -1,
  }
}
