'use client'
import { type Connection, type FinalConnectionState, type ReactFlowProps, useReactFlow } from '@xyflow/react'
import { type RefObject, useCallback, useMemo, useRef } from 'react'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { EditorActions } from '../actions/editor-actions'
import { canConnect } from '../model/connect'
import type { StepFlowEdge } from './edge'
import { markFar } from './far'
import { END } from './graph'
import type { FlowNode } from './node'

/** Below this zoom, a card shows only its name, in larger letters. */
const NAMES_BELOW = 0.5
/** Below this zoom, cards are plain boxes: any text would be unreadable and slow to render. */
const BOXES_BELOW = 0.25

/** Why an exit cannot lead to a node; null if it can. */
export type ReasonFor = (from: string, exit: string, to: string) => string | null

/**
 * The mouse actions on the graph: connect, reconnect, add, open. The handlers never change: a new one would make React
 * Flow render every node or line again, at each move of a drag.
 */
export function useCanvasEvents(options: {
  latest: RefObject<{ definition: Definition }>
  catalog: Catalog
  actions: EditorActions
  host: RefObject<HTMLDivElement | null>
  /** While a connection is drawn: the nodes it can end at. */
  setTargets: (targets: ReadonlySet<string> | null) => void
  setFocused: (nodeId: string) => void
  readOnly: boolean
}) {
  const { latest, catalog, actions, host, setTargets, setFocused, readOnly } = options
  const { screenToFlowPosition } = useReactFlow()
  /** True while an end of an existing line is dragged. */
  const moving = useRef(false)
  const reasonFor = useCallback<ReasonFor>(
    (from, exit, to) => {
      if (to === END) return 'Paths that end lead to END by themselves.'
      const connection = canConnect(latest.current.definition, catalog, from, exit, to)
      return connection.ok ? null : connection.reason
    },
    [latest, catalog],
  )
  const events = useMemo(
    () =>
      ({
        onConnect: ({ source, sourceHandle, target }: Connection) =>
          actions.connect(source, sourceHandle ?? 'next', target),
        onReconnectStart: () => {
          moving.current = true
        },
        onReconnect: (old, { source, sourceHandle, target }) =>
          actions.reconnect(
            { from: old.source, exit: old.sourceHandle ?? 'next' },
            source,
            sourceHandle ?? 'next',
            target,
          ),
        onReconnectEnd: () => {
          moving.current = false
        },
        isValidConnection: ({ source, sourceHandle, target }) =>
          reasonFor(source, sourceHandle ?? 'next', target) === null,
        onConnectStart: (_event, { nodeId, handleId, handleType }) => {
          // Backwards from a step, every exit of another step is a possible start.
          if (nodeId === null || handleType === 'target') return
          const ids = latest.current.definition.steps.map((step) => step.id)
          setTargets(new Set(ids.filter((id) => reasonFor(nodeId, handleId ?? 'next', id) === null)))
        },
        onConnectEnd: (event, state: FinalConnectionState) => {
          setTargets(null)
          const { fromNode, fromHandle, toNode, isValid: fits } = state
          if (!fromNode || fits) return
          const from = fromNode.id
          const exit = fromHandle?.id ?? 'next'
          if (toNode) {
            const reason =
              fromHandle?.type === 'target'
                ? reasonFor(toNode.id, state.toHandle?.id ?? 'next', from)
                : reasonFor(from, exit, toNode.id)
            if (reason !== null && !moving.current) actions.announce(reason, true)
            return
          }
          if (fromHandle?.type === 'target') return
          // An existing line dropped on empty canvas stays.
          if (moving.current) return
          const point = 'changedTouches' in event ? event.changedTouches[0] : event
          if (point) actions.addAt({ after: from, exit }, screenToFlowPosition({ x: point.clientX, y: point.clientY }))
        },
        onNodeClick: (event, node) => {
          if (!event.shiftKey && !event.ctrlKey && !event.metaKey && node.id !== END) setFocused(node.id)
        },
        onDoubleClick: (event) => {
          if (readOnly || !(event.target instanceof Element) || !event.target.classList.contains('react-flow__pane'))
            return
          actions.addAt(null, screenToFlowPosition({ x: event.clientX, y: event.clientY }))
        },
        onNodeDoubleClick: (_event, node) => {
          if (node.id !== END) actions.open(node.id)
        },
        onMove: (_event, { zoom }) => {
          markFar(host.current, zoom < BOXES_BELOW ? 'boxes' : zoom < NAMES_BELOW ? 'names' : null)
        },
      }) satisfies ReactFlowProps<FlowNode, StepFlowEdge>,
    [actions, reasonFor, latest, host, setTargets, setFocused, screenToFlowPosition, readOnly],
  )
  return { events, reasonFor }
}
