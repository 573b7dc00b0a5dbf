'use client'
import { ViewportPortal } from '@xyflow/react'
import { useMemo } from 'react'
import type { Position } from '../model/definition'
import styles from './canvas.module.css'
import { type Body, hullsOf, pathOf } from './hulls'

interface Placed {
  id: string
  position: Position
  width?: number
  height?: number
}

/** Tinted areas behind branch bodies. They follow dragged steps and ignore clicks. */
export function BodyHulls({ bodies, nodes }: { bodies: readonly Body[]; nodes: readonly Placed[] }) {
  const hulls = useMemo(() => {
    if (bodies.length === 0) return []
    const boxes = nodes.map(({ id, position, width = 0, height = 0 }) => [id, { ...position, width, height }] as const)
    return hullsOf(bodies, new Map(boxes))
  }, [bodies, nodes])
  if (hulls.length === 0) return null
  return (
    <ViewportPortal>
      {/* Screen readers announce which exit leads to a step. */}
      <svg className={styles.hulls} aria-hidden>
        {hulls.map((hull) => (
          <g key={hull.id} data-hull={hull.id}>
            <path className={styles.hull} d={pathOf(hull)} strokeWidth={hull.reach * 2} />
            <text className={styles.hullLabel} x={hull.at.x} y={hull.at.y + 11}>
              {hull.label}
            </text>
          </g>
        ))}
      </svg>
    </ViewportPortal>
  )
}
