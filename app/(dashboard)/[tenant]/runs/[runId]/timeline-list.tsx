'use client'
import { useVirtualizer } from '@tanstack/react-virtual'
import dynamic from 'next/dynamic'
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { inPlace, loadPart } from '@/app/_ui/part'
import type { Timeline } from '@/server/views/runs/timeline'
import { BranchRow, CountsRow, MoreRow } from './branch-rows'
import styles from './timeline.module.css'
import { TimelineGrid } from './timeline-axis'
import { type Axis, branchLabel } from './timeline-model'
import { BoundaryRow, MoveRow, Toggle, VisitRow } from './timeline-row'
import { insideOf, type Line, type Tree } from './timeline-tree'

const CallRow = dynamic(() => loadPart(() => import('./call-row').then((module) => module.CallRow)), {
  ssr: false,
  loading: inPlace(null),
})

const ROW_PX = 32

interface Props {
  runId: string
  tree: Tree
  axis: Axis
  began: number
  names: Timeline['names']
  ending: string | null
  selected: string | null
  place: number
  /** All lines above are loaded, so the selected line's position is final. */
  settled: boolean
  onSelect: (key: string) => void
  onOpen: (key: string, open: boolean) => void
  onMore: (forkId: string) => void
  /** Shown instead of an empty list. */
  none: ReactNode
}

/**
 * The timeline's lines; only visible ones are rendered. The arrow keys move between lines, open and close forks, and
 * leave a branch.
 */
export function TimelineList({ tree, place, settled, selected, none, ...rest }: Props) {
  const { axis, onOpen } = rest
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: tree.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  })
  const shown = useRef<string | null>(null)
  // Only once per selection: a change of the run must not scroll back to it.
  useEffect(() => {
    if (place < 0 || !settled || shown.current === selected) return
    // Once the list has its height.
    const frame = requestAnimationFrame(() => {
      const first = shown.current === null
      shown.current = selected
      virtual.scrollToIndex(place, { align: first ? 'center' : 'auto' })
    })
    return () => cancelAnimationFrame(frame)
  }, [place, settled, selected, virtual])

  const wanted = useRef(-1)
  const focus = (index: number) => {
    const find = () => {
      const line = scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] :is(button, input)[data-line]`)
      line?.focus()
      return line !== null && line !== undefined
    }
    wanted.current = index
    if (find()) return
    virtual.scrollToIndex(index, { align: 'center' })
    // A distant line is rendered only after the next paints.
    const look = (tries: number) => {
      if (wanted.current === index && !find() && tries > 0) requestAnimationFrame(() => look(tries - 1))
    }
    requestAnimationFrame(() => look(20))
  }
  const goTo = (key: string) => {
    const index = tree.placeOf(key)
    if (index < 0) return
    virtual.scrollToIndex(index, { align: 'center' })
    focus(index)
  }
  function onKeyDown(event: KeyboardEvent) {
    if (!(event.target instanceof HTMLElement) || event.target.matches('input') || event.altKey || event.ctrlKey) return
    const index = Number(event.target.closest<HTMLElement>('[data-index]')?.dataset.index ?? Number.NaN)
    const line = tree.at(index)
    if (!line) return
    const open = opens(line)
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const step = event.key === 'ArrowDown' ? 1 : -1
      let next = index + step
      while (tree.at(next) && !canFocus(tree.at(next))) next += step
      if (tree.at(next)) focus(next)
    } else if (event.key === 'ArrowRight' && open) {
      if (open.is) focus(index + 1)
      else onOpen(open.key, true)
    } else if (event.key === 'ArrowLeft') {
      if (open?.is) onOpen(open.key, false)
      else if (tree.parentOf(index) >= 0) focus(tree.parentOf(index))
    } else return
    event.preventDefault()
  }

  return (
    <div ref={scroller} className={styles.scroller}>
      {tree.count > 0 && <TimelineGrid axis={axis} />}
      <ul
        className={styles.rows}
        aria-label="Steps in the order they began"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        {virtual.getVirtualItems().map(({ index, start }) => {
          const line = tree.at(index)
          if (!line) return null
          return (
            <li
              key={line.twin ? `twin ${line.key}` : line.key}
              data-index={index}
              className={styles.item}
              style={{ transform: `translateY(${start}px)`, ['--depth' as string]: Math.min(line.depth, 8) }}
              aria-setsize={tree.count}
              aria-posinset={index + 1}
            >
              <LineRow line={line} selected={selected} idle={!virtual.isScrolling} goTo={goTo} {...rest} />
            </li>
          )
        })}
      </ul>
      {tree.count === 0 && <div className={styles.none}>{none}</div>}
    </div>
  )
}

function LineRow({
  line,
  selected,
  idle,
  goTo,
  ...rest
}: Omit<Props, 'tree' | 'place' | 'settled' | 'none'> & { line: Line; idle: boolean; goTo: (key: string) => void }) {
  const { runId, axis, began, names, ending, onSelect, onOpen, onMore } = rest
  switch (line.kind) {
    case 'boundary':
      return <BoundaryRow which={line.key} ending={ending} selected={line.key === selected} onSelect={onSelect} />
    case 'visit': {
      const { visit, where, open } = line
      const inside = insideOf(visit)
      const row = (
        <VisitRow
          visit={visit}
          where={where}
          inset={open !== null || line.depth > 0}
          axis={axis}
          selected={line.key === selected}
          onSelect={onSelect}
        />
      )
      if (open === null || inside === null) return row
      const label = `${visit.fork ? 'Branches' : 'Calls'} of ${visit.name}`
      return (
        <>
          <Toggle open={open} label={label} onToggle={() => onOpen(inside, !open)} />
          {row}
        </>
      )
    }
    case 'call':
      return <CallRow line={line} axis={axis} selected={line.key === selected} onSelect={onSelect} />
    case 'branch':
      return (
        <BranchRow
          runId={runId}
          line={line}
          label={branchLabel(line.branch, names)}
          axis={axis}
          began={began}
          idle={idle}
          onToggle={() => onOpen(line.key, !line.open)}
        />
      )
    case 'counts':
      return <CountsRow line={line} goTo={goTo} />
    case 'more':
      return <MoreRow left={line.left} onMore={() => onMore(line.fork.id)} />
    case 'heading':
      return <p className={styles.heading}>{line.text}</p>
    case 'move':
      return <MoveRow move={line.move} />
    case 'note':
      return <p className={styles.noteRow}>{line.text}</p>
  }
}

/** The key that a line opens; null if it opens nothing. */
function opens(line: Line): { key: string; is: boolean } | null {
  if (line.kind === 'branch') return { key: line.key, is: line.open }
  const key = line.kind === 'visit' && line.open !== null ? insideOf(line.visit) : null
  return key === null || line.kind !== 'visit' ? null : { key, is: line.open === true }
}

function canFocus(line: Line | undefined): boolean {
  return line !== undefined && line.kind !== 'heading' && line.kind !== 'note' && line.kind !== 'move'
}
