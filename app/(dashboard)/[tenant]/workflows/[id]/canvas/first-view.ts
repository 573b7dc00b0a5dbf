import type { FitViewOptions, ReactFlowInstance } from '@xyflow/react'
import type { Position } from '../model/definition'
import { NODE_HEIGHT, NODE_WIDTH } from '../model/exit-row'

type Flow = Pick<ReactFlowInstance, 'getZoom' | 'setCenter'> & {
  fitView: (options: Pick<FitViewOptions, 'padding' | 'maxZoom'>) => Promise<boolean>
}

/** The zoom at which a part of a graph is shown first. */
const PART_ZOOM = 0.9
/** Above START when the graph begins there, in pixels. */
const ABOVE = 48

/** Shows the whole graph if that is readable, otherwise its start or, in the middle, another of its nodes. */
export async function showFirst(flow: Flow, { readable, fit, height, start, at = null }: FirstView): Promise<void> {
  await flow.fitView(fit)
  if (flow.getZoom() >= readable) return
  const { x, y } = at ?? start
  const down = at ? NODE_HEIGHT / 2 : (height / 2 - ABOVE) / PART_ZOOM
  await flow.setCenter(x + NODE_WIDTH / 2, y + down, { zoom: PART_ZOOM })
}

interface FirstView {
  /** The zoom below which the whole is not worth showing. */
  readable: number
  fit: { padding: number; maxZoom: number }
  /** Of the canvas, in pixels. */
  height: number
  start: Position
  at?: Position | null | undefined
}

/** Whether a card with this top left corner is fully visible. */
export function isInView({ x, y }: Position, box: DOMRect, zoom: number): boolean {
  const [right, bottom] = [x + NODE_WIDTH * zoom, y + NODE_HEIGHT * zoom]
  return x >= box.left && y >= box.top && right <= box.right && bottom <= box.bottom
}
