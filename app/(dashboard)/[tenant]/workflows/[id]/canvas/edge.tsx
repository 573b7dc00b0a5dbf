'use client'
import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, Position } from '@xyflow/react'
import { Plus, RotateCcw } from 'lucide-react'
import { memo, useContext } from 'react'
import { useActionsHere } from '../actions/editor-actions'
import type { Mark } from '../parts/change-mark'
import { MarkSign } from '../parts/mark-sign'
import styles from './edge.module.css'
import { bendsOf, hasRoom, type Lane, labelAt, roundedPath } from './lines'

export type StepEdgeData = {
  exit: string
  label: string
  kind: 'edge' | 'back' | 'implicit' | 'end'
  failure: boolean
  /** The limit of a line that leads back, such as "at most 1,000×"; empty without one. */
  bound: string
  lane: Lane | undefined
  /**
   * The button's label; empty where nothing can be added. A short line has no button: the keys and the toolbar add
   * there.
   */
  add: string
  /** How often a run took it; absent without a run. */
  times?: number
  /** How it differs from another definition, in words where no step says so. */
  mark?: Mark
  words?: string
}
export type StepFlowEdge = Edge<StepEdgeData, 'step'>

/** A line this long hides its exit's label, so it carries one itself. */
const FAR = 260
/** A centred label on a line this close to the side of its step would be hidden under the step. */
const NEAR = 70

/** An edge with a button that inserts a step. Not focusable: screen readers announce edges as part of a step. */
export const StepEdge = memo(function StepEdge(props: EdgeProps<StepFlowEdge>) {
  const { source, sourceX, sourceY, targetX, targetY, sourcePosition, data } = props
  const actions = useActionsHere()
  const Sign = useContext(MarkSign)
  const { exit = 'next', label = '', kind = 'edge', failure = false, bound = '', lane, add = '', times } = data ?? {}
  const { mark, words = '' } = data ?? {}
  const start = { x: sourceX, y: sourceY }
  const end = { x: targetX, y: targetY }
  const bends = bendsOf(start, end, sourcePosition === Position.Right, lane)
  const middle = labelAt(bends, lane)
  const insert = add !== '' && hasRoom(bends)
  const marker = { ...(props.markerEnd === undefined ? {} : { markerEnd: props.markerEnd }) }
  const far = Math.hypot(middle.x - sourceX, middle.y - sourceY) > FAR
  const often = times !== undefined && times > 1 ? `×${times}` : ''
  const text = [failure || far ? label : '', often].filter(Boolean).join(' ')
  const went = times === undefined ? '' : times > 0 ? styles.taken : styles.untaken
  const beside = sourcePosition === Position.Right && middle.x > sourceX && middle.x - sourceX < NEAR
  // Wide words would be hidden under the steps that the line passes.
  const away = words !== '' && lane !== undefined ? (middle.x < sourceX ? '-100%' : '0') : null
  const aside = away ?? (beside ? '8px' : '-50%')
  return (
    <>
      <BaseEdge
        path={roundedPath(bends, 12)}
        {...marker}
        interactionWidth={0}
        className={`${styles[kind]} ${failure ? styles.failure : ''} ${went}`}
        data-mark={mark}
      />
      {(text !== '' || words !== '' || bound !== '' || insert) && (
        <EdgeLabelRenderer>
          <div
            className={`${styles.label} nodrag nopan`}
            style={{ transform: `translate(${aside}, -50%) translate(${middle.x}px, ${middle.y}px)` }}
          >
            {text !== '' && <span className={`${styles.text} ${failure ? styles.failed : ''}`}>{text}</span>}
            {mark !== undefined && words !== '' && (
              <span className={styles.text}>
                {Sign && <Sign mark={mark} />} {words}
              </span>
            )}
            {bound !== '' && (
              <span className={`${styles.text} ${styles.bound}`}>
                <RotateCcw size={12} aria-hidden /> {bound}
              </span>
            )}
            {insert && (
              <button
                type="button"
                tabIndex={-1}
                className={styles.add}
                aria-label={add}
                title="Add step here"
                onClick={() => actions?.addAt({ after: source, exit })}
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
