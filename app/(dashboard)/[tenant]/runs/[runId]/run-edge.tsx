'use client'
import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, Position } from '@xyflow/react'
import { memo } from 'react'
import { bendsOf, type Lane, middleOf, roundedPath } from '../../workflows/[id]/canvas/lines'
import styles from './run-graph.module.css'

export type RunFlowEdge = Edge<
  {
    label: string
    /** Leads back into a loop. */
    back: boolean
    lane: Lane | undefined
    /** How often the run took it. */
    times: number
  },
  'run'
>

/** A line of the run's graph: green where the run went. */
export const RunEdge = memo(function RunEdge(props: EdgeProps<RunFlowEdge>) {
  const { sourceX, sourceY, targetX, targetY, sourcePosition, markerEnd, data } = props
  const { label = '', back = false, lane, times = 0 } = data ?? {}
  const sideways = sourcePosition === Position.Right
  const bends = bendsOf({ x: sourceX, y: sourceY }, { x: targetX, y: targetY }, sideways, lane)
  const { x, y } = middleOf(bends)
  const text = [label, times > 1 ? `×${times}` : ''].filter(Boolean).join(' ')
  return (
    <>
      <BaseEdge
        path={roundedPath(bends, 12)}
        {...(markerEnd === undefined ? {} : { markerEnd })}
        className={`${times > 0 ? styles.taken : styles.edge} ${back ? styles.back : ''}`}
      />
      {text !== '' && (
        <EdgeLabelRenderer>
          <span className={styles.label} style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}>
            {text}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  )
})
