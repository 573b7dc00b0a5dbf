import type { FitViewOptions, ReactFlowInstance, Transform } from '@xyflow/react'
import type { Position } from '../model/definition'
import { NODE_HEIGHT, NODE_WIDTH } from '../model/exit-row'

export type Fit = Pick<FitViewOptions, 'padding' | 'maxZoom'>

type Flow = Pick<ReactFlowInstance, 'getZoom' | 'setCenter'> & { fitView: (options: Fit) => Promise<boolean> }

/** The initial zoom for a part of a graph. */
const PART_ZOOM = 0.9
/** The space above START when the view begins there, in pixels. */
const ABOVE = 48

/** Fits the whole graph, with room for the zoom bar below it. */
export const WHOLE = { padding: { x: '5%', top: '5%', bottom: '56px' }, maxZoom: 1 } satisfies Fit

/** Shows the whole graph if it is readable, otherwise its start or, centred, another node. */
export async function showFirst(flow: Flow, { readable, height, start, at = null }: FirstView): Promise<void> {
  await flow.fitView(WHOLE)
  if (flow.getZoom() >= readable) return
  const { x, y } = at ?? start
  const down = at ? NODE_HEIGHT / 2 : (height / 2 - ABOVE) / PART_ZOOM
  await flow.setCenter(x + NODE_WIDTH / 2, y + down, { zoom: PART_ZOOM })
}

interface FirstView {
  /** The zoom below which the whole graph is unreadable. */
  readable: number
  /** The canvas's height in pixels. */
  height: number
  start: Position
  at?: Position | null | undefined
}

/** Whether a card with this top left corner is fully visible. */
export function isInView({ x, y }: Position, box: DOMRect, zoom: number): boolean {
  const [right, bottom] = [x + NODE_WIDTH * zoom, y + NODE_HEIGHT * zoom]
  return x >= box.left && y >= box.top && right <= box.right && bottom <= box.bottom
}

interface Placed {
  position: Position
  width?: number | undefined
  height?: number | undefined
}

/** Whether every node is fully visible in a canvas of this size. */
export function isWhole(
  nodes: readonly Placed[],
  [x, y, zoom]: Transform,
  canvas: { width: number; height: number },
): boolean {
  return nodes.every(({ position, width = 0, height = 0 }) => {
    const [left, top] = [position.x * zoom + x, position.y * zoom + y]
    return left >= 0 && top >= 0 && left + width * zoom <= canvas.width && top + height * zoom <= canvas.height
  })
}
