import { Graph, layout } from '@dagrejs/dagre'
import { pathBetween } from './connect'
import type { Layout } from './definition'
import type { LayoutRequest } from './layout-request'

/** The top left corner of each node. Slow for large graphs (a third of a second for 200 steps): run it in the worker. */
export function layoutWithDagre({ nodes, edges }: LayoutRequest): Layout {
  const graph = new Graph()
  graph.setGraph({ rankdir: 'TB', nodesep: 48, ranksep: 72, rankalign: 'top' })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height })
  for (const { from, to } of edges) graph.setEdge(from, to)
  layout(graph, { constraints: orderOf(edges) })
  return Object.fromEntries(
    nodes.map(({ id, width, height }) => {
      const { x, y } = graph.node(id) as { x: number; y: number }
      return [id, { x: Math.round(x - width / 2), y: Math.round(y - height / 2) }]
    }),
  )
}

/** Branches of a step stay in the order of its edges, unless that contradicts another step's. */
function orderOf(edges: LayoutRequest['edges']): { left: string; right: string }[] {
  const branches = new Map<string, string[]>()
  for (const { from, to } of edges) {
    const known = branches.get(from) ?? []
    branches.set(from, known.includes(to) ? known : [...known, to])
  }
  const order: { from: string; to: string }[] = []
  for (const ids of branches.values()) {
    for (const [i, right] of ids.entries()) {
      const left = ids[i - 1]
      // dagre would lose nodes in a circle.
      if (left !== undefined && !pathBetween(order, right, left)) order.push({ from: left, to: right })
    }
  }
  return order.map(({ from, to }) => ({ left: from, right: to }))
}
