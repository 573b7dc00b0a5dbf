'use client'
import { ActionIcon, Button, Group, Text } from '@mantine/core'
import { Link2, Plus, X } from 'lucide-react'
import { exitOf, mainExit } from '@/server/definition/exits'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { ScreenActions } from '../actions/use-editor-actions'
import { edgeAt, exitLabel, exitsOf, START, stepLabel } from '../model/definition'
import styles from './inspector.module.css'

/** A step's connections, and the actions on them. */
export function Connections(props: {
  definition: Definition
  catalog: Catalog
  stepId: string
  actions: ScreenActions
  readOnly: boolean
}) {
  const { definition, catalog, stepId, actions, readOnly } = props
  const exits = exitsOf(definition, catalog, stepId)
  // An edited or pasted definition may use exits that the type does not have.
  const drawn = definition.edges.filter((edge) => edge.from === stepId).map(exitOf)
  const all = [...new Set([...exits.map(({ id }) => id), ...drawn])]
  const before = definition.edges.filter((edge) => edge.to === stepId).map((edge) => stepLabel(definition, edge.from))
  if (definition.initialStep === stepId) before.unshift('START')
  return (
    <section className={styles.section} id="step-field-edges" aria-label="Connections">
      <h3 className={styles.heading}>Connections</h3>
      <ul className={styles.list}>
        {all.map((exit) => {
          const to = stepId === START ? definition.initialStep : (edgeAt(definition, stepId, exit)?.to ?? null)
          const name = exitLabel(exits, exit)
          return (
            <li key={exit} className={styles.connection}>
              <span className={styles.exit}>{name} →</span>
              <span className={styles.to}>{to === null ? 'END' : stepLabel(definition, to)}</span>
              {!readOnly && to !== null && stepId !== START && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Remove the connection to ${stepLabel(definition, to)}`}
                  onClick={() => actions.disconnect(stepId, exit)}
                >
                  <X size={16} aria-hidden />
                </ActionIcon>
              )}
            </li>
          )
        })}
      </ul>
      {all.length === 0 && (
        <Text size="sm" c="dimmed" mb="xs">
          This step ends the run.
        </Text>
      )}
      {stepId !== START && (
        <Text size="xs" c="dimmed" mb="xs">
          {before.length === 0 ? 'No step leads here.' : `Comes after ${before.join(', ')}.`}
        </Text>
      )}
      {!readOnly && exits.length > 0 && (
        <Group gap="xs">
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<Link2 size={14} aria-hidden />}
            onClick={() => actions.openConnect(stepId, mainExit(exits))}
          >
            Connect to…
          </Button>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => actions.addAt({ after: stepId, exit: mainExit(exits) ?? 'next' })}
          >
            Add step after
          </Button>
        </Group>
      )}
    </section>
  )
}
