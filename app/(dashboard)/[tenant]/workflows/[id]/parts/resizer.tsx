'use client'
import { type KeyboardEvent, type PointerEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { keep, readKept } from '../../../kept'
import styles from './resizer.module.css'

/** The distance of one arrow key press in pixels; with Shift, five times that. */
const STEP = 16

interface Range {
  min: number
  max: number
}

export interface PanelSize extends Range {
  /** In pixels; null for the style sheet's size. */
  size: number | null
  set: (size: number | null) => void
}

/** The size of a panel, stored in this browser. */
export function usePanelSize(name: string, { min, max }: Range): PanelSize {
  const key = `millrace-panel-${name}`
  const [size, setSize] = useState<number | null>(null)
  // Before the page is painted, but not during server rendering.
  useLayoutEffect(() => {
    const kept = Number(readKept(key))
    if (kept > 0) setSize(Math.min(max, Math.max(min, kept)))
  }, [key, min, max])
  const set = useCallback(
    (next: number | null) => {
      const within = next === null ? null : Math.round(Math.min(max, Math.max(min, next)))
      setSize(within)
      keep(key, within === null ? null : String(within))
    },
    [key, min, max],
  )
  return { size, set, min, max }
}

/**
 * A panel's movable border: by dragging, with the arrow keys, to its ends with Home and End, and back to its default
 * with a double click or Enter. The panel is after it: to the right, or below.
 */
export function Resizer(props: { panel: PanelSize; label: string; controls: string; vertical: boolean }) {
  const { panel, label, controls, vertical } = props
  const drag = useRef<{ at: number; size: number } | null>(null)
  const [shown, setShown] = useState(panel.size)
  const measure = () => {
    const box = document.getElementById(controls)?.getBoundingClientRect()
    return Math.round((vertical ? box?.width : box?.height) ?? panel.min)
  }
  // Its announced value must be true even where the style sheet sets the size.
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each change of the size
  useEffect(() => setShown(measure()), [panel.size])
  const placeOf = (event: PointerEvent) => (vertical ? event.clientX : event.clientY)

  function onKeyDown(event: KeyboardEvent) {
    const by = event.shiftKey ? STEP * 5 : STEP
    const [grow, shrink] = vertical ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown']
    if (event.key === grow) panel.set(measure() + by)
    else if (event.key === shrink) panel.set(measure() - by)
    else if (event.key === 'Home') panel.set(panel.min)
    else if (event.key === 'End') panel.set(panel.max)
    else if (event.key === 'Enter') panel.set(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <div
      role="separator"
      tabIndex={0}
      aria-orientation={vertical ? 'vertical' : 'horizontal'}
      aria-label={label}
      aria-controls={controls}
      aria-valuenow={shown ?? panel.min}
      aria-valuemin={panel.min}
      aria-valuemax={panel.max}
      aria-valuetext={`${shown ?? panel.min} pixels`}
      className={vertical ? styles.vertical : styles.horizontal}
      onKeyDown={onKeyDown}
      onDoubleClick={() => panel.set(null)}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        drag.current = { at: placeOf(event), size: measure() }
      }}
      onPointerMove={(event) => {
        if (drag.current) panel.set(drag.current.size + drag.current.at - placeOf(event))
      }}
      onPointerUp={() => {
        drag.current = null
      }}
      onPointerCancel={() => {
        drag.current = null
      }}
    />
  )
}
