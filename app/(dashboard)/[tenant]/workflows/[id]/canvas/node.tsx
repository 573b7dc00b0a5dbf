'use client'
import { Handle, type Node, type NodeProps, Position, useUpdateNodeInternals } from '@xyflow/react'
import { Flag, Play } from 'lucide-react'
import { memo, useContext, useEffect, useMemo, useRef } from 'react'
import { START } from '../model/definition'
import { handleAt, NODE_HEIGHT, type ShownExit, sizeOf } from '../model/exit-row'
import { MarkSign } from '../parts/mark-sign'
import { ExitHandle } from './exit-handle'
import styles from './node.module.css'
import { StepCard, type StepShows } from './step-card'
import card from './step-card.module.css'

const ONLY: ShownExit = { id: 'next', label: 'Next', tier: 'only', used: true }

/** Primitive values only, so that a node renders again only when something it shows changed. */
export type StepNodeData = {
  name: string
  type: string
  icon: string
  group: string
  /** The exits, as JSON: a list of `ShownExit`. */
  exits: string
  /** While a connection is drawn: whether it can end here. */
  target: 'yes' | 'no' | ''
  connectable: boolean
  /** How often a run took each exit, as JSON: a list of pairs. */
  taken?: string
} & StepShows
export type StartNodeData = { fields: string; connectable: boolean } & Pick<StepShows, 'mark' | 'note'>
export type EndNodeData = { [key: string]: never }

export type StepFlowNode = Node<StepNodeData, 'step'>
export type StartFlowNode = Node<StartNodeData, 'start'>
export type EndFlowNode = Node<EndNodeData, 'end'>
export type FlowNode = StepFlowNode | StartFlowNode | EndFlowNode

function sameProps<P extends { data: object; selected?: boolean; dragging?: boolean }>(a: P, b: P): boolean {
  if (a.selected !== b.selected || a.dragging !== b.dragging) return false
  if (a.data === b.data) return true
  const [before, after] = [a.data as Record<string, unknown>, b.data as Record<string, unknown>]
  return Object.keys({ ...before, ...after }).every((key) => before[key] === after[key])
}

/** A step's card: type, name, problems, and its exits below. */
export const StepNode = memo(function StepNode({ id, data, selected }: NodeProps<StepFlowNode>) {
  const { name, type, icon, group, exits: _exits, target, connectable, taken = '[]', ...shows } = data
  const exits = useMemo(() => JSON.parse(data.exits) as ShownExit[], [data.exits])
  const times = useMemo(() => new Map(JSON.parse(taken) as [string, number][]), [taken])
  const row = sizeOf(exits).height > NODE_HEIGHT
  const places = exits.map((exit) => `${exit.id} ${handleAt(exits, exit.id).x}`).join()
  const measured = useRef(places)
  const measure = useUpdateNodeInternals()
  // React Flow measures handles when a node's size changes, but a new or renamed exit need not change it.
  useEffect(() => {
    if (measured.current === places) return
    measured.current = places
    measure(id)
  }, [id, places, measure])
  return (
    <div
      className={`${styles.node} ${selected ? styles.selected : ''} ${target === 'no' ? styles.dim : ''} ${target === 'yes' ? styles.target : ''}`}
      data-group={group}
      data-row={row || undefined}
      data-mark={shows.mark}
      style={{ width: sizeOf(exits).width }}
    >
      <Handle type="target" position={Position.Top} className={styles.in ?? ''} isConnectable={connectable} />
      <StepCard name={name} type={type} icon={icon} {...shows} />
      {/* The line to END starts here; connections cannot. */}
      {exits.length === 0 && (
        <Handle
          id="next"
          type="source"
          position={Position.Bottom}
          className={styles.last ?? ''}
          isConnectable={false}
        />
      )}
      {exits.map((exit) => (
        <ExitHandle
          key={exit.id}
          stepId={id}
          exit={exit}
          exits={exits}
          connectable={connectable}
          times={times.get(exit.id) ?? 0}
        />
      ))}
    </div>
  )
}, sameProps)

export const StartNode = memo(function StartNode({ data, selected }: NodeProps<StartFlowNode>) {
  const Sign = useContext(MarkSign)
  return (
    <div
      className={`${styles.node} ${styles.start} ${selected ? styles.selected : ''}`}
      data-group="start"
      data-mark={data.mark}
    >
      <div className={card.card}>
        <span className={card.icon}>
          <Play size={18} strokeWidth={1.75} aria-hidden />
        </span>
        <span className={card.words}>
          <span className={card.name}>START</span>
          <span className={card.type}>{data.fields === '' ? 'no fields' : data.fields}</span>
          {data.mark !== undefined && (
            <span className={card.told}>
              {Sign && <Sign mark={data.mark} />}
              <span className={card.note}>{data.note}</span>
            </span>
          )}
        </span>
      </div>
      <ExitHandle stepId={START} exit={ONLY} exits={[ONLY]} connectable={data.connectable} />
    </div>
  )
}, sameProps)

export const EndNode = memo(function EndNode(_props: NodeProps<EndFlowNode>) {
  return (
    <div className={styles.end}>
      <Handle type="target" position={Position.Top} className={styles.in ?? ''} isConnectable={false} />
      <Flag size={14} aria-hidden /> END
    </div>
  )
})
