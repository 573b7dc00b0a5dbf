'use client'
import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { MiniMap, Panel, useConnection, useReactFlow, useStore, useViewport } from '@xyflow/react'
import { Maximize, Minus, Plus } from 'lucide-react'
import styles from './canvas.module.css'
import { isWhole, WHOLE } from './first-view'
import type { FlowNode } from './node'
import type { ReasonFor } from './use-canvas-events'

/** Zooms in, out, to the whole graph and to actual size. */
export function ZoomBar({ animate }: { animate: boolean }) {
  const flow = useReactFlow()
  const { zoom } = useViewport()
  const options = animate ? { duration: 150 } : {}
  return (
    <Panel position="bottom-left" className={styles.zoom ?? ''}>
      <ActionIcon variant="default" aria-label="Zoom out" onClick={() => void flow.zoomOut(options)}>
        <Minus size={16} aria-hidden />
      </ActionIcon>
      <Tooltip label="Actual size (0)">
        <Button
          variant="default"
          size="compact-sm"
          w={64}
          aria-label={`Zoom ${Math.round(zoom * 100)}%, reset to 100%`}
          onClick={() => void flow.zoomTo(1, options)}
        >
          {Math.round(zoom * 100)}%
        </Button>
      </Tooltip>
      <ActionIcon variant="default" aria-label="Zoom in" onClick={() => void flow.zoomIn(options)}>
        <Plus size={16} aria-hidden />
      </ActionIcon>
      <Tooltip label="Show all (1)">
        <ActionIcon
          variant="default"
          aria-label="Show the whole graph"
          onClick={() => void flow.fitView({ ...WHOLE, ...options })}
        >
          <Maximize size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </Panel>
  )
}

/** The map of a graph that does not fit in view: in a graph that does, it could cover steps. */
export function GraphMap({ nodes }: { nodes: FlowNode[] }) {
  const whole = useStore((state) => isWhole(nodes, state.transform, state))
  return whole ? null : <MiniMap pannable zoomable className={styles.map ?? ''} />
}

/** Why the step under the pointer cannot be connected. */
export function RefusalHint({ reasonFor }: { reasonFor: ReasonFor }) {
  const connection = useConnection()
  if (!connection.inProgress || !connection.toNode) return null
  const { fromNode, fromHandle, toNode, toHandle, pointer } = connection
  const reason =
    fromHandle.type === 'target'
      ? reasonFor(toNode.id, toHandle?.id ?? 'next', fromNode.id)
      : reasonFor(fromNode.id, fromHandle.id ?? 'next', toNode.id)
  if (reason === null) return null
  return (
    <div className={styles.refusal} style={{ left: pointer.x + 16, top: pointer.y + 16 }} role="tooltip">
      {reason}
    </div>
  )
}
