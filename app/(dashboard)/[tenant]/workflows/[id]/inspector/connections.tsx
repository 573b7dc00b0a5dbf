'use client'
import { ActionIcon, Text, Tooltip } from '@mantine/core'
import { Link2, Plus, X } from 'lucide-react'
import { backEdges, boundOf } from '@/server/definition/loops'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { ScreenActions } from '../actions/use-editor-actions'
import { edgeAt, START, stepLabel } from '../model/definition'
import { type ShownExit, shownExitsOf } from '../model/exit-row'
import { boundText } from '../model/outline'
import styles from './inspector.module.css'

interface Props {
  definition: Definition
  catalog: Catalog
  stepId: string
  actions: ScreenActions
  readOnly: boolean
}

/** The targets of a step's exits, and the actions on them. */
export function Connections(props: Props) {
  const { definition, catalog, stepId } = props
  const exits = shownExitsOf(definition, catalog, stepId)
  const [ways, failures] = [exits.filter((exit) => !isQuiet(exit)), exits.filter(isQuiet)]
  const before = definition.edges.filter((edge) => edge.to === stepId).map((edge) => stepLabel(definition, edge.from))
  if (definition.initialStep === stepId) before.unshift('START')
  return (
    <section className={styles.section} id="step-field-edges" aria-label="Connections">
      <h3 className={styles.heading}>Connections</h3>
      {ways.length > 1 && (
        <Text size="xs" c="dimmed" mb="xs">
          The step’s exits, and where a run continues from each.
        </Text>
      )}
      <ul className={styles.list}>
        {ways.map((exit) => (
          <Connection key={exit.id} {...props} exit={exit} />
        ))}
      </ul>
      {failures.length > 0 && (
        <details className={styles.failures}>
          <summary>If it fails</summary>
          <ul className={styles.list}>
            {failures.map((exit) => (
              <Connection key={exit.id} {...props} exit={exit} />
            ))}
          </ul>
        </details>
      )}
      {exits.length === 0 && (
        <Text size="sm" c="dimmed" mb="xs">
          This step ends the run.
        </Text>
      )}
      {stepId !== START && (
        <Text size="xs" c="dimmed" mb="xs">
          {before.length === 0 ? 'No step leads here.' : `Comes after ${[...new Set(before)].join(', ')}.`}
        </Text>
      )}
    </section>
  )
}

/** A failure exit without a connection gets no line. */
function isQuiet({ tier, used }: ShownExit): boolean {
  return tier === 'failure' && !used
}

function Connection({ definition, catalog, stepId, actions, readOnly, exit }: Props & { exit: ShownExit }) {
  const edge = edgeAt(definition, stepId, exit.id)
  const to = stepId === START ? definition.initialStep : (edge?.to ?? null)
  const back = edge !== undefined && backEdges(definition).has(edge)
  const bound = edge && back ? boundOf(definition, edge) : null
  const target = to === null ? elsewhere(exit, shownExitsOf(definition, catalog, stepId)) : stepLabel(definition, to)
  const tool = (label: string, icon: React.ReactNode, onClick: () => void, className = '') => (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        className={className}
        aria-label={`${label} (${exit.label})`}
        onClick={onClick}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  )
  return (
    <li className={styles.connection}>
      <span className={styles.exit}>{exit.label} →</span>
      <span className={styles.to}>
        {back ? `back to ${target}` : target}
        {bound !== null && <span className={styles.exit}> {boundText(bound)}</span>}
      </span>
      {!readOnly && (
        <span className={styles.tools}>
          {tool('Connect to…', <Link2 size={16} aria-hidden />, () => actions.openConnect(stepId, exit.id))}
          {exit.tier !== 'stray' &&
            tool('Add step here', <Plus size={16} aria-hidden />, () =>
              actions.addAt({ after: stepId, exit: exit.id }),
            )}
          {to !== null &&
            stepId !== START &&
            tool(
              `Remove the connection to ${stepLabel(definition, to)}`,
              <X size={16} aria-hidden />,
              () => actions.disconnect(stepId, exit.id),
              styles.remove,
            )}
        </span>
      )}
    </li>
  )
}

/** How a run continues at an exit without an edge. */
function elsewhere({ tier }: ShownExit, exits: readonly ShownExit[]): string {
  if (tier === 'failure') return 'the run fails'
  const rest = exits.find((exit) => exit.tier === 'rest')
  return rest && tier === 'way' ? `same as ${rest.label}` : 'END'
}
