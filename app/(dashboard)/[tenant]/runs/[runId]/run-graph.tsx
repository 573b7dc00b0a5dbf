'use client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Background, Controls, type Edge, Handle, type Node, type NodeProps, Position, ReactFlow } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { StatusPill } from '@/app/_ui/status-pill'
import { durationText } from '@/app/_ui/time-text'
import type { Definition } from '@/server/definition/schema'
import type { Layout } from '../../workflows/[id]/model/definition'
import { NODE_HEIGHT, NODE_WIDTH } from '../../workflows/[id]/model/layout-request'
import { tidyLayout } from '../../workflows/[id]/model/tidy-layout'
import styles from './run-graph.module.css'
import { stateOf, type Visit } from './timeline-model'

type StepNode = Node<{ name: string; type: string; visit: Visit | null; visits: number; selected: boolean }, 'step'>

const NODE_TYPES = { step: StepBox }

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
  const layout = useQuery({
    queryKey: ['run-graph', runId],
    queryFn: async (): Promise<Layout> => (definition ? tidyLayout(definition) : {}),
    enabled: definition !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const latest = useMemo(() => latestVisits(visits), [visits])
  const nodes = useMemo<StepNode[]>(
    () =>
      (definition?.steps ?? []).map((step) => {
        const { visit = null, count = 0 } = latest.get(step.id) ?? {}
        return {
          id: step.id,
          type: 'step',
          position: layout.data?.[step.id] ?? { x: 0, y: 0 },
          width: NODE_WIDTH,
          height: NODE_HEIGHT,
          draggable: false,
          connectable: false,
          focusable: visit !== null,
          ariaLabel: `${nameOf(step)}, ${visit ? stateOf(visit) : 'not reached'}`,
          data: { name: nameOf(step), type: step.type, visit, visits: count, selected: visit?.key === selected },
        }
      }),
    [definition, layout.data, latest, selected],
  )
  const edges = useMemo<Edge[]>(
    () =>
      (definition?.edges ?? []).map(({ from, to }, index) => ({
        id: `${index}`,
        source: from,
        target: to,
        focusable: false,
        className: (latest.has(from) && latest.has(to) ? styles.taken : styles.edge) ?? '',
      })),
    [definition, latest],
  )
  if (pinned.error) return <ErrorState error={pinned.error} onRetry={() => pinned.refetch()} />
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
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  )
}

function StepBox({ data: { name, type, visit, visits, selected } }: NodeProps<StepNode>) {
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
      <Handle type="source" position={Position.Bottom} className={styles.handle ?? ''} />
    </div>
  )
}

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
