'use client'
import { Button, Checkbox, TextInput } from '@mantine/core'
import { Search } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { shortcutKey } from '@/app/_ui/keys'
import { singleKeysAllowed } from '@/app/_ui/single-keys'
import { useNow } from '@/app/_ui/time'
import type { ShownMove } from '@/server/views/runs/moves'
import type { Timeline as TimelineData } from '@/server/views/runs/timeline'
import styles from './timeline.module.css'
import { TimelineAxis } from './timeline-axis'
import { TimelineList } from './timeline-list'
import {
  type Axis,
  axisOf,
  branchOfKey,
  callAt,
  chosen,
  placeText,
  type Visit,
  visitsOf,
  zoomed,
} from './timeline-model'
import { callsKey, listOf, openCalls, type Tree, treeOf } from './timeline-tree'
import { useBranches } from './use-branches'
import { useCalls } from './use-calls'

/** The selection is a visit's key, or one of these two ends. */
export const START = '(start)'
export const RESULT = '(result)'

/** The run's visits with their times; branches stand under the step that forked. */
export function Timeline({
  runId,
  timeline,
  moves,
  ending,
  selected,
  onSelect,
}: {
  runId: string
  timeline: TimelineData
  moves: readonly ShownMove[]
  /** The last line's label of a run that completed. Without one, the line has the data at its end. */
  ending: string | null
  selected: string | null
  onSelect: (key: string) => void
}) {
  const [text, setText] = useState('')
  const [errorsOnly, setErrorsOnly] = useState(false)
  const visits = useMemo(() => visitsOf(timeline), [timeline])
  const began = Date.parse(timeline.startTime)
  const now = useNow(timeline.endTime === null ? 1_000 : null)
  const end = (timeline.endTime === null ? now : Date.parse(timeline.endTime)) - began
  const whole = useMemo(() => axisOf(visits, end, timeline.cut), [visits, end, timeline.cut])
  // A section of the axis, as fractions of its width.
  const [zoom, setZoom] = useState<{ from: number; to: number } | null>(null)
  const axis = useMemo(() => (zoom ? zoomed(whole, zoom) : whole), [whole, zoom])
  const zoomIn = (range: { from: number; to: number }) => {
    const { from, to } = zoom ?? { from: 0, to: 1 }
    setZoom({ from: from + range.from * (to - from), to: from + range.to * (to - from) })
  }
  const filtered = text.trim() !== '' || errorsOnly
  const branches = useBranches(runId, timeline, visits, selected)
  const { opened, inside, names, failed, open, ensureOpen } = branches
  const known = useMemo(() => {
    const once = new Map([...visits, ...[...inside.values()].flat()].map((visit) => [visit.seq, visit]))
    return [...once.values()].sort((a, b) => a.seq - b.seq)
  }, [visits, inside])
  const found = useMemo(() => chosen(known, { text, errorsOnly }), [known, text, errorsOnly])
  const openSeqs = useMemo(() => openCalls(opened), [opened])
  const calls = useCalls(runId, openSeqs)
  const tree = useMemo<Tree>(() => {
    const { cut, endTime } = timeline
    if (filtered) return listOf(found, (branch) => placeText(branch, names))
    return treeOf(
      { visits, names, cut, ended: endTime !== null, opened, inside, failed, calls, moves },
      { start: START, result: RESULT },
    )
  }, [timeline, visits, found, filtered, opened, inside, names, failed, calls, moves])
  const search = useRef<HTMLInputElement>(null)
  // The selected step may be in closed branches, and the selected call in a closed step.
  const call = callAt(selected ?? '')
  const within = call === null ? undefined : known.find(({ key }) => key === call.visit)?.seq
  useEffect(() => {
    if (selected !== null) ensureOpen(branchOfKey(selected))
    if (within !== undefined) open(callsKey({ seq: within }), true)
  }, [selected, within, ensureOpen, open])
  const place = selected === null ? -1 : tree.placeOf(selected)

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (!singleKeysAllowed(event)) return
      const key = shortcutKey(event)
      const step = key === 'j' ? 1 : key === 'k' ? -1 : 0
      if (step !== 0) {
        const next = nextOf(tree, place, step)
        if (next !== null) onSelect(next)
      } else if (key === '/') search.current?.focus()
      else if (key === 'e') setErrorsOnly((only) => !only)
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [tree, place, onSelect])

  return (
    <section className={styles.timeline} aria-label="Timeline">
      <div className={styles.tools}>
        <TextInput
          ref={search}
          type="search"
          aria-label="Find a step"
          placeholder="Find a step"
          leftSection={<Search size={16} aria-hidden />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          className={styles.find ?? ''}
        />
        <Checkbox
          label="Errors and retries only"
          checked={errorsOnly}
          onChange={(event) => setErrorsOnly(event.currentTarget.checked)}
        />
        <ZoomButton whole={whole} zoom={zoom} visit={visitAt(tree, place)} onZoom={setZoom} />
        <span className={styles.count}>
          {filtered ? `${tree.count} of ` : ''}
          {timeline.cut ? 'the newest ' : ''}
          {visits.length.toLocaleString('en')} {visits.length === 1 ? 'step' : 'steps'}
        </span>
      </div>
      <TimelineAxis began={began} ended={timeline.endTime !== null} axis={axis} onZoom={zoomIn} />
      <TimelineList
        ending={ending}
        runId={runId}
        tree={tree}
        axis={axis}
        began={began}
        names={names}
        selected={selected}
        place={place}
        settled={!branches.reading && openSeqs.every((seq) => calls.has(seq))}
        onSelect={onSelect}
        onOpen={open}
        onMore={branches.more}
        none={
          <>
            No step matches.{' '}
            <Button
              variant="subtle"
              size="compact-sm"
              onClick={() => {
                setText('')
                setErrorsOnly(false)
              }}
            >
              Show all
            </Button>
          </>
        }
      />
      {filtered && timeline.cut && (
        <p className={styles.cut}>In branches, only the newest steps and the branches you opened are searched.</p>
      )}
      <Legend />
    </section>
  )
}

