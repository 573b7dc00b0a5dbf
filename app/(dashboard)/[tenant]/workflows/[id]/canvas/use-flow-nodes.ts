'use client'
import { MarkerType } from '@xyflow/react'
import { useMemo, useRef } from 'react'
import { own } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { StepProblems } from '../draft/use-problems'
import { entryOf, type Layout, nameOf, type Position, START } from '../model/definition'
import { NODE_HEIGHT, NODE_WIDTH, type ShownExit, sizeOf } from '../model/exit-row'
import { boundText } from '../model/outline'
import { type TestedSteps, testedNote, testedText } from '../parts/tested'
import type { StepFlowEdge } from './edge'
import { END, END_HEIGHT, END_WIDTH, type GraphEdge } from './graph'
import type { Lane } from './lines'
import type { FlowNode } from './node'

export interface FlowInput {
  definition: Definition
  catalog: Catalog
  edges: readonly GraphEdge[]
  exits: ReadonlyMap<string, readonly ShownExit[]>
  layout: Layout
  /** The position of END. */
  end: Position
  /** Positions of the nodes being dragged. */
  dragged: Layout
  selection: readonly string[]
  /** The node that gets the Tab focus. */
  current: string
  problems: StepProblems
  tested: TestedSteps | null
  /** While a connection is drawn: the nodes it can end at. */
  targets: ReadonlySet<string> | null
  readOnly: boolean
}

/** The nodes of the canvas. An unchanged node stays the same object, so that it is not rendered again. */
export function useFlowNodes(input: FlowInput): FlowNode[] {
  const cache = useRef(new Map<string, FlowNode>())
  const {
    definition,
    catalog,
    edges,
    exits,
    layout,
    end,
    dragged,
    selection,
    current,
    problems,
    tested,
    targets,
    readOnly,
  } = input
  const nextSteps = useMemo(() => describeNextSteps(definition, edges), [definition, edges])
  const placed = useMemo(() => {
    const chosen = new Set(selection)
    const nodes: FlowNode[] = []
    const add = (node: FlowNode) => {
      const known = cache.current.get(node.id)
      const kept = known && sameNode(known, node) ? known : node
      cache.current.set(node.id, kept)
      nodes.push(kept)
    }
    const common = (id: string, width: number, height: number) => ({
      id,
      width,
      height,
      measured: { width, height },
      selected: chosen.has(id),
      focusable: false,
      ariaRole: 'group' as const,
    })
    const fields = Object.keys(definition.payload).join(', ')
    add({
      ...common(START, NODE_WIDTH, NODE_HEIGHT),
      type: 'start',
      position: layout[START] ?? { x: 0, y: 0 },
      data: { fields, connectable: !readOnly },
      draggable: !readOnly,
      ariaLabel: `START, ${fields === '' ? 'no fields' : `fields: ${fields}`}${nextSteps(START)}`,
      domAttributes: { tabIndex: current === START ? 0 : -1, 'aria-roledescription': 'start of the workflow' },
    })
    for (const [index, step] of definition.steps.entries()) {
      const entry = entryOf(catalog, step.type)
      const shown = exits.get(step.id) ?? []
      const size = sizeOf(shown)
      const { errors = 0, warnings = 0 } = problems.get(step.id) ?? {}
      const title = entry?.title ?? step.type
      const problemCount = errors + warnings
      const test = tested?.get(step.id)
      add({
        ...common(step.id, size.width, size.height),
        type: 'step',
        position: layout[step.id] ?? { x: 0, y: 0 },
        data: {
          name: nameOf(step),
          type: title,
          icon: entry?.icon ?? 'box',
          group: entry?.group ?? 'flow',
          errors,
          warnings,
          exits: JSON.stringify(shown),
          ...(tested ? { state: test?.state ?? 'none', note: test ? testedNote(test) : '' } : {}),
          output: test?.output ?? '',
          target: targets === null ? '' : targets.has(step.id) ? 'yes' : 'no',
          connectable: !readOnly,
        },
        draggable: !readOnly,
        ariaLabel: `${title}, ${nameOf(step)}, step ${index + 1} of ${definition.steps.length}${
          problemCount === 0 ? '' : `, ${problemCount} ${problemCount === 1 ? 'problem' : 'problems'}`
        }${test ? `, in the test run: ${testedText(test)}` : ''}${nextSteps(step.id)}`,
        domAttributes: { tabIndex: current === step.id ? 0 : -1, 'aria-roledescription': 'step' },
      })
    }
    if (definition.steps.length > 0)
      add({
        ...common(END, END_WIDTH, END_HEIGHT),
        type: 'end',
        position: end,
        data: {},
        draggable: false,
        selectable: false,
        ariaLabel: 'END',
        domAttributes: { tabIndex: current === END ? 0 : -1, 'aria-roledescription': 'end of the workflow' },
      })
    return nodes
  }, [definition, catalog, exits, layout, end, selection, current, problems, tested, targets, readOnly, nextSteps])
  // A drag changes only some positions.
  return useMemo(
    () =>
      placed.map((node) => {
        const position = own(dragged, node.id)
        return position ? { ...node, position } : node
      }),
    [placed, dragged],
  )
}

