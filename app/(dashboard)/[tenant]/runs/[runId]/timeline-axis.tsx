'use client'
import { type PointerEvent, useRef, useState } from 'react'
import { useShownZone } from '@/app/_ui/shown-zone'
import { absoluteTime, durationText, passedText } from '@/app/_ui/time-text'
import styles from './timeline.module.css'
import { type Axis, isLeft, LONG_WAIT_MS, ticksOf } from './timeline-model'

/** Breaks closer together than this are not labelled. */
const APART = 0.05
/** A shorter drag is a click. */
const SHORTEST = 0.02

/** The axis: the run's start, round times, and the shortened waits. Dragging along it zooms in. */
export function TimelineAxis({
  began,
  ended,
  axis,
  onZoom,
}: {
  began: number
  ended: boolean
  axis: Axis
  onZoom: (range: { from: number; to: number }) => void
}) {
  const zone = useShownZone()
  const track = useRef<HTMLDivElement>(null)
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null)
  const at = (event: PointerEvent) => {
    const box = track.current?.getBoundingClientRect()
    return box && box.width > 0 ? Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) : 0
  }
  const range = drag && { from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) }
  return (
    <div className={styles.axis} aria-hidden>
      <span className={styles.axisLead} suppressHydrationWarning>
        {absoluteTime(new Date(began), zone, true)}, {ended ? durationText(axis.end) : passedText(axis.end)} in all
      </span>
      <div
        ref={track}
        className={styles.axisTrack}
        onPointerDown={(event) => {
          if (event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          setDrag({ from: at(event), to: at(event) })
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, to: at(event) })}
        onPointerUp={() => {
          if (range && range.to - range.from >= SHORTEST) onZoom(range)
          setDrag(null)
        }}
        onPointerCancel={() => setDrag(null)}
      >
        {ticksOf(axis).map(({ at: place, text }) => (
          <span
            key={place}
            className={styles.tick}
            data-end={isLeft(place) || undefined}
            style={{ left: percent(place) }}
          >
            {text}
          </span>
        ))}
        {range && (
          <span className={styles.drag} style={{ left: percent(range.from), width: percent(range.to - range.from) }} />
        )}
      </div>
    </div>
  )
}

/** Lines behind the rows at the axis's round times, and bands for shortened waits. */
export function TimelineGrid({ axis }: { axis: Axis }) {
  return (
    <div className={styles.grid} aria-hidden>
      <div className={styles.gridTrack}>
        {ticksOf(axis).map(({ at, text }) => (
          <span key={`${at} ${text}`} className={styles.line} style={{ left: percent(at) }} />
        ))}
        {shownBreaks(axis).map(({ from, to, ms }) => (
          <span
            key={from}
            className={styles.band}
            style={{ left: percent(from), width: percent(to - from) }}
            title={`${inSeconds(ms)} of waiting, not drawn to scale`}
          >
            <span className={styles.bandText}>{inSeconds(ms)}</span>
          </span>
        ))}
      </div>
    </div>
  )
}

/** As in the tick at its end. */
const inSeconds = (ms: number) => (ms < LONG_WAIT_MS ? durationText(ms) : passedText(ms))

/** A run may have waited thousands of times. */
function shownBreaks({ breaks }: Axis): Axis['breaks'] {
  const shown: Axis['breaks'] = []
  for (const one of breaks) {
    if (one.to < 0 || one.from > 1) continue
    if (one.from - (shown.at(-1)?.from ?? -1) >= APART) shown.push(one)
  }
  return shown
}

function percent(part: number): string {
  return `${part * 100}%`
}
