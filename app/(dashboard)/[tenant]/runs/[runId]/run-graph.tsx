'use client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Background, Controls, Handle, MarkerType, type Node, type NodeProps, Position, ReactFlow } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { StatusPill } from '@/app/_ui/status-pill'
import { durationText } from '@/app/_ui/time-text'
import { beginsBranch, fixedExits } from '@/server/definition/exits'
import type { Definition } from '@/server/definition/schema'
import { BodyHulls } from '../../workflows/[id]/canvas/body-hulls'
import { END, graphEdges, graphExits, lanesIn } from '../../workflows/[id]/canvas/graph'
import { bodiesOf } from '../../workflows/[id]/canvas/hulls'
import { entryOf, type Layout, START } from '../../workflows/[id]/model/definition'
import { handleAt, type ShownExit, sizeOf } from '../../workflows/[id]/model/exit-row'
import { tidyLayout } from '../../workflows/[id]/model/tidy-layout'
import { RunEdge, type RunFlowEdge } from './run-edge'
import styles from './run-graph.module.css'
import { exitsTaken, stateOf, type Visit } from './timeline-model'

type StepNode = Node<
  {
    name: string
    type: string
    visit: Visit | null
    visits: number
    selected: boolean
    exits: readonly ShownExit[]
    /** How often each exit was taken. */
    taken: ReadonlyMap<string, number>
  },
  'step'
>

/** The left border, from which the node's parts are placed. */
const BORDER = 4

const NODE_TYPES = { step: StepBox }
const EDGE_TYPES = { run: RunEdge }