/** The targets of each exit, for screen readers: "next: manager ok". */
function describeNextSteps(definition: Definition, edges: readonly GraphEdge[]): (id: string) => string {
  const names = new Map(definition.steps.map((step) => [step.id, nameOf(step)]))
  const next = new Map<string, string[]>()
  for (const { from, to, label, kind, bound } of edges) {
    const name = to === END ? 'END' : (names.get(to) ?? to)
    const target = kind === 'back' ? `back to ${name}${bound === null ? '' : `, ${boundText(bound)}`}` : name
    next.set(from, [...(next.get(from) ?? []), label === '' ? `next: ${target}` : `${label}: ${target}`])
  }
  return (id) => (next.get(id) ?? ['no next step']).map((part) => `, ${part}`).join('')
}

function sameNode(a: FlowNode, b: FlowNode): boolean {
  return (
    samePosition(a.position, b.position) &&
    a.selected === b.selected &&
    a.ariaLabel === b.ariaLabel &&
    a.draggable === b.draggable &&
    a.width === b.width &&
    a.height === b.height &&
    a.domAttributes?.tabIndex === b.domAttributes?.tabIndex &&
    sameData(a.data, b.data)
  )
}

function sameData(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  return Object.keys({ ...a, ...b }).every((key) => a[key] === b[key])
}

/** Overrides the labels that React Flow sets. */
const SILENT = {
  'aria-hidden': true,
  'aria-roledescription': undefined,
  'aria-label': undefined,
} as unknown as NonNullable<StepFlowEdge['domAttributes']>

function samePosition(a: Position, b: Position): boolean {
  return a.x === b.x && a.y === b.y
}

export const ARROW = { type: MarkerType.ArrowClosed, width: 14, height: 14, strokeWidth: 1 }
const COLORS = { plain: 'var(--edge)', back: 'var(--mantine-color-anchor)', failure: 'var(--status-failed)' }

/** The edges of the canvas, each with its button's label. */
export function useFlowEdges(
  definition: Definition,
  edges: readonly GraphEdge[],
  lanes: ReadonlyMap<string, Lane>,
  readOnly: boolean,
): StepFlowEdge[] {
  return useMemo(() => {
    const names = new Map(definition.steps.map((step) => [step.id, nameOf(step)]))
    const labelOf = (id: string) => (id === START ? 'START' : id === END ? 'END' : (names.get(id) ?? id))
    return edges.map(({ id, from, exit, to, label, kind, failure, bound }) => ({
      id,
      type: 'step' as const,
      source: from,
      sourceHandle: exit,
      target: to,
      markerEnd: { ...ARROW, color: kind === 'back' ? COLORS.back : failure ? COLORS.failure : COLORS.plain },
      reconnectable: readOnly || to === END ? false : from === START ? ('target' as const) : true,
      data: {
        exit,
        label,
        kind,
        failure,
        bound: kind === 'back' ? (bound === null ? 'loop' : boundText(bound)) : '',
        lane: lanes.get(id),
        add:
          readOnly || kind === 'end'
            ? ''
            : `Add step between ${labelOf(from)}${label === '' ? '' : ` (${label})`} and ${labelOf(to)}`,
      },
      focusable: false,
      selectable: false,
      // Screen readers announce an edge as part of its step.
      ariaRole: 'presentation' as const,
      domAttributes: SILENT,
    }))
  }, [definition, edges, lanes, readOnly])
}
