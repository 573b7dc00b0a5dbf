'use client'
import { Stack } from '@mantine/core'
import { Dialog } from '@/app/_ui/dialog'
import { exitOf } from '@/server/definition/exits'
import type { Definition, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { connectionTargets } from '../model/connect'
import { entryOf, exitLabel, exitsOf, nameOf, stepLabel } from '../model/definition'
import { StepIcon } from '../parts/step-icon'
import { ExitPicker } from './exit-picker'
import { SearchList } from './search-list'
import styles from './search-list.module.css'

export interface ConnectDialogProps {
  definition: Definition
  catalog: Catalog
  from: string
  exit: string
  onExit: (exit: string) => void
  onConnect: (to: string) => void
  onRefused: (reason: string) => void
  onClose: () => void
}

/** "Connect to…": connects steps without a pointer. Steps that cannot be connected show the reason. */
export function ConnectDialog(props: ConnectDialogProps) {
  const { definition, catalog, from, exit, onExit, onConnect, onRefused, onClose } = props
  const targets = connectionTargets(definition, catalog, from, exit)
  const order = [
    ...targets.filter(({ connection }) => connection.ok),
    ...targets.filter(({ connection }) => !connection.ok),
  ]
  return (
    <Dialog top onClose={onClose} title={`Connect “${stepLabel(definition, from)}” to…`}>
      <Stack gap="sm">
        <ExitPicker definition={definition} catalog={catalog} stepId={from} exit={exit} onExit={onExit} />
        <SearchList
          label="Step to connect to"
          items={order.map(({ step, connection }) => ({
            id: step.id,
            text: `${nameOf(step)} ${step.id}`,
            body: <StepLine step={step} catalog={catalog} />,
            refused: connection.ok ? null : connection.reason,
          }))}
          onChoose={onConnect}
          onRefused={onRefused}
          empty="No other step matches."
        />
      </Stack>
    </Dialog>
  )
}

export interface DisconnectDialogProps {
  definition: Definition
  catalog: Catalog
  from: string
  onDisconnect: (exit: string) => void
  onClose: () => void
}

/** Chooses which of a step's connections to remove. */
export function DisconnectDialog(props: DisconnectDialogProps) {
  const { definition, catalog, from, onDisconnect, onClose } = props
  const exits = exitsOf(definition, catalog, from)
  const edges = definition.edges.filter((edge) => edge.from === from)
  return (
    <Dialog top onClose={onClose} title={`Remove a connection from “${stepLabel(definition, from)}”`}>
      <SearchList
        label="Connection to remove"
        items={edges.map((edge) => {
          const text = `${exitLabel(exits, exitOf(edge))} → ${stepLabel(definition, edge.to)}`
          return { id: exitOf(edge), text, body: text }
        })}
        onChoose={onDisconnect}
        onRefused={() => undefined}
        empty="No connection matches."
      />
    </Dialog>
  )
}

export interface FindDialogProps {
  definition: Definition
  catalog: Catalog
  onFind: (stepId: string) => void
  onClose: () => void
}

/** Finds a step by name, id or type. */
export function FindDialog(props: FindDialogProps) {
  const { definition, catalog, onFind, onClose } = props
  return (
    <Dialog top onClose={onClose} title="Find a step">
      <SearchList
        label="Step to find"
        items={definition.steps.map((step) => ({
          id: step.id,
          text: `${nameOf(step)} ${step.id} ${entryOf(catalog, step.type)?.title ?? step.type}`,
          body: <StepLine step={step} catalog={catalog} />,
        }))}
        onChoose={onFind}
        onRefused={() => undefined}
        empty="No step matches."
      />
    </Dialog>
  )
}

function StepLine({ step, catalog }: { step: Step; catalog: Catalog }) {
  const entry = entryOf(catalog, step.type)
  return (
    <span className={styles.line}>
      <StepIcon name={entry?.icon ?? 'box'} />
      <span>{nameOf(step)}</span>
      <span className={styles.type}>{entry?.title ?? step.type}</span>
    </span>
  )
}
