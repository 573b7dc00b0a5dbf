import { layoutWithDagre } from './layout-dagre'
import type { LayoutRequest } from './layout-request'

const scope = self as unknown as {
  onmessage: ((message: MessageEvent<LayoutRequest>) => void) | null
  postMessage: (layout: unknown) => void
}

scope.onmessage = ({ data }) => scope.postMessage(layoutWithDagre(data))