/** The next step in this direction, skipping the lines that only group steps. */
function nextOf(tree: Tree, place: number, step: 1 | -1): string | null {
  for (let at = place < 0 ? 0 : place + step; at >= 0 && at < tree.count; at += step) {
    const line = tree.at(at)
    if (line?.kind === 'visit' || line?.kind === 'boundary') return line.key
  }
  return null
}

function visitAt(tree: Tree, place: number): Visit | null {
  const line = tree.at(place)
  return line?.kind === 'visit' ? line.visit : null
}

/** Zooming without dragging: to the selected step, and back. */
function ZoomButton({
  whole,
  zoom,
  visit,
  onZoom,
}: {
  whole: Axis
  zoom: { from: number; to: number } | null
  visit: Visit | null
  onZoom: (zoom: { from: number; to: number } | null) => void
}) {
  if (zoom) {
    return (
      <Button variant="default" size="compact-sm" onClick={() => onZoom(null)}>
        Show the whole run
      </Button>
    )
  }
  if (!visit || visit.carried) return null
  const from = whole.place(visit.start)
  const to = whole.place(visit.end ?? whole.end)
  // Slightly wider than the step, so that its neighbours show its place.
  const margin = Math.max((to - from) * 0.2, 0.0005)
  if (to - from > 0.6) return null
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      onClick={() => onZoom({ from: Math.max(0, from - margin), to: Math.min(1, to + margin) })}
    >
      Zoom to the step
    </Button>
  )
}

function Legend() {
  return (
    <p className={styles.legend}>
      <span className={styles.key} data-kind="queued" /> queued
      <span className={styles.key} data-kind="running" /> running
      <span className={styles.key} data-kind="failed" /> failed attempt
      <span className={styles.key} data-kind="waiting" /> waiting
    </p>
  )
}