/** The graph of the run's version, with the result of each step. Read-only. */
export function RunGraph({
  runId,
  visits,
  selected,
  onSelect,
}: {
  runId: string
  visits: Visit[]
  selected: string | null
  onSelect: (key: string) => void
}) {
  const trpc = useTRPC()
  const pinned = useQuery({
    ...trpc.runs.definition.queryOptions({ runId }),
    // A version never changes.
    staleTime: Number.POSITIVE_INFINITY,
  })
  const definition = pinned.data as Definition | undefined
  const catalog = useQuery({ ...trpc.steps.catalog.queryOptions(), staleTime: Number.POSITIVE_INFINITY })
  const layout = useQuery({
    queryKey: ['run-graph', runId],
    queryFn: async (): Promise<Layout> => (definition ? tidyLayout(definition, catalog.data) : {}),
    enabled: definition !== undefined && catalog.data !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const exits = useMemo(
    () => (definition && catalog.data ? graphExits(definition, catalog.data) : new Map<string, ShownExit[]>()),
    [definition, catalog.data],
  )
  const bodies = useMemo(
    () => (definition && catalog.data ? bodiesOf(definition, catalog.data) : []),
    [definition, catalog.data],
  )
  const taken = useMemo(() => {
    const counts = exitsTaken(visits)
    if (!definition || !catalog.data) return counts
    const known = catalog.data
    const specOf = new Map(definition.steps.map(({ id, type }) => [id, entryOf(known, type)?.exits]))
    // A fork takes the exits of its branches; those of a list share one.
    for (const { stepId, fork } of visits) {
      const spec = specOf.get(stepId)
      if (!fork || !spec) continue
      const ended = fork.succeeded + fork.failed
      for (const { id } of exits.get(stepId) ?? []) {
        if (!beginsBranch(spec, id)) continue
        const times = fixedExits(spec).includes(id) ? Math.max(ended, Math.min(1, fork.total)) : 1
        const of = counts.get(stepId) ?? new Map<string, number>()
        counts.set(stepId, of.set(id, (of.get(id) ?? 0) + times))
      }
    }
    return counts
  }, [visits, definition, catalog.data, exits])
  const latest = useMemo(() => latestVisits(visits), [visits])
  const nodes = useMemo<StepNode[]>(
    () =>
      (definition?.steps ?? []).map((step) => {
        const { visit = null, count = 0 } = latest.get(step.id) ?? {}
        return {
          id: step.id,
          type: 'step',
          position: layout.data?.[step.id] ?? { x: 0, y: 0 },
          ...sizeOf(exits.get(step.id) ?? []),
          draggable: false,
          connectable: false,
          focusable: visit !== null,
          ariaLabel: `${nameOf(step)}, ${visit ? stateOf(visit) : 'not reached'}`,
          data: {
            name: nameOf(step),
            type: step.type,
            visit,
            visits: count,
            selected: visit?.key === selected,
            exits: exits.get(step.id) ?? [],
            taken: taken.get(step.id) ?? NONE,
          },
        }
      }),
    [definition, layout.data, latest, selected, exits, taken],
  )
  const edges = useMemo<RunFlowEdge[]>(() => {
    if (!definition || !catalog.data || !layout.data) return []
    const drawn = graphEdges(definition, catalog.data, exits).filter(({ from, to }) => from !== START && to !== END)
    const lanes = lanesIn(drawn, exits, layout.data, { x: 0, y: 0 })
    return drawn.map(({ id, from, exit, to, label, kind, failure }) => {
      const times = taken.get(from)?.get(exit) ?? 0
      return {
        id,
        type: 'run',
        source: from,
        sourceHandle: exit,
        target: to,
        focusable: false,
        zIndex: times > 0 ? 1 : 0,
        markerEnd: {
          type: MarkerType.ArrowClosed,
          color: times > 0 ? 'var(--status-completed)' : 'var(--line-strong)',
        },
        data: { label: failure ? label : '', back: kind === 'back', lane: lanes.get(id), times },
      }
    })
  }, [definition, catalog.data, layout.data, exits, taken])
  const failed = pinned.error ? pinned : catalog.error ? catalog : null
  if (failed) return <ErrorState error={failed.error} onRetry={() => failed.refetch()} />
  if (!layout.data) return <Skeleton height={480} radius="md" />
  const open = (id: string) => {
    const visit = latest.get(id)?.visit
    if (visit) onSelect(visit.key)
  }
  return (
    <section className={styles.graph} aria-label="Graph of the run">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        deleteKeyCode={null}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
        minZoom={0.1}
        onNodeClick={(_event, node) => open(node.id)}
        onKeyDown={(event) => {
          const id = (event.target as HTMLElement).closest('.react-flow__node')?.getAttribute('data-id')
          if (id && (event.key === 'Enter' || event.key === ' ')) open(id)
        }}
        proOptions={{ hideAttribution: true }}
      >
        <Background gap={24} />
        <BodyHulls bodies={bodies} nodes={nodes} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  )
}

function StepBox({ data }: NodeProps<StepNode>) {
  const { name, type, visit, visits, selected, exits, taken } = data
  const row = exits.filter(({ tier }) => tier === 'way' || tier === 'rest' || tier === 'stray')
  return (
    <div className={styles.node} data-state={visit ? stateOf(visit) : 'none'} data-selected={selected || undefined}>
      <Handle type="target" position={Position.Top} className={styles.handle ?? ''} />
      <span className={styles.name}>{name}</span>
      <span className={styles.meta}>
        {visit ? <StatusPill status={stateOf(visit)} /> : <span className={styles.quiet}>Not reached</span>}
        <span className={styles.quiet}>
          {visit && visit.end !== null ? durationText(visit.end - visit.start) : type}
          {visits > 1 && ` · ${visits} visits`}
        </span>
      </span>
      {row.length > 0 && (
        <span className={styles.exits}>
          {row.map(({ id, label, tier }) => {
            const { x, width } = handleAt(exits, id)
            const times = taken.get(id) ?? 0
            return (
              <span
                key={id}
                className={styles.exit}
                data-taken={times > 0 || undefined}
                style={{ left: x - width / 2 - BORDER, width }}
                title={label}
              >
                {tier === 'rest' && times === 0 ? '' : label}
                {times > 1 && ` ×${times}`}
              </span>
            )
          })}
        </span>
      )}
      {exits.map(({ id, tier }) => (
        <Handle
          key={id}
          id={id}
          type="source"
          position={tier === 'failure' ? Position.Right : Position.Bottom}
          className={styles.handle ?? ''}
          style={tier === 'failure' ? { top: handleAt(exits, id).y } : { left: handleAt(exits, id).x - BORDER }}
        />
      ))}
    </div>
  )
}

const NONE: ReadonlyMap<string, number> = new Map()

function nameOf(step: Definition['steps'][number]): string {
  return typeof step.name === 'string' && step.name !== '' ? step.name : step.id
}

/** The latest visit of each step, which is the most informative one. */
function latestVisits(visits: Visit[]): Map<string, { visit: Visit; count: number }> {
  const latest = new Map<string, { visit: Visit; count: number }>()
  for (const visit of visits) {
    latest.set(visit.stepId, { visit, count: (latest.get(visit.stepId)?.count ?? 0) + 1 })
  }
  return latest
}
