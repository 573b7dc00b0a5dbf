'use client'
import { ViewportPortal } from '@xyflow/react'
import { memo } from 'react'
import { toggleBreakpoint, useStepMarks } from '../parts/step-marks'
import { CanvasMarks as OthersMarks } from '../presence/canvas-marks'
import { END } from './graph'
import styles from './marks.module.css'
import type { FlowNode } from './node'

const GAP = 5

/** What stands over the boxes: who else has selected them, and the marks of stepping through. */
export function CanvasMarks({ nodes }: { nodes: readonly FlowNode[] }) {
  return (
    <>
      <OthersMarks nodes={nodes} />
      <StepMarks nodes={nodes} />
    </>
  )
}

/** A dot on each step, which is full at a breakpoint; a frame around the next step, and a tick on those before it. */
const StepMarks = memo(function StepMarks({ nodes }: { nodes: readonly FlowNode[] }) {
  const marks = useStepMarks()
  if (!marks) return null
  return (
    <ViewportPortal>
      {nodes.map(({ id, type, position, data, width = 0, height = 0 }) => {
        if (type !== 'step' || id === END) return null
        const isSet = marks.breakpoints.includes(id)
        const state = id === marks.next ? 'next' : marks.passed.includes(id) ? 'passed' : 'ahead'
        const place = {
          left: position.x - GAP,
          top: position.y - GAP,
          width: width + 2 * GAP,
          height: height + 2 * GAP,
        }
        return (
          <div key={id} className={styles.frame} data-state={state} data-step-mark={id} style={place}>
            {/* The keyboard has B, in the panel. */}
            <button
              type="button"
              tabIndex={-1}
              className={`${styles.dot} nopan`}
              aria-pressed={isSet}
              aria-label={`Breakpoint at ${data.name}`}
              title={isSet ? 'Remove the breakpoint' : 'Set a breakpoint'}
              onClick={() => toggleBreakpoint(id)}
            />
            {state !== 'ahead' && (
              <span className={styles.word} aria-hidden>
                {state === 'next' ? 'Next' : '✓'}
              </span>
            )}
          </div>
        )
      })}
    </ViewportPortal>
  )
})
