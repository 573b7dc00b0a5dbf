'use client'
import { Button, Checkbox, TextInput } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Search } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { singleKeysAllowed } from '@/app/_ui/single-keys'
import { useNow } from '@/app/_ui/time'
import type { Timeline as Told } from '@/server/views/runs/timeline'
import styles from './timeline.module.css'
import { TimelineAxis, TimelineGrid } from './timeline-axis'
import { type Axis, axisOf, chosen, type Visit, visitsOf, zoomed } from './timeline-model'
import { BoundaryRow, VisitRow } from './timeline-row'

const ROW_PX = 32

/** The selection is a visit's key, or one of the two ends. */
export const START = '(start)'
export const RESULT = '(result)'

type Item = { key: string; visit: Visit | null }

/** All visits of the run with their times. Only visible rows are rendered. */
export function Timeline({
  told,
  selected,
  onSelect,
}: {
  told: Told
  selected: string | null
  onSelect: (key: string) => void
}) {
  const [text, setText] = useState('')
  const [errorsOnly, setErrorsOnly] = useState(false)
  const visits = useMemo(() => visitsOf(told), [told])
  const began = Date.parse(told.startTime)
  const now = useNow(told.endTime === null ? 1_000 : null)
  const end = (told.endTime === null ? now : Date.parse(told.endTime)) - began
  const whole = useMemo(() => axisOf(visits, end), [visits, end])
  // A part of the axis, as fractions of its width.
  const [zoom, setZoom] = useState<{ from: number; to: number } | null>(null)
  const axis = useMemo(() => (zoom ? zoomed(whole, zoom) : whole), [whole, zoom])
  const zoomIn = (range: { from: number; to: number }) => {
    const { from, to } = zoom ?? { from: 0, to: 1 }
    setZoom({ from: from + range.from * (to - from), to: from + range.to * (to - from) })
  }
  const filtered = text.trim() !== '' || errorsOnly
  const items = useMemo<Item[]>(() => {
    const rows = chosen(visits, { text, errorsOnly }).map((visit) => ({ key: visit.key, visit }))
    if (filtered) return rows
    const last = told.endTime === null ? [] : [{ key: RESULT, visit: null }]
    return [{ key: START, visit: null }, ...rows, ...last]
  }, [visits, text, errorsOnly, filtered, told.endTime])

  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
    getItemKey: (index) => items[index]?.visit?.seq ?? items[index]?.key ?? index,
  })
  const search = useRef<HTMLInputElement>(null)
  const place = items.findIndex(({ key }) => key === selected)
  const shown = useRef<string | null>(null)
  // Only once per selection: a change of the run must not scroll back to it.
  useEffect(() => {
    if (place < 0 || shown.current === selected) return
    // Once the list has its height.
    const frame = requestAnimationFrame(() => {
      const first = shown.current === null
      shown.current = selected
      virtual.scrollToIndex(place, { align: first ? 'center' : 'auto' })
    })
    return () => cancelAnimationFrame(frame)
  }, [place, selected, virtual])

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (!singleKeysAllowed(event)) return
      const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0
      if (step !== 0) {
        const next = items[Math.min(items.length - 1, Math.max(0, place + step))]
        if (next) onSelect(next.key)
      } else if (event.key === '/') search.current?.focus()
      else if (event.key === 'e') setErrorsOnly((only) => !only)
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [items, place, onSelect])

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
        <ZoomButton whole={whole} zoom={zoom} visit={items[place]?.visit ?? null} onZoom={setZoom} />
        <span className={styles.count}>
          {filtered ? `${items.length} of ` : ''}
          {visits.length} {visits.length === 1 ? 'step' : 'steps'}
        </span>
      </div>
      <TimelineAxis began={began} axis={axis} onZoom={zoomIn} />
      <div ref={scroller} className={styles.scroller}>
        {items.length > 0 && <TimelineGrid axis={axis} />}
        <ul
          className={styles.rows}
          aria-label="Steps in the order they began"
          style={{ height: virtual.getTotalSize() }}
        >
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const item = items[index]
            if (!item) return null
            return (
              <li
                key={key}
                className={styles.item}
                style={{ transform: `translateY(${start}px)` }}
                aria-setsize={items.length}
                aria-posinset={index + 1}
              >
                {item.visit ? (
                  <VisitRow visit={item.visit} axis={axis} selected={item.key === selected} onSelect={onSelect} />
                ) : (
                  <BoundaryRow which={item.key} selected={item.key === selected} onSelect={onSelect} />
                )}
              </li>
            )
          })}
        </ul>
        {items.length === 0 && (
          <div className={styles.none}>
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
          </div>
        )}
      </div>
      <Legend />
    </section>
  )
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
  // A little more than the step, so that its neighbours show where it is.
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
