'use client'
import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, getSmoothStepPath } from '@xyflow/react'
import { Plus } from 'lucide-react'
import { memo } from 'react'
import { useEditorActions } from '../actions/editor-actions'
import styles from './edge.module.css'

export type StepEdgeData = {
  exit: string
  label: string
  kind: 'edge' | 'implicit' | 'end'
  /** The button's label; empty where nothing can be added. */
  add: string
}
export type StepFlowEdge = Edge<StepEdgeData, 'step'>

/** An edge with a button that inserts a step. Not focusable: screen readers hear edges as part of a step. */
export const StepEdge = memo(function StepEdge(props: EdgeProps<StepFlowEdge>) {
  const { source, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, data } = props
  const { addAt } = useEditorActions()
  const [path, labelX, labelY] = getSmoothStepPath({
    sourceX,
    sourceY,
    targetX,
    targetY,
    sourcePosition,
    targetPosition,
    borderRadius: 12,
  })
  const { exit = 'next', label = '', kind = 'edge', add = '' } = data ?? {}
  const end = { ...(props.markerEnd === undefined ? {} : { markerEnd: props.markerEnd }) }
  return (
    <>
      <BaseEdge
        path={path}
        {...end}
        interactionWidth={0}
        className={kind === 'implicit' ? (styles.implicit ?? '') : (styles.line ?? '')}
      />
      {(label !== '' || add !== '') && (
        <EdgeLabelRenderer>
          <div
            className={`${styles.label} nodrag nopan`}
            style={{ transform: `translate(-50%, -50%) translate(${labelX}px, ${labelY}px)` }}
          >
            {label !== '' && <span className={styles.text}>{label}</span>}
            {add !== '' && (
              <button
                type="button"
                tabIndex={-1}
                className={styles.add}
                aria-label={add}
                title="Add step here"
                onClick={() => addAt({ after: source, exit })}
              >
                <Plus size={14} aria-hidden />
              </button>
            )}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  )
})
