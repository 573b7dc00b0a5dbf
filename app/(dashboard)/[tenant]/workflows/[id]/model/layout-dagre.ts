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
  const constraints = orderOf(edges)
  layout(graph, {
    customOrder: (layered, order) => {
      order(layered, { constraints })
      keepOrder(layered, constraints)
    },
  })
  return Object.fromEntries(
    nodes.map(({ id, width, height }) => {
      const { x, y } = graph.node(id) as { x: number; y: number }
      return [id, { x: Math.round(x - width / 2), y: Math.round(y - height / 2) }]
    }),
  )
}

/**
 * dagre does not preserve the order of steps without successors. Where it failed, this sorts each row by the positions
 * of the steps above and swaps a step's branches until they are in order.
 */
function keepOrder(graph: Graph, constraints: readonly { left: string; right: string }[]): void {
  const orderOf = (id: string) => (graph.node(id) as { order: number }).order
  const broken = constraints.some(({ left, right }) => {
    const [a, b] = [graph.node(left), graph.node(right)] as { rank: number }[]
    return a?.rank === b?.rank && orderOf(left) > orderOf(right)
  })
  if (!broken) return
  const rows: string[][] = []
  for (const id of graph.nodes()) {
    const { rank } = graph.node(id) as { rank?: number }
    if (rank !== undefined) rows[rank] = [...(rows[rank] ?? []), id]
  }
  for (const row of rows) {
    if (!row) continue
    const above = new Map(
      row.map((id) => {
        const from = (graph.inEdges(id) ?? []).map(({ v }) => orderOf(v))
        return [id, from.length === 0 ? orderOf(id) : from.reduce((sum, at) => sum + at, 0) / from.length]
      }),
    )
    const sorted = row.toSorted((a, b) => (above.get(a) ?? 0) - (above.get(b) ?? 0) || orderOf(a) - orderOf(b))
    for (let again = true, rounds = 0; again && rounds < row.length; rounds++) {
      again = false
      for (const { left, right } of constraints) {
        const [a, b] = [sorted.indexOf(left), sorted.indexOf(right)]
        if (a < 0 || b < 0 || a < b) continue
        sorted[a] = right
        sorted[b] = left
        again = true
      }
    }
    for (const [at, id] of sorted.entries()) (graph.node(id) as { order: number }).order = at
  }
}

/** Branches of a step follow the order of its edges, unless that contradicts another step's. */
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
      // dagre would lose nodes in a cycle.
      if (left !== undefined && !pathBetween(order, right, left)) order.push({ from: left, to: right })
    }
  }
  return order.map(({ from, to }) => ({ left: from, right: to }))
}
