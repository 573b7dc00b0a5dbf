'use client'
import { Handle, Position } from '@xyflow/react'
import { Plus } from 'lucide-react'
import { memo } from 'react'
import { useActionsHere } from '../actions/editor-actions'
import { handleAt, type ShownExit } from '../model/exit-row'
import styles from './node.module.css'

const CLASSES: Record<ShownExit['tier'], string | undefined> = {
  only: styles.out,
  way: styles.way,
  rest: styles.rest,
  failure: styles.failure,
  stray: styles.stray,
}

/** An exit: drag from it to connect it; click it, while it has no connection, to add a step. */
export const ExitHandle = memo(function ExitHandle(props: {
  stepId: string
  exit: ShownExit
  exits: readonly ShownExit[]
  connectable: boolean
  /** How often a run took it. */
  times?: number
}) {
  const { stepId, exit, exits, connectable, times = 0 } = props
  const actions = useActionsHere()
  const { x, y, width } = handleAt(exits, exit.id)
  const failure = exit.tier === 'failure'
  const open = connectable && !exit.used
  const place = exit.tier === 'only' ? {} : failure ? { top: y } : { left: x, width }
  return (
    <Handle
      id={exit.id}
      type="source"
      position={failure ? Position.Right : Position.Bottom}
      className={`${CLASSES[exit.tier]} ${exit.used ? styles.used : ''} ${times > 0 ? styles.taken : ''}`}
      style={place}
      title={open ? `${exit.label}: drag to connect, click to add a step` : exit.label}
      isConnectable={connectable}
      {...(open ? { onClick: () => actions?.addAt({ after: stepId, exit: exit.id }) } : {})}
    >
      {(exit.tier === 'way' || exit.tier === 'stray') && (
        <span className={styles.exitLabel}>
          {exit.label}
          {times > 1 && ` ×${times}`}
        </span>
      )}
      {exit.tier === 'rest' && <span className={styles.exitLabel}>else{times > 1 && ` ×${times}`}</span>}
      {open && exit.tier === 'way' && <Plus className={styles.plus} size={12} aria-hidden />}
    </Handle>
  )
})
