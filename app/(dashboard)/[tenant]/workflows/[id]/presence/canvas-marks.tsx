'use client'
import { ViewportPortal } from '@xyflow/react'
import type { Position } from '../model/definition'
import { colorClass, Mark } from './mark'
import { useOthers } from './others'
import styles from './presence.module.css'

interface Placed {
  id: string
  position: Position
  width?: number
  height?: number
}

/** The distance of the ring from the card. */
const GAP = 5

/**
 * Rings around the steps that others have selected, with their initials. The header announces them to screen readers.
 */
export function CanvasMarks({ nodes }: { nodes: readonly Placed[] }) {
  const others = useOthers()
  const marked = nodes.flatMap((node) => {
    const people = others.filter(({ stepId }) => stepId === node.id)
    const [first] = people
    return first ? [{ node, people, first }] : []
  })
  if (marked.length === 0) return null
  return (
    <ViewportPortal>
      {marked.map(({ node: { id, position, width = 0, height = 0 }, people, first }) => (
        <div
          key={id}
          aria-hidden
          data-others-at={id}
          className={`${styles.ring} ${colorClass(first)}`}
          style={{
            left: position.x - GAP,
            top: position.y - GAP,
            width: width + 2 * GAP,
            height: height + 2 * GAP,
          }}
        >
          <div className={styles.marks}>
            {people.map((person) => (
              <Mark key={person.id} person={person} />
            ))}
          </div>
        </div>
      ))}
    </ViewportPortal>
  )
}
