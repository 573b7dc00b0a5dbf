import type { JsonObject } from '@/server/definition/json'
import { definitionOf } from '../graphs/generate'
import { type Graph, walkGraph } from '../graphs/reference'
import { ACCEPTING, REFUSING } from './effects'

/** The input of every simulated run. */
export const INPUT = { a: 1, b: 1, c: 1 }

const WORTH = ['effect', 'ask', 'decide', 'pass', 'parallel', 'each']

/** Whether its run stops a few times on its way, so that events can reach it. */
export function isWorthIt(graph: Graph): boolean {
  const visits = Object.values(walkGraph(graph, INPUT).visits).flat()
  const kinds = visits.map(
    (visit) => graph.nodes.find(({ id }) => id === visit.slice(0, visit.indexOf('#')))?.kind ?? '',
  )
  return visits.length <= 40 && kinds.filter((kind) => WORTH.includes(kind)).length >= 3 && kinds.includes('effect')
}

/** Whether its run waits on its way, so that it can be moved. */
export function waitsIn(graph: Graph): boolean {
  const waits = graph.nodes.filter(({ kind }) => ['ask', 'decide', 'pass'].includes(kind)).map(({ id }) => id)
  const visits = Object.values(walkGraph(graph, INPUT).visits).flat()
  return visits.some((visit) => waits.includes(visit.slice(0, visit.indexOf('#'))))
}

/** A graph's definition, with effects the outside world sees; with `cleanup`, another one after a cancel. */
export function definitionFor(graph: Graph, cleanup: boolean) {
  const { steps, ...rest } = definitionOf(graph, REFUSING)
  const undo: JsonObject = { id: 'undo', type: 'test-effect', body: { undone: 1 } }
  return {
    ...rest,
    steps: [...(steps as JsonObject[]), ...(cleanup ? [undo] : [])].map((step) =>
      step.type === 'test-effect' ? { url: ACCEPTING, ...step } : step,
    ),
    ...(cleanup ? { onCancel: 'undo' } : {}),
  }
}
