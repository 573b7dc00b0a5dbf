'use client'
import { SegmentedControl, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Background, Controls, Handle, MarkerType, type Node, type NodeProps, Position, ReactFlow } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import type { Definition } from '@/server/definition/schema'
import { RunEdge, type RunFlowEdge } from '../runs/[runId]/run-edge'
import { END, graphEdges, graphExits, lanesIn } from '../workflows/[id]/canvas/graph'
import { type Layout, nameOf, START } from '../workflows/[id]/model/definition'
import { handleAt, type ShownExit, sizeOf } from '../workflows/[id]/model/exit-row'
import { tidyLayout } from '../workflows/[id]/model/tidy-layout'
import { HEATS, type Heat, heatOf } from './heat'
import styles from './insights.module.css'
import { Card } from './parts'

type StepNode = Node<{ name: string; text: string; share: number; heat: Heat; exits: readonly ShownExit[] }, 'step'>

const NODE_TYPES = { step: HeatNode }
const EDGE_TYPES = { run: RunEdge }

/** The workflow's graph, each step in the colour of what it costs in time, people's waiting, failures or tokens. */
export function HeatGraph({ workflowId }: { workflowId: string }) {
  const trpc = useTRPC()
  const [heat, setHeat] = useState<Heat>('time')
  const figures = useQuery({ ...trpc.insights.steps.queryOptions({ id: workflowId }), staleTime: 60_000 })
  const version = figures.data?.version ?? null
  const pinned = useQuery({
    ...trpc.workflows.version.queryOptions({ id: workflowId, version: String(version) }),
    enabled: version !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const catalog = useQuery({ ...trpc.steps.catalog.queryOptions(), staleTime: Number.POSITIVE_INFINITY })
  // The transport's types cannot express "any JSON".
  const definition = pinned.data as unknown as Definition | undefined
  const layout = useQuery({
    queryKey: ['heat-graph', workflowId, version],
    queryFn: async (): Promise<Layout> => (definition ? tidyLayout(definition, catalog.data) : {}),
    enabled: definition !== undefined && catalog.data !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const exits = useMemo(
    () => (definition && catalog.data ? graphExits(definition, catalog.data) : new Map<string, ShownExit[]>()),
    [definition, catalog.data],
  )
  const nodes = useMemo<StepNode[]>(() => {
    const steps = figures.data?.steps ?? []
    return (definition?.steps ?? []).map((step) => {
      const { share, text } = heatOf(
        heat,
        steps.find(({ stepId }) => stepId === step.id),
        steps,
      )
      return {
        id: step.id,
        type: 'step',
        position: layout.data?.[step.id] ?? { x: 0, y: 0 },
        ...sizeOf(exits.get(step.id) ?? []),
        draggable: false,
        connectable: false,
        selectable: false,
        focusable: false,
        ariaLabel: `${nameOf(step)}: ${text}`,
        data: { name: nameOf(step), text, share, heat, exits: exits.get(step.id) ?? [] },
      }
    })
  }, [definition, figures.data, layout.data, exits, heat])
  const edges = useMemo<RunFlowEdge[]>(() => {
    if (!definition || !catalog.data || !layout.data) return []
    const drawn = graphEdges(definition, catalog.data, exits).filter(({ from, to }) => from !== START && to !== END)
    const lanes = lanesIn(drawn, exits, layout.data, { x: 0, y: 0 })
    return drawn.map(({ id, from, exit, to, label, kind }) => ({
      id,
      type: 'run',
      source: from,
      sourceHandle: exit,
      target: to,
      focusable: false,
      markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--line-strong)' },
      data: { label, back: kind === 'back', lane: lanes.get(id), times: 0 },
    }))
  }, [definition, catalog.data, layout.data, exits])

  const failed = [figures, pinned, catalog].find(({ error }) => error !== null)
  if (failed) return <ErrorState error={failed.error} onRetry={() => failed.refetch()} />
  if (figures.data?.version === null) return null
  return (
    <Card
      title="Step by step"
      actions={
        <SegmentedControl
          aria-label="What the colour shows"
          size="xs"
          data={[...HEATS]}
          value={heat}
          onChange={(next) => setHeat(next as Heat)}
        />
      }
    >
      {figures.data && (
        <p className={styles.note}>
          {figures.data.runs === 1 ? 'The newest run' : `The newest ${figures.data.runs} runs`} of version {version}.
        </p>
      )}
      {layout.data && figures.data ? (
        <section className={styles.heat} aria-label="Graph with the figures of each step">
          <ReactFlow
            nodes={nodes}
            edges={edges}
            nodeTypes={NODE_TYPES}
            edgeTypes={EDGE_TYPES}
            nodesDraggable={false}
            nodesConnectable={false}
            nodesFocusable={false}
            edgesFocusable={false}
            deleteKeyCode={null}
            preventScrolling={false}
            fitView
            fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
            minZoom={0.1}
            proOptions={{ hideAttribution: true }}
          >
            <Background gap={24} />
            <Controls showInteractive={false} />
          </ReactFlow>
        </section>
      ) : (
        <Skeleton height={420} radius="md" />
      )}
    </Card>
  )
}

const COLOURS: Record<Heat, string> = {
  time: 'var(--status-paused)',
  waiting: 'var(--status-paused)',
  failures: 'var(--status-failed)',
  tokens: 'var(--mantine-color-anchor)',
}

function HeatNode({ data }: NodeProps<StepNode>) {
  const { name, text, share, heat, exits } = data
  return (
    <div className={styles.node} style={{ '--heat': COLOURS[heat], '--share': share } as React.CSSProperties}>
      <Handle type="target" position={Position.Top} className={styles.handle ?? ''} />
      <span className={styles.nodeName}>{name}</span>
      <span className={styles.nodeMeta}>{text}</span>
      {exits.map(({ id, tier }) => (
        <Handle
          key={id}
          id={id}
          type="source"
          position={tier === 'failure' ? Position.Right : Position.Bottom}
          className={styles.handle ?? ''}
          style={tier === 'failure' ? { top: handleAt(exits, id).y } : { left: handleAt(exits, id).x }}
        />
      ))}
    </div>
  )
}
